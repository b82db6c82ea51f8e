import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeSigner } from '../../sandbox/providers/index.ts';
import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { refreshOf } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { freePort } from '../support/services.ts';
import { anyBackend } from '../support/stores.ts';
import { type ForeignApp, startForeignApp } from './foreign-app.ts';
import { enterProvider } from './foreign-providers.ts';

const command = (script: string) => () => [process.execPath, script];

/** A provider of another author in a process of its own. */
async function startServer(script: string, more: (url: string) => Promise<Record<string, string>>) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const variables = { ISSUER: '', APP_URL: url, CLIENT_ID: '', CLIENT_SECRET: '', PORT: String(port) };
  const server = await startForeignApp(
    { name: script, command: command(script) },
    { ...variables, ...(await more(url)) },
  );
  return { url, server };
}

describe('sign-in by oauth2-mock-server', () => {
  let server: ForeignApp;
  let url: string;
  beforeAll(async () => {
    ({ url, server } = await startServer('oauth2-mock-server.mjs', async () => ({})));
  });
  afterAll(() => server?.stop());

  it.each([{ clientId: 'foyer' }, { clientAuthentication: 'basic-raw' }, { clientAuthentication: 'post' }])(
    'A person signs in by oauth2-mock-server, which does not decode Basic credentials, with %j',
    async (foyer) => {
      const { signIn, close } = enterProvider(url, { foyer });
      const ada = { email: 'ada@acme.example', emailVerified: true, givenName: 'Ada' };
      expect(await signIn()).toMatchObject({ issuer: url, ...ada });
      close();
    },
  );
});

describe('sign-in by samlp', () => {
  let server: ForeignApp;
  let foyer: TestFoyer;
  const folder = mkdtempSync(join(tmpdir(), 'foyer-samlp-'));
  beforeAll(async () => {
    const { privateKey, certificate } = makeSigner('samlp', Date.now() - 60_000, Date.now() + 3_600_000);
    writeFileSync(join(folder, 'samlp.crt'), certificate);
    ({ server } = await startServer('samlp.mjs', async (url) => {
      const entry = (algorithm: string) => ({
        kind: 'saml',
        id: `samlp-${algorithm}`,
        name: 'Samlp',
        domains: [`${algorithm === 'sha1' ? 'old' : 'acme'}.example`],
        entityId: `${url}/${algorithm}`,
        ssoUrl: `${url}/${algorithm}`,
        certificates: ['samlp.crt'],
      });
      const file = join(folder, 'providers.json');
      writeFileSync(file, JSON.stringify({ providers: ['sha256', 'sha1'].map(entry) }));
      foyer = await startFoyer(anyBackend, { PROVIDERS_FILE: file });
      const acs = `${foyer.url}/federation/samlp-ALGORITHM/acs`;
      return { PRIVATE_KEY: privateKey, CERTIFICATE: certificate, ACS: acs };
    }));
  });
  afterAll(async () => {
    await foyer?.close();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** @returns the address to which Foyer leads after the answer */
  async function signIn(algorithm: string): Promise<string> {
    const browser = foyer.browser();
    const pressed = await browser.post(`/federation/samlp-${algorithm}`);
    const page = await (await sendRequest(refreshOf(await pressed.text()))).text();
    const fields = Object.fromEntries(
      ['SAMLResponse', 'RelayState'].map((name) => [
        name,
        new RegExp(`name="${name}"\\s+value="([^"]*)"`).exec(page)?.[1] ?? '',
      ]),
    );
    const headers = { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'cross-site' };
    const posted = await browser.post(`/federation/samlp-${algorithm}/acs`, fields, headers);
    return locationOf(await browser.get(locationOf(posted)));
  }

  it('An assertion that is signed with SHA-256 signs in', async () => {
    expect(await signIn('sha256')).not.toContain('federation-');
    expect(foyer.logged()).toContain('"provider":"samlp-sha256","outcome":"created"');
  });

  it('An assertion that is signed with SHA-1 is refused, and the log says why', async () => {
    expect(await signIn('sha1')).toContain('federation:invalid');
    expect(foyer.logged()).toMatch(
      /"provider":"samlp-sha1","outcome":"invalid","detail":"a signature has a SignatureMethod that is not accepted"/,
    );
  });
});
