import { parseSamlMessage, readRedirect } from '../../sandbox/providers/index.ts';
import { memberBy, type Person, pathOf, pressButton } from '../federation/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { type RelyingParty, refreshOf, relyingParty } from '../support/relying-party.ts';
import { answerXml, arrive, beginSaml, goingOnTo } from '../support/saml.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

const longAgoMs = 11 * 60_000;

/**
 * A provider with an open session lets its user through without a question. A thief who uses that browser gets in, but has
 * not authenticated.
 */
describe.each(backends)('a provider session in a browser that an attacker has found, on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  let app: RelyingParty;
  beforeAll(async () => {
    // The provider's auth_time is as old as the session there.
    providers = await startProviders({ now: () => Date.now() - longAgoMs });
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '100000', ...providers.environment() });
    app = await relyingParty(foyer, await foyer.addClient());
  });
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  const acts = ['/settings/password', '/settings/providers/link?provider=google', '/settings/delete-account'];
  const askedAgain = async (browser: Browser) => {
    for (const act of acts)
      expect(pathOf(foyer, await browser.get(act))).toBe(`/re-authenticate?${new URLSearchParams({ redirect: act })}`);
  };
  const mayAct = async (browser: Browser) => {
    for (const act of acts) expect([act, (await browser.get(act)).status]).toEqual([act, 200]);
  };

  it('A sign-out and a sign-in by the provider session do not allow changing credentials (OpenID Connect)', async () => {
    const { who } = await memberBy(foyer, providers, 'oidc');
    const browser = foyer.browser();
    const address = await pressButton(browser, 'oidc');
    providers.answerAs(who, 'oidc');
    await browser.get(locationOf(await sendRequest(address, { redirect: 'manual' })), { from: 'cross-site' });
    expect((await browser.get('/settings')).status).toBe(200);
    await askedAgain(browser);
  });

  describe('SAML', () => {
    const who = (nameId: string) => ({ nameId, attributes: { mail: `${nameId}@corp.acme.example` } });
    /** Sets the auth_time that the provider reports: some providers always report the present. */
    async function come(issuedAtMs: number, { search = '', nameId = 'found' } = {}) {
      const attempt = await beginSaml(foyer, { search });
      const more = { ...who(nameId), issuedAtMs, notBeforeMs: null, notOnOrAfterMs: Date.now() + 60_000 };
      await arrive(foyer, attempt, await answerXml(providers, attempt, more));
      return attempt.browser;
    }
    const accept = () =>
      foyer.deps.database.db.updateTable('users').set({ acceptedTosVersion: foyer.deps.terms.number }).execute();
    const forced = ({ url }: { url: URL }) =>
      parseSamlMessage(readRedirect(url.search)?.xml ?? '')?.forceAuthn === true;
    /** Presses the provider button of the re-authentication page. */
    async function again(browser: Browser, redirect: string) {
      const page = await browser.post(`/re-authenticate/provider/acme-saml?${new URLSearchParams({ redirect })}`);
      const url = await goingOnTo(page);
      const message = parseSamlMessage(readRedirect(url.search)?.xml ?? '');
      const request = { id: message?.id ?? '', acsUrl: message?.acsUrl ?? '', app: message?.issuer ?? '' };
      return { browser, url, relayState: url.searchParams.get('RelayState') ?? '', request };
    }
    const fresh = () => ({ issuedAtMs: Date.now(), notBeforeMs: null, notOnOrAfterMs: Date.now() + 60_000 });

    it('A SAML provider session that is said to have begun now does not allow changing credentials', async () => {
      await come(Date.now());
      await accept();
      for (const at of [Date.now(), Date.now() - longAgoMs]) {
        const browser = await come(at);
        expect((await browser.get('/settings')).status).toBe(200);
        await askedAgain(browser);
      }
    });

    it('A re-authentication asks the provider with ForceAuthn, and its answer is fresh', async () => {
      await come(Date.now(), { nameId: 'step-up' });
      await accept();
      const browser = await come(Date.now(), { nameId: 'step-up' });
      const attempt = await again(browser, '/settings/password');
      expect(forced(attempt)).toBe(true);
      const xml = await answerXml(providers, attempt, { ...fresh(), ...who('step-up') });
      expect(await arrive(foyer, attempt, xml)).toBe('/settings/password');
      await mayAct(browser);
    });

    it('The answer to another request does not count as the answer to the request with ForceAuthn', async () => {
      await come(Date.now(), { nameId: 'mixed' });
      await accept();
      const browser = await come(Date.now(), { nameId: 'mixed' });
      const plain = await beginSaml(foyer, { browser: foyer.browser() });
      expect(forced(plain)).toBe(false);
      const attempt = await again(browser, '/settings/password');
      const stolen = await answerXml(providers, plain, { ...fresh(), ...who('mixed') });
      expect(await arrive(foyer, attempt, stolen)).toContain('#federation:invalid');
      await askedAgain(browser);
    });

    it('A sign-in that was requested with ForceAuthn is fresh', async () => {
      await come(Date.now(), { nameId: 'forced' });
      await accept();
      const search = '?forceAuth=1';
      expect(forced(await beginSaml(foyer, { search }))).toBe(true);
      await mayAct(await come(Date.now(), { search, nameId: 'forced' }));
    });
  });

  describe('an OpenID provider that ignores prompt and sends no auth_time', () => {
    const silent = ({ auth_time: _, ...claims }: Record<string, unknown>) => claims;
    async function answered(browser: Browser, who: Person, address: string) {
      providers.answerAs({ person: who, idToken: silent }, 'oidc');
      return browser.get(locationOf(await sendRequest(address, { redirect: 'manual' })), { from: 'cross-site' });
    }

    it('A sign-in by a provider without auth_time is not fresh and does not re-authenticate the user', async () => {
      const { who } = await memberBy(foyer, providers, 'oidc');
      const browser = foyer.browser();
      await answered(browser, who, await pressButton(browser, 'oidc'));
      expect((await browser.get('/settings')).status).toBe(200);
      await askedAgain(browser);
      const again = await browser.post('/re-authenticate/provider/acme-oidc?redirect=/settings/password');
      const address = refreshOf(await again.text());
      expect(new URL(address).searchParams.get('prompt')).toBe('login');
      const back = pathOf(foyer, await answered(browser, who, address));
      expect(back).toBe('/re-authenticate?redirect=%2Fsettings%2Fpassword#federation:not-fresh/acme-oidc');
      const page = await (await browser.get(back)).text();
      expect(page).toContain('didn’t ask you to sign in again');
      // The user is not locked out: a password can be set by mail.
      expect(page).toContain('/forgot-password');
      await askedAgain(browser);
    });

    it('A client app that wants a fresh sign-in gets none by a provider without auth_time, and the page says why', async () => {
      const { who } = await memberBy(foyer, providers, 'oidc');
      const browser = foyer.browser();
      const { url } = await app.begin({ prompt: 'login' });
      const { search } = new URL(locationOf(await browser.get(url, { from: 'cross-site' })));
      const back = await answered(browser, who, await pressButton(browser, 'oidc', { search }));
      expect(pathOf(foyer, back)).toContain('#federation:not-fresh');
      expect((await browser.get('/settings')).status).toBe(303);
    });
  });

  it.each<Record<string, string>>([{ prompt: 'login' }, { max_age: '60' }])(
    'A client app’s request for a fresh sign-in (%o) makes the provider ask the user again',
    async (wanted) => {
      const begin = async (parameters?: Record<string, string>) => {
        const browser = foyer.browser();
        const { url } = await app.begin(parameters);
        const { search } = new URL(locationOf(await browser.get(url, { from: 'cross-site' })));
        return { browser, search };
      };
      const { browser, search } = await begin(wanted);
      const asked = new URL(await pressButton(browser, 'oidc', { search })).searchParams;
      expect([asked.get('prompt'), asked.get('max_age')]).toEqual(['login', '0']);
      // The same holds when the user types the address.
      const home = await browser.post(`/sign-in${search}`, { username: 'ada@acme.example', password: '' });
      expect(new URL(refreshOf(await home.text())).searchParams.get('prompt')).toBe('login');
      const other = await begin();
      const any = new URL(await pressButton(other.browser, 'oidc', { search: other.search })).searchParams;
      expect(any.get('prompt')).toBeNull();
    },
  );
});
