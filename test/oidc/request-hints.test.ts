import { setLocale, type User } from '../../server/users/index.ts';
import { answerOf, memberBy, pressButton } from '../federation/steps.ts';
import { codeFor, newAddress, profile } from '../sign-up/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { homeFrom, type RelyingParty, refreshOf, relyingParty } from '../support/relying-party.ts';
import { entriesIn } from '../support/stored.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('hints of a client app on the pages of its request, on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  let client: RelyingParty;
  let stranger: RelyingParty;
  let user: User;
  beforeAll(async () => {
    providers = await startProviders();
    foyer = await startFoyer(backend, { ...providers.environment(), SIGN_UP_LIMIT_ADDRESS: '1000' });
    client = await relyingParty(foyer, await foyer.addClient());
    stranger = await relyingParty(foyer, await foyer.addClient({ thirdParty: true }));
    user = await foyer.addUser();
  });
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  async function land(at: Browser, parameters: Record<string, string>, by = client) {
    const url = new URL(locationOf(await at.get((await by.begin(parameters)).url, { from: 'cross-site' })));
    const answer = await at.get(url.href);
    return { url, answer, html: await answer.text() };
  }
  const langOf = (html: string) => /<html lang="(\w+)"/.exec(html)?.[1];
  const usernameOf = (html: string) => {
    const [input = ''] = /<input[^>]*name="username"[^>]*>/.exec(html) ?? [];
    return /value="([^"]*)"/.exec(input)?.[1];
  };

  describe('ui_locales', () => {
    it.each([
      ['de', 'de'],
      ['fr-CH', 'fr'],
      ['NL-be', 'nl'],
      ['xx it-IT de en', 'de'],
      ['xx __proto__ ../de', 'en'],
      ['den', 'en'],
      ['', 'en'],
    ])('ui_locales=“%s” shows the pages of the request in %s', async (wanted, lang) => {
      const at = foyer.browser();
      const { url, html } = await land(at, { ui_locales: wanted });
      const signUp = await (await at.get(`/signup${url.search}`)).text();
      const refused = await (
        await at.post(`/sign-in${url.search}`, { username: 'x@example.com', password: 'x' })
      ).text();
      expect([html, signUp, refused].map(langOf)).toEqual([lang, lang, lang]);
    });

    it('The consent page, an error page and the sign-up mail are in the language of ui_locales', async () => {
      const at = await foyer.signedIn(user);
      expect(langOf((await land(at, { ui_locales: 'de' }, stranger)).html)).toBe('de');
      const { url } = await client.begin({ ui_locales: 'fr', redirect_uri: 'https://evil.example/' });
      const refused = await at.get(url);
      expect([refused.status, langOf(await refused.text())]).toEqual([400, 'fr']);
      const visitor = foyer.browser();
      const email = newAddress();
      await visitor.post(`/signup${(await land(visitor, { ui_locales: 'nl' })).url.search}`, profile(email));
      expect(await codeFor(foyer, email)).toMatch(/^\d{6}$/);
      const sent = (await foyer.mails(email)).find(({ template }) => template === 'verify-email');
      expect(langOf(sent?.html ?? '')).toBe('nl');
    });

    it('A parameter counts wherever it stands, and when its name is encoded', async () => {
      const { url } = await client.begin({ redirect_uri: 'https://evil.example/' });
      const { pathname, search } = new URL(url);
      for (const query of [`?ui_locales=de&${search.slice(1)}`, `${search}&ui_locales=de`, `${search}&%75i_locales=de`])
        expect(langOf(await (await foyer.browser().get(pathname + query)).text())).toBe('de');
    });

    it('A language that the user chose wins over ui_locales, which changes only the pages of its request', async () => {
      const at = foyer.browser();
      const { url } = await land(at, { ui_locales: 'de' });
      expect(langOf(await (await at.get('/')).text())).toBe('en');
      await at.post('/language', { lang: 'fr', redirect: url.href });
      expect(langOf(await (await at.get(url.href)).text())).toBe('fr');
      const member = await foyer.addUser();
      await setLocale(foyer.stores.database.db, member.id, { locale: 'nl', nowMs: foyer.deps.now() });
      const { html } = await land(await foyer.signedIn(member), { ui_locales: 'de' }, stranger);
      expect(langOf(html)).toBe('nl');
    });

    it('The language of ui_locales is passed on to an identity provider', async () => {
      const at = foyer.browser();
      const { url } = await land(at, { ui_locales: 'de' });
      const page = await (await at.post(`/federation/acme-oidc${url.search}`)).text();
      expect(new URL(refreshOf(page)).searchParams.get('ui_locales')).toBe('de');
    });
  });

  describe('/login, the address of Amazon Cognito', () => {
    it('/login with an authorization request gives a code like the authorization endpoint, with the state unchanged', async () => {
      const begun = await client.begin({ state: 'a b+c%&d', ui_locales: 'de' });
      const at = await foyer.signedIn(user);
      const next = locationOf(await at.get(begun.url.replace('/oauth2/authorize?', '/login?'), { from: 'cross-site' }));
      expect(next).toBe(begun.url);
      expect(new URL(locationOf(await at.get(next))).searchParams.get('state')).toBe('a b+c%&d');
    });

    it.each(['', '?', '?client_id=x', '?redirect_uri=https%3A%2F%2Fevil.example%2F', '?next=//evil.example'])(
      '/login%s leads to the sign-in page and nowhere else',
      async (query) => {
        expect(locationOf(await foyer.browser().get(`/login${query}`))).toBe(`${foyer.url}/`);
      },
    );

    it('Attack: /login with an unregistered address shows the error page and leads nowhere', async () => {
      const { url } = await client.begin({ redirect_uri: 'https://evil.example/' });
      const at = foyer.browser();
      const answer = await at.get(locationOf(await at.get(url.replace('/oauth2/authorize?', '/login?'))));
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    });

    it('/login with display=popup keeps the link to the opener, and without it does not', async () => {
      const coop = async (query: string) =>
        (await foyer.browser().get(`/login?response_type=code${query}`)).headers.get('cross-origin-opener-policy');
      expect([await coop('&display=popup'), await coop('')]).toEqual(['unsafe-none', 'same-origin']);
    });
  });

  describe('login_hint', () => {
    it.each([
      ['the address of a user', () => user.email, () => user.email],
      ['an unknown address', () => 'unknown@example.com', () => 'unknown@example.com'],
      ['an address in capitals with spaces', () => '  Unknown@Example.COM ', () => 'unknown@example.com'],
      ['a number', () => '+49 171 1234567', () => '+491711234567'],
      ['a number with a line break', () => '+49\n1711234567', () => '+491711234567'],
      ['markup', () => '"><script>alert(1)</script>@example.com', () => ''],
      ['control characters', () => 'a\u0000b@example.com', () => ''],
      ['direction marks', () => 'a\u202eb@example.com', () => ''],
      ['4,000 characters', () => `${'x'.repeat(3_988)}@example.com`, () => ''],
      ['a name that is no address', () => 'vera', () => ''],
    ])('A login_hint with %s fills the field or leaves it empty, and signs no one in', async (_what, hint, shown) => {
      const at = foyer.browser();
      const { html, answer } = await land(at, { login_hint: hint() });
      expect([answer.status, usernameOf(html)]).toEqual([200, shown()]);
      expect(html).not.toContain('<script>alert');
      expect((await at.get('/settings')).status).toBe(303);
    });

    it('A login_hint in the address of the page leaves the field empty', async () => {
      const at = foyer.browser();
      const { url } = await land(at, {});
      const html = await (await at.get(`${url.href}&login_hint=${encodeURIComponent(user.email)}`)).text();
      expect(usernameOf(html)).toBe('');
      expect(usernameOf(await (await at.get('/?login_hint=vera@example.com')).text())).toBe('');
    });

    it('Another user than the hinted one can sign in, and a refused entry stays in the field', async () => {
      const at = foyer.browser();
      const { url } = await land(at, { login_hint: 'unknown@example.com' });
      const refused = await at.post(`/sign-in${url.search}`, { username: user.email, password: 'wrong' });
      expect(usernameOf(await refused.text())).toBe(user.email);
      await at.post(`/sign-in${url.search}`, { username: user.email, password });
      expect((await at.get('/settings')).status).toBe(200);
    });
  });

  describe('a provider', () => {
    const buttons = (html: string) =>
      [...html.matchAll(/(?:form)?action="\/federation\/([\w-]+)/gi)].map(([, id]) => id);

    const attempts = async () => (await entriesIn(foyer.stores, 'federation-attempt:')).length;

    it.each([
      ['identity_provider', 'acme-oidc', 'oidc'],
      ['identity_provider', 'Google', 'google'],
      ['identity_provider', 'Facebook', 'facebook'],
      ['identity_provider', 'LoginWithAmazon', 'amazon'],
      ['idp_hint', 'google', 'google'],
      ['kc_idp_hint', 'ACME-SAML', 'saml'],
    ] as const)('%s=%s redirects a visitor to that provider without the sign-in page', async (name, value, kind) => {
      const at = foyer.browser();
      const pressed = new URL(await pressButton(foyer.browser(), kind));
      const before = await attempts();
      const { answer, html } = await land(at, { [name]: value, login_hint: 'vera@example.com' });
      const asked = new URL(refreshOf(html));
      expect([answer.status, asked.origin + asked.pathname]).toEqual([200, pressed.origin + pressed.pathname]);
      expect(await attempts()).toBe(before + 1);
    });

    it('A client app that names a provider gets a code after the sign-in there, with the hinted address passed on', async () => {
      const { user: member, who } = await memberBy(foyer, providers, 'oidc');
      const at = foyer.browser();
      const begun = await client.begin({ identity_provider: 'acme-oidc', login_hint: 'vera@example.com' });
      const page = await at.get(locationOf(await at.get(begun.url, { from: 'cross-site' })));
      const asked = refreshOf(await page.text());
      expect(new URL(asked).searchParams.get('login_hint')).toBe('vera@example.com');
      const callback = await answerOf(providers, 'oidc', who, asked);
      const next = await homeFrom(at, locationOf(await at.get(callback, { from: 'cross-site' })), member);
      expect((await client.redeem(next, begun)).claims()?.sub).toBe(member.id);
    });

    it('Attack: a frame, a prefetch and another browser’s request start no attempt at the named provider', async () => {
      const at = foyer.browser();
      const begun = await client.begin({ identity_provider: 'acme-oidc' });
      const url = locationOf(await at.get(begun.url, { from: 'cross-site' }));
      const before = await attempts();
      for (const [name, value] of [
        ['sec-fetch-dest', 'iframe'],
        ['sec-purpose', 'prefetch;prerender'],
      ] as const) {
        const html = await (await at.get(url, { headers: { [name]: value } })).text();
        expect([buttons(html), html.includes('name="password"')]).toEqual([['acme-oidc'], false]);
        expect(html).not.toMatch(/http-equiv="refresh"/i);
      }
      expect((await foyer.browser().get(url)).status).toBe(400);
      expect((await at.get('/federation/acme-oidc', { from: 'cross-site' })).status).toBe(405);
      expect(await attempts()).toBe(before);
    });

    it('A signed-in user who must sign in again presses the button of the provider, or takes another sign-in method', async () => {
      const at = await foyer.signedIn(user);
      const before = await attempts();
      const { html } = await land(at, {
        identity_provider: 'acme-oidc',
        prompt: 'login',
        login_hint: 'vera@example.com',
      });
      expect([buttons(html), html.includes('name="password"')]).toEqual([['acme-oidc'], false]);
      expect(await attempts()).toBe(before);
      const action = /<form[^>]* action="(\/federation\/[^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
      const fields = { username: usernameOf(html) ?? '' };
      const asked = new URL(refreshOf(await (await at.post(action, fields)).text()));
      expect(asked.searchParams.get('login_hint')).toBe('vera@example.com');
      const other = /href="(\/\?[^"]*ways=all[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
      const whole = await (await at.get(other)).text();
      expect([usernameOf(whole), buttons(whole).length > 3]).toEqual(['vera@example.com', true]);
    });

    it.each(['nowhere', '', '__proto__', 'constructor', 'x'.repeat(1_000), '../google'])(
      'The unknown provider “%s” shows the whole sign-in page',
      async (value) => {
        const { html } = await land(foyer.browser(), { identity_provider: value });
        expect(html).toContain('name="password"');
      },
    );

    it('A provider in the address of the page has no effect, and after a refusal every sign-in method is shown', async () => {
      const at = foyer.browser();
      const { url } = await land(at, { identity_provider: 'google' });
      const refused = await at.post(`/sign-in${url.search}`, { username: user.email, password: 'wrong' });
      expect(await refused.text()).toContain('name="password"');
      await at.announce('federation:cancelled/google');
      const failed = await (await at.get(url.href)).text();
      expect(failed).toContain('name="password"');
      expect(await (await at.get('/?identity_provider=google')).text()).toContain('name="password"');
    });

    it('A signed-in user gets a code without the provider', async () => {
      const at = await foyer.signedIn(user);
      const { url } = await client.begin({ identity_provider: 'google' });
      expect(locationOf(await at.get(url))).toMatch(/[?&]code=/);
    });
  });
});
