import { readFileSync, writeFileSync } from 'node:fs';
import type { SamlResponseOptions } from '../../sandbox/providers/index.ts';
import { cliOn } from '../support/cli.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { answerXml, arrive, beginSaml, type SamlAttempt } from '../support/saml.ts';
import { anyBackend } from '../support/stores.ts';
import { answerOf, pathOf, pressButton, somebody } from './steps.ts';

type Entry = Record<string, unknown>;
interface FileJson {
  providers: Entry[];
}

describe('a reload of the providers', () => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  let file: string;
  let original: string;
  /** Changes the file, and has it read again. */
  const reload = (change: (json: FileJson) => void): void => {
    const json: FileJson = JSON.parse(original);
    change(json);
    writeFileSync(file, JSON.stringify(json));
    foyer.app.reload();
  };
  const entryIn = ({ providers: entries }: FileJson, id: string): Entry => entries.find((one) => one.id === id) ?? {};
  const answer = async (attempt: SamlAttempt, change: SamlResponseOptions = {}) =>
    arrive(foyer, attempt, await answerXml(providers, attempt, change));
  const inside = /^\/(?:tos|$)/;
  const loggedFaults = () =>
    foyer
      .logged()
      .split('\n')
      .filter((line) => line.includes('those in force stay'));

  beforeAll(async () => {
    providers = await startProviders();
    const environment = providers.environment();
    file = String(environment.PROVIDERS_FILE);
    original = readFileSync(file, 'utf8');
    foyer = await startFoyer(anyBackend, { ...environment, GUESS_LIMIT_ADDRESS: '100000' });
  });
  afterEach(() => reload(() => {}));
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  it('A certificate that is added counts from the reload on, and one that is removed no longer', async () => {
    const next = providers.otherSigner();
    const written = providers.write('next.crt', next.certificate);
    expect(await answer(await beginSaml(foyer), { signer: next })).toContain('#federation:invalid');
    reload((json) => Object.assign(entryIn(json, 'acme-saml'), { certificates: [written] }));
    expect(await answer(await beginSaml(foyer), { signer: next })).toMatch(inside);
    expect(await answer(await beginSaml(foyer))).toContain('#federation:invalid');
  });

  it('An attempt that began before the reload ends after it, by SAML and by OpenID Connect', async () => {
    const attempt = await beginSaml(foyer);
    const browser = foyer.browser();
    const begun = await pressButton(browser, 'oidc');
    reload((json) => Object.assign(entryIn(json, 'acme-saml'), { name: 'Acme Renamed' }));
    expect(await answer(attempt)).toMatch(inside);
    const back = await answerOf(providers, 'oidc', somebody(providers, 'oidc'), begun);
    reload(() => {});
    expect(pathOf(foyer, await browser.get(back, { from: 'cross-site' }))).toMatch(inside);
  });

  it('Sign-ins between and during reloads succeed, because a request keeps the provider that it has found', async () => {
    let reloads = 0;
    const timer = setInterval(() => {
      reloads += 1;
      foyer.app.reload();
    }, 5);
    try {
      const bySaml = Promise.all(Array.from({ length: 8 }, async () => answer(await beginSaml(foyer))));
      for (let count = 0; count < 4; count += 1) {
        const browser = foyer.browser();
        const begun = await pressButton(browser, 'oidc');
        const back = await answerOf(providers, 'oidc', somebody(providers, 'oidc'), begun);
        expect(pathOf(foyer, await browser.get(back, { from: 'cross-site' }))).toMatch(inside);
      }
      for (const path of await bySaml) expect(path).toMatch(inside);
    } finally {
      clearInterval(timer);
    }
    expect(reloads).toBeGreaterThan(8);
  });

  it('A file with faults leaves the providers in force, and the log names the faults', async () => {
    const before = loggedFaults().length;
    reload((json) => {
      entryIn(json, 'acme-saml').ssoUrl = 'http://idp.acme.example';
      entryIn(json, 'acme-oidc').name = '';
    });
    writeFileSync(file, '{"providers":');
    foyer.app.reload();
    expect(loggedFaults().slice(before)).toEqual([
      expect.stringMatching(/providers\.0\.name.*providers\.1\.ssoUrl/),
      expect.stringContaining('it is no JSON'),
    ]);
    expect(await answer(await beginSaml(foyer))).toMatch(inside);
  });

  it('A provider that is added has its button, and one that is removed has no page any more', async () => {
    reload((json) => {
      json.providers = [{ ...entryIn(json, 'acme-saml'), id: 'second', name: 'Second', domains: [] }];
    });
    const page = await (await foyer.browser().get('/')).text();
    expect(page).toContain('Second');
    expect(page).not.toContain('Acme Corporate');
    expect((await foyer.browser().post('/federation/acme-saml')).status).toBe(404);
    expect((await foyer.browser().get('/federation/second/metadata')).status).toBe(200);
  });

  it('Providers that foyer provider import has written sign members in after the reload', async () => {
    reload((json) => {
      json.providers = [];
    });
    const command = cliOn(foyer.stores.urls, { PROVIDERS_FILE: file, ACME_SECRET: providers.client.secret });
    const saml = [`${providers.saml.entityId}`, '--id', 'acme-saml', '--name', 'Acme Corporate'];
    const oidcOptions = ['--client-id', providers.client.id, '--client-secret-variable', 'ACME_SECRET'];
    const oidc = [providers.issuer, '--id', 'acme-oidc', ...oidcOptions];
    process.env.ACME_SECRET = providers.client.secret;
    try {
      for (const words of [saml, oidc])
        expect(await command('provider', 'import', ...words)).toMatchObject({ code: 0 });
      foyer.app.reload();
    } finally {
      delete process.env.ACME_SECRET;
    }
    // Linked before: the entry is of the same entity.
    expect(await answer(await beginSaml(foyer))).toMatch(inside);
    // A new person, whose address is of no domain of the new entry, confirms it by a code.
    const browser = foyer.browser();
    const begun = await pressButton(browser, 'oidc');
    const back = await answerOf(providers, 'oidc', somebody(providers, 'oidc'), begun);
    expect(pathOf(foyer, await browser.get(back, { from: 'cross-site' }))).toBe('/verify-code');
  });

  it('The first SAML provider may come by a reload', async () => {
    const { PROVIDERS_FILE, ...others } = providers.environment((json) => ({ ...json, providers: [] }));
    const path = String(PROVIDERS_FILE);
    const plain = await startFoyer(anyBackend, { ...others, PROVIDERS_FILE: path });
    try {
      expect((await plain.browser().post('/federation/acme-saml/acs', {})).status).toBe(404);
      writeFileSync(path, original);
      plain.app.reload();
      const attempt = await beginSaml(plain);
      const xml = await answerXml(providers, attempt);
      expect(await arrive(plain, attempt, xml)).toMatch(inside);
    } finally {
      await plain.close();
    }
  });
});
