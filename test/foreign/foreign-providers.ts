import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenIdProvider, { type ClientMetadata, type Configuration, type JWK } from 'oidc-provider';
import type { UpstreamIdentity } from '../../server/federation/index.ts';
import type { Provider, StrategySettings } from '../../server/federation/providers.ts';
import { begin, finish, providersBy, settingsOf } from '../federation/strategies.ts';
import { MapAdapter } from '../load/servers/map-adapter.ts';
import { listenOnFreePort } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';

/* Providers of other authors, in this process; Foyer is what its strategies are: no browser, no store. */

const callback = 'http://localhost:3000/federation/acme-oidc/callback';
const clientId = 'foyer-at-acme';
const clientSecret = 'secret-of.acme_with-characters-that-are-encoded';

export type Claims = Record<string, unknown>;

/** The traits of one provider. */
export interface Setup {
  /** Of its registration of Foyer. */
  client?: Partial<ClientMetadata>;
  /** Of the product, beside what every test needs. */
  provider?: Configuration;
  /** Of the person, besides `sub`. */
  claims?: Claims;
  subject?: string;
  /** Of Foyer's entry in PROVIDERS_FILE. */
  foyer?: Claims;
  settings?: Partial<StrategySettings>;
}

export interface ForeignProvider {
  foyer: Provider;
  signIn(): Promise<UpstreamIdentity>;
  /** Replaces all of its signing keys. */
  changeKeys(): void;
  /** It answers no request any more, or again. */
  setAway(away: boolean): void;
  close(): Promise<void>;
}

function makeKeys(): JWK[] {
  const pairs: [KeyObject, string[]][] = [
    [generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey, ['RS256', 'RS512', 'PS256']],
    [generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, ['ES256']],
    [generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey, ['ES384']],
    [generateKeyPairSync('ed25519').privateKey, ['EdDSA']],
  ];
  return pairs.map(([key]) => ({ ...(key.export({ format: 'jwk' }) as JWK), kid: randomUUID(), use: 'sig' }));
}

const signingAlgorithms = ['RS256', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA', 'HS256'] as const;

function configuration(
  keys: JWK[],
  { client = {}, provider = {}, claims = {}, subject = 'ada' }: Setup,
): Configuration {
  const { features, ...more } = provider;
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [callback],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        ...client,
      },
    ],
    jwks: { keys },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'given_name', 'family_name'] },
    enabledJWA: {
      idTokenSigningAlgValues: [...signingAlgorithms],
      userinfoSigningAlgValues: [...signingAlgorithms],
      clientAuthSigningAlgValues: [...signingAlgorithms],
    },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'none'],
    findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: subject, ...claims }) }),
    async loadExistingGrant({ oidc }) {
      const { client: known, provider: own } = oidc;
      if (!known) return undefined;
      const grant = new own.Grant({ clientId: known.clientId, accountId: subject });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
    cookies: { keys: ['of this test'] },
    adapter: MapAdapter,
    ttl: { Interaction: 60, Grant: 60, Session: 60, AccessToken: 60, IdToken: 60 },
    features: { devInteractions: { enabled: false }, ...features },
    ...more,
  };
}

const maxRedirects = 10;

/** Goes from the provider's address to Foyer's, as a browser does. */
async function follow(from: URL): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = from;
  for (let n = 0; n < maxRedirects; n += 1) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const answer = await sendRequest(url.href, { redirect: 'manual', headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/s);
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`${url.pathname} answered ${answer.status}: ${await answer.text()}`);
    url = new URL(location, url);
    if (url.href.startsWith(callback)) return url;
  }
  throw new Error('too many redirects');
}

/** Foyer's entry for a provider at this address; the file exists as long as the test. */
export function enterProvider(issuer: string, { foyer = {}, settings = {} }: Pick<Setup, 'foyer' | 'settings'> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'foyer-foreign-'));
  const file = join(folder, 'providers.json');
  for (const name of ['privateKey', 'decryptionKey']) {
    if (typeof foyer[name] === 'string') writeFileSync(join(folder, name), foyer[name]);
  }
  const files = Object.fromEntries(
    Object.keys(foyer)
      .filter((name) => name.endsWith('Key'))
      .map((name) => [name, name]),
  );
  const acme = {
    kind: 'oidc',
    id: 'acme-oidc',
    name: 'Acme',
    domains: ['acme.example'],
    issuer,
    clientId,
    clientSecret,
  };
  writeFileSync(file, JSON.stringify({ providers: [{ ...acme, ...foyer, ...files }] }));
  const provider = providersBy(settingsOf({ PROVIDERS_FILE: file }, settings))('acme-oidc');
  return {
    provider,
    async signIn() {
      const begun = await begin(provider);
      return finish(provider, begun, await follow(begun.url));
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Starts oidc-provider with these traits. */
export async function startForeignProvider(setup: Setup = {}): Promise<ForeignProvider> {
  const { server, port } = await listenOnFreePort();
  const issuer = `http://127.0.0.1:${port}`;
  const entry = enterProvider(issuer, setup);
  const { clientKeys } = entry.provider;
  const jwks = clientKeys && { jwks: { keys: clientKeys as JWK[] } };
  const open = () =>
    new OpenIdProvider(issuer, configuration(makeKeys(), { ...setup, client: { ...jwks, ...setup.client } }));
  let product = open();
  let isAway = false;
  server.on('request', async (req, res) => {
    if (isAway) return void res.destroy();
    if (!req.url?.startsWith('/interaction/')) return void product.callback()(req, res);
    await product.interactionFinished(req, res, { login: { accountId: setup.subject ?? 'ada' } });
  });
  return {
    foyer: entry.provider,
    signIn: entry.signIn,
    changeKeys() {
      product = open();
    },
    setAway(away) {
      isAway = away;
    },
    async close() {
      entry.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
