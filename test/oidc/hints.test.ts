import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type Begun, type RelyingParty, relyingParty, signInFor, store, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('hints in a request on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let other: User;
  let browser: Browser;
  let client: RelyingParty;
  let own: string;
  let foreign: string;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    [user, other] = [await foyer.addUser(), await foyer.addUser()];
    client = await relyingParty(foyer, await foyer.addClient());
    foreign = (await tokensFor(client, foyer.browser(), other)).id_token ?? '';
  });
  beforeEach(async () => {
    browser = await foyer.signedIn(user);
    own = (await tokensFor(client, browser, user)).id_token ?? '';
  });
  afterAll(() => foyer?.close());

  const lead = async (begun: Begun, at = browser) =>
    new URL(locationOf(await at.get(begun.url, { from: 'cross-site' })));
  const signIn = async (landing: URL, member: User) =>
    locationOf(await browser.post(`/sign-in${landing.search}`, { username: member.email, password }));

  describe('id_token_hint', () => {
    it('An id_token_hint of the signed-in user gives a code at once, also with prompt=none', async () => {
      for (const prompt of [{}, { prompt: 'none' }] as Record<string, string>[]) {
        const begun = await client.begin({ id_token_hint: own, ...prompt });
        expect((await client.redeem((await lead(begun)).href, begun)).claims()?.sub).toBe(user.id);
      }
    });

    it('An id_token_hint of another user gets login_required with prompt=none', async () => {
      const begun = await client.begin({ id_token_hint: foreign, prompt: 'none' });
      expect((await lead(begun)).searchParams.get('error')).toBe('login_required');
    });

    it('An id_token_hint of another user shows the form, and that user gets the code', async () => {
      const begun = await client.begin({ id_token_hint: foreign });
      const landing = await lead(begun);
      expect((await browser.get(landing.href)).status).toBe(200);
      const resume = await store(browser, await signIn(landing, other));
      const tokens = await client.redeem(locationOf(await browser.get(resume)), begun);
      expect(tokens.claims()?.sub).toBe(other.id);
    });

    it('An id_token_hint of a user other than the one who signs in gets login_required, not a redirect loop', async () => {
      const begun = await client.begin({ id_token_hint: foreign });
      const resume = await store(browser, await signIn(await lead(begun), user));
      const back = new URL(locationOf(await browser.get(resume)));
      expect(back.origin + back.pathname).toBe(client.redirectUri);
      expect(Object.fromEntries(back.searchParams)).toMatchObject({ error: 'login_required', state: begun.state });
      expect(back.searchParams.has('code')).toBe(false);
    });

    it('An id_token_hint in a browser without a session shows the form', async () => {
      const begun = await client.begin({ id_token_hint: own });
      expect((await client.redeem(await signInFor(foyer.browser(), begun, user), begun)).claims()?.sub).toBe(user.id);
    });

    it.each([
      ['that is no token', () => 'no.id.token'],
      ['whose signature was changed', () => `${own.split('.').slice(0, 2).join('.')}.${'A'.repeat(86)}`],
      ['without a signature', () => `${btoa('{"alg":"none"}').replaceAll('=', '')}.${own.split('.')[1]}.`],
    ])('An id_token_hint %s gets invalid_request', async (_what, hint) => {
      const begun = await client.begin({ id_token_hint: hint() });
      expect((await lead(begun)).searchParams.get('error')).toBe('invalid_request');
    });

    it('An id_token_hint that was issued to another client gets invalid_request', async () => {
      const elsewhere = await relyingParty(foyer, await foyer.addClient());
      const begun = await elsewhere.begin({ id_token_hint: own });
      expect((await lead(begun)).searchParams.get('error')).toBe('invalid_request');
    });
  });

  it.each([
    ['another user', () => other.email],
    ['an unknown user', () => 'unknown@example.com'],
    ['markup', () => '"><script>alert(1)</script>'],
    ['a long text', () => 'x'.repeat(4_000)],
  ])('A login_hint of %s changes no session and signs no visitor in', async (_what, hint) => {
    const begun = await client.begin({ login_hint: hint() });
    expect((await client.redeem((await lead(begun)).href, begun)).claims()?.sub).toBe(user.id);
    const fresh = foyer.browser();
    const landing = await lead(await client.begin({ login_hint: hint() }), fresh);
    const page = await fresh.get(landing.href);
    expect(page.status).toBe(200);
    const html = await page.text();
    expect(html).not.toContain('<script>alert');
    expect(html).toContain('name="password"');
    expect((await fresh.get('/settings')).status).toBe(303);
  });

  it.each([
    ['ui_locales', 'de fr'],
    ['display', 'popup'],
    ['acr_values', 'urn:mace:incommon:iap:silver'],
    ['claims', '{"id_token":{"email":{"essential":true}}}'],
    ['unheard_of', 'x'],
  ])('The parameter %s does not prevent a code', async (name, value) => {
    const begun = await client.begin({ [name]: value });
    const tokens = await client.redeem((await lead(begun)).href, begun);
    expect(tokens.claims()?.sub).toBe(user.id);
    // The token does not claim an acr that the user has not reached.
    expect(tokens.claims()?.acr).toBe('aal1');
  });

  it('A resource server that the client is not registered for gets invalid_target (RFC 8707, section 2)', async () => {
    const answer = await lead(await client.begin({ resource: 'https://api.example' }));
    expect(answer.href).toContain(client.redirectUri);
    expect(answer.searchParams.get('error')).toBe('invalid_target');
  });
});
