import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSamlResponse, makeSigner, newSamlId, type Signer } from '../../sandbox/providers/index.ts';
import { Browser } from '../support/browser.ts';
import { persistentFormat } from '../support/provider-documents.ts';
import { arrive, beginSaml } from '../support/saml.ts';
import { steadyLoad } from '../support/steady-load.ts';
import { thorough } from '../support/thorough.ts';
import { until } from '../support/workers.ts';
import { createServers, type ServerProcess } from './server-process.ts';

const servers = createServers();
afterAll(() => servers.end());

const dayMs = 24 * 60 * 60_000;
const entityId = 'https://idp.acme.example';

/** The redirect after a SAML response by this signer. */
async function come(server: ServerProcess, signer: Signer): Promise<string> {
  const visitors = { url: server.url, browser: () => new Browser(server.url, { connection: 'close' }) };
  const attempt = await beginSaml(visitors, { provider: 'acme' });
  const { id: inResponseTo, acsUrl, app: audience } = attempt.request;
  const nowMs = Date.now();
  const xml = await buildSamlResponse({
    issuer: entityId,
    destination: acsUrl,
    recipient: acsUrl,
    audience,
    inResponseTo,
    signer,
    nameId: newSamlId(),
    nameIdFormat: persistentFormat,
    attributes: { mail: `${newSamlId()}@acme.example` },
    issuedAtMs: nowMs,
    notBeforeMs: nowMs - 1_000,
    notOnOrAfterMs: nowMs + 60_000,
  });
  return arrive(visitors, attempt, xml);
}

async function reloadUnderLoad(count: string, logged: string): Promise<void> {
  const folder = await servers.preparedFolder();
  const [old, next] = ['old', 'next'].map((name) => makeSigner(name, Date.now() - dayMs, Date.now() + dayMs));
  if (!old || !next) throw new Error('no keys');
  const file = join(folder, 'providers.json');
  const write = ({ certificate }: Signer) => {
    writeFileSync(join(folder, 'acme.crt'), certificate);
    const entry = { kind: 'saml', id: 'acme', name: 'Acme', entityId, ssoUrl: `${entityId}/sso` };
    const more = { certificates: ['acme.crt'], domains: ['acme.example'], nameIdFormat: persistentFormat };
    writeFileSync(file, JSON.stringify({ providers: [{ ...entry, ...more }] }));
  };
  write(old);
  const environment = { DATA_DIR: folder, PROVIDERS_FILE: file, LOG_LEVEL: 'info' };
  const server = await servers.start({ ...environment, WEB_CONCURRENCY: count });
  await server.ready;
  expect(await come(server, old)).toContain('/post-signup/plan');
  expect(await come(server, next)).toBe('/#notice');
  const asked = { path: '/', headers: { host: new URL(server.url).host, accept: 'text/html' }, expected: 200 };
  const load = steadyLoad(server.port, [asked], 4, 50);
  await until('requests', () => load.counts().requests > 20);
  write(next);
  server.signal('SIGHUP');
  await until('the file is read again', () => server.stdout().includes(logged), 25_000);
  expect(await come(server, next)).toContain('/post-signup/plan');
  expect(await come(server, old)).toBe('/#notice');
  writeFileSync(file, '{"providers":');
  server.signal('SIGHUP');
  const refusal = count === '1' ? 'it is no JSON' : 'reload stopped';
  await until('the fault is logged', () => server.stdout().includes(refusal), 25_000);
  expect(await come(server, next)).toContain('/post-signup/plan');
  expect((await load.stop()).failed).toEqual({});
}

describe('SIGHUP takes over a new certificate under load, and no request fails', () => {
  it(
    'One process reads the file of providers again',
    () => reloadUnderLoad('1', 'the providers were read again'),
    90_000,
  );

  thorough(
    'Two workers are replaced by new ones, which read the file of providers again',
    () => reloadUnderLoad('2', '"all workers replaced"'),
    90_000,
  );
});
