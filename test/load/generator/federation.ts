/** The process of the identity providers' stand-ins and of the browsers that sign in by them, behind a proxy with TLS. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type * as StandInModule from '../../../sandbox/providers/index.ts';
import { Browser } from '../../support/browser.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { trustCertificate } from '../../support/http-client.ts';
import { formFieldsOf } from '../../support/provider-forms.ts';
import { type ReverseProxy, startReverseProxy } from '../../support/reverse-proxy.ts';
import { sendRequest } from '../../support/send-request.ts';
import { built } from '../built.ts';
import { serve } from '../rpc.ts';

const dayMs = 24 * 60 * 60_000;
const client = { id: 'bench-at-acme', secret: 'secret-of-the-bench' };

/** The ways to sign in: the provider of each, and the domain for which it vouches. */
const ways = {
  OpenID: { provider: 'acme-oidc', domain: 'acme.example' },
  SAML: { provider: 'acme-saml', domain: 'corp.acme.example' },
  'SAML encrypted': { provider: 'sealed', domain: 'sealed.acme.example' },
} as const;
export type Way = keyof typeof ways;

interface Upstream {
  proxy: ReverseProxy;
  standIns: StandInModule.ProviderStandIns;
  origin: string;
  encryptFor: string;
}

let upstream: Upstream | undefined;

/** Starts the stand-ins and the proxy, and writes the files of a Foyer that uses them. */
async function open({ folder }: { folder: string }): Promise<Record<string, string>> {
  const { companies, createProviderStandIns, makeCompanyKeys, writeCompanyKeys } =
    await built<typeof StandInModule>('sandbox/providers/index');
  const certificate = makeCertificate(['localhost'], Date.now() - dayMs, Date.now() + dayMs);
  trustCertificate(certificate);
  const proxy = await startReverseProxy(certificate);
  const server = createServer(certificate);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`;
  const keys = makeCompanyKeys(Date.now());
  writeCompanyKeys(folder, keys);
  const standIns = await createProviderStandIns({
    origin,
    clients: { google: client, facebook: client, amazon: client, oidc: client },
    now: Date.now,
    samlSigner: keys.acme,
    serviceProviderCertificate: keys.foyer.certificate,
    foyerUrl: () => undefined,
  });
  server.on('request', standIns.listener);
  const file = companies(origin, client, { folder: '.' });
  const saml = { ...file.providers[1], logoutUrl: undefined };
  const sealed = {
    ...saml,
    id: 'sealed',
    entityId: `${origin}/sealed`,
    domains: [ways['SAML encrypted'].domain],
    encryptedAssertions: true,
  };
  const path = join(folder, 'providers.json');
  writeFileSync(path, JSON.stringify({ ...file, providers: [file.providers[0], saml, sealed] }));
  writeFileSync(join(folder, 'authority.pem'), certificate.cert);
  upstream = { proxy, standIns, origin, encryptFor: keys.foyer.certificate };
  return { PUBLIC_URL: proxy.url, PROVIDERS_FILE: path, NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') };
}

function toFoyer({ port }: { port: number }): void {
  if (upstream) upstream.proxy.target = `http://127.0.0.1:${port}`;
}

const locationOf = (answer: Response) => {
  const location = answer.headers.get('location');
  if (location === null) throw new Error(`no redirect: ${answer.status}`);
  return new URL(location, answer.url).href;
};

/** The address to which the page of the button redirects by itself. */
async function pressButton(browser: Browser, provider: string): Promise<string> {
  const page = await (await browser.post(`/federation/${provider}`)).text();
  const [, address] = /http-equiv="refresh" content="\d+;\s*url=([^"]+)"/i.exec(page) ?? [];
  if (address === undefined) throw new Error('the button led to no provider');
  return address.replaceAll('&amp;', '&');
}

async function signIn({ proxy, standIns, origin, encryptFor }: Upstream, way: Way, index: number): Promise<void> {
  const browser = new Browser(proxy.url);
  const oidc = way === 'OpenID';
  const { provider, domain } = ways[way];
  const email = `person${index}@${domain}`;
  const person = { givenName: 'Ada', familyName: `Person${index}`, email, emailVerified: true };
  const sealed = { encryptFor, issuer: `${origin}/sealed` };
  const address = await pressButton(browser, provider);
  // Each answer is planned for the next request of its kind: whichever browser gets it, all are answered once.
  standIns.answerNext({ person, ...(way === 'SAML encrypted' && { saml: sealed }) }, oidc ? 'oidc' : 'saml');
  const there = await sendRequest(address, { redirect: 'manual' });
  const back = oidc
    ? locationOf(there)
    : locationOf(
        await browser.post(`/federation/${provider}/acs`, formFieldsOf(await there.text()), {
          origin,
          'sec-fetch-site': 'cross-site',
        }),
      );
  const arrived = await browser.get(back, { from: oidc ? 'cross-site' : 'none' });
  if (arrived.status !== 303 || !('__Host-foyer_session' in (await browser.cookies())))
    throw new Error(`no session: ${arrived.status} ${arrived.headers.get('location')}`);
}

/** @returns the number of sign-ins that failed, and the reason of the first */
async function signInMany({
  way,
  count,
  atOnce,
  members,
}: {
  way: Way;
  count: number;
  atOnce: number;
  members: number;
}) {
  let next = 0;
  const faults: string[] = [];
  async function lane(): Promise<void> {
    while (upstream && next < count) {
      const index = next;
      next += 1;
      await signIn(upstream, way, index % members).catch((error: Error) => faults.push(error.message));
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane));
  return { failures: faults.length, first: faults[0] };
}

const handlers = { open, toFoyer, signInMany };
export type FederationGenerator = typeof handlers;
serve(handlers);
