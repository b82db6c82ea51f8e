import { memberBy, pathOf, pressButton } from '../federation/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { type RelyingParty, refreshOf, relyingParty } from '../support/relying-party.ts';
import { answerXml, arrive, beginSaml } from '../support/saml.ts';
import { backends } from '../support/stores.ts';

const longAgoMs = 11 * 60_000;

/**
 * Who is signed in at a provider is let through there without a word. Whoever finds a browser like that is in, but has not
 * shown who they are.
 */
describe.each(backends.slice(0, 1))(
  'a session at the provider, in a browser that somebody else has found',
  (backend) => {
    let providers: TestProviders;
    let foyer: TestFoyer;
    let app: RelyingParty;
    beforeAll(async () => {
      // What it says of when somebody showed who they are lies as far back.
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
        expect(pathOf(foyer, await browser.get(act))).toBe(
          `/re-authenticate?${new URLSearchParams({ redirect: act })}`,
        );
    };
    const mayAct = async (browser: Browser) => {
      for (const act of acts) expect([act, (await browser.get(act)).status]).toEqual([act, 200]);
    };

    it('signed out and in again by it: what signs in is not changed by that (OpenID Connect)', async () => {
      const { who } = await memberBy(foyer, providers, 'oidc');
      const browser = foyer.browser();
      const address = await pressButton(browser, 'oidc');
      providers.answerAs(who, 'oidc');
      await browser.get(locationOf(await fetch(address, { redirect: 'manual' })), { from: 'cross-site' });
      expect((await browser.get('/settings')).status).toBe(200);
      await askedAgain(browser);
    });

    it('the same by SAML, and with a fresh sign-in there it is', async () => {
      const come = async (issuedAtMs: number) => {
        const attempt = await beginSaml(foyer);
        const more = { issuedAtMs, notBeforeMs: null, notOnOrAfterMs: Date.now() + 60_000 };
        await arrive(foyer, attempt, await answerXml(providers, attempt, { ...more, nameId: 'found' }));
        return attempt.browser;
      };
      await come(Date.now());
      const accepted = { accepted_tos_version: foyer.deps.terms.number };
      await foyer.deps.database.db.updateTable('users').set(accepted).execute();
      await askedAgain(await come(Date.now() - longAgoMs));
      await mayAct(await come(Date.now()));
    });

    it.each<Record<string, string>>([{ prompt: 'login' }, { max_age: '60' }])(
      'a client app that wants it shown now (%o) is not told so unless the provider was to ask',
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
        // By the typed address, too.
        const home = await browser.post(`/sign-in${search}`, { username: 'ada@acme.example', password: '' });
        expect(new URL(refreshOf(await home.text())).searchParams.get('prompt')).toBe('login');
        const other = await begin();
        const any = new URL(await pressButton(other.browser, 'oidc', { search: other.search })).searchParams;
        expect(any.get('prompt')).toBeNull();
      },
    );
  },
);
