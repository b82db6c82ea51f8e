import * as oidc from 'openid-client';
import { sha256 } from '../../server/shared/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { type RelyingParty, refreshOf, relyingParty, type Tokens, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { setUpUser } from './user-and-client.ts';

const bye = 'http://127.0.0.1:9/bye?from=foyer';

/** OpenID Connect RP-Initiated Logout 1.0. `security.md`, rule 12, says when it may sign out without a question. */
describe.each(backends)('/oauth2/logout on $name', (backend) => {
  const context = setUpUser(backend);

  let browser: Browser;
  let client: RelyingParty;
  let tokens: Tokens;

  beforeEach(async () => {
    client = await relyingParty(context.foyer, await context.foyer.addClient({ logoutUris: [bye] }));
    browser = await context.foyer.signedIn(context.user);
    tokens = await tokensFor(client, browser, context.user);
  });

  const endSession = (parameters: Record<string, string>, from = browser) =>
    from.get(oidc.buildEndSessionUrl(client.config, parameters).href, { from: 'cross-site' });
  const hint = () => tokens.id_token ?? '';

  async function isSignedIn(at = browser): Promise<boolean> {
    const silent = await client.begin({ prompt: 'none' });
    const byClient = new URL(locationOf(await at.get(silent.url))).searchParams.has('code');
    // Foyer's pages and the provider must agree.
    expect((await at.get('/')).status).toBe(byClient ? 303 : 200);
    return byClient;
  }

  async function expectTokensDead(of: Tokens, owner = client): Promise<void> {
    await expect(oidc.fetchUserInfo(owner.config, of.access_token, context.user.id)).rejects.toMatchObject({
      status: 401,
    });
    await expect(oidc.refreshTokenGrant(owner.config, of.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  }

  /** Expects the page with one button. @returns the fields of its form */
  async function expectQuestion(answer: Response): Promise<Record<string, string>> {
    expect(answer.status).toBe(200);
    const html = await answer.text();
    expect(html).toMatch(/<form[^>]+method="post"[^>]+action="\/logout"|<form[^>]+action="\/logout"[^>]+method="post"/);
    expect(await isSignedIn()).toBe(true);
    const [, form = ''] = /<form[^>]+action="\/logout"[^>]*>(.*?)<\/form>/s.exec(html) ?? [];
    const fields = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    return Object.fromEntries(fields.map(([, name, value]) => [name, (value ?? '').replaceAll('&amp;', '&')]));
  }

  it('The id token of this session signs the user out at once and redirects to the registered address with state', async () => {
    const other = await relyingParty(context.foyer, await context.foyer.addClient({ public: true }));
    const others = await tokensFor(other, browser, context.user);
    const answer = await endSession({ id_token_hint: hint(), post_logout_redirect_uri: bye, state: 'a b&c' });
    expect(answer.status).toBe(303);
    expect(locationOf(answer)).toBe(`${bye}&state=a+b%26c`);
    expect(await isSignedIn()).toBe(false);
    await expectTokensDead(tokens);
    await expectTokensDead(others, other);
  });

  it('RP-Initiated Logout ends only the session of this browser; another browser stays signed in', async () => {
    const elsewhere = await context.foyer.signedIn(context.user);
    const kept = await tokensFor(client, elsewhere, context.user);
    await endSession({ id_token_hint: hint(), post_logout_redirect_uri: bye });
    expect(await isSignedIn(elsewhere)).toBe(true);
    expect((await oidc.refreshTokenGrant(client.config, kept.refresh_token ?? '')).access_token).toBeTruthy();
  });

  it('Attack: cookies that were copied before the sign-out are not accepted after it', async () => {
    const before = await browser.jar.clone();
    const { foyer_op: opSession = '' } = await browser.cookies();
    const kept = () => context.foyer.stores.kv.get(`oidc:Session:${sha256(opSession)}`);
    expect(await kept()).not.toBeNull();
    await endSession({ id_token_hint: hint(), post_logout_redirect_uri: bye });
    const thief = context.foyer.browser();
    for (const cookie of await before.getCookies(context.foyer.url))
      await thief.jar.setCookie(cookie, context.foyer.url);
    expect(await isSignedIn(thief)).toBe(false);
    expect(await kept()).toBeNull();
  });

  it('A logout request without an address signs out at once and redirects to the start page', async () => {
    expect(locationOf(await endSession({ id_token_hint: hint() }))).toBe(`${context.foyer.url}/`);
    expect(await isSignedIn()).toBe(false);
  });

  it('A logout request by POST from the client’s page signs out like GET', async () => {
    const fields = { id_token_hint: hint(), post_logout_redirect_uri: bye };
    const answer = await browser.post('/oauth2/logout', fields, {
      origin: 'http://127.0.0.1:9',
      'sec-fetch-site': 'cross-site',
    });
    expect(answer.status).toBe(303);
    expect(locationOf(await browser.get(locationOf(answer), { from: 'cross-site' }))).toBe(bye);
    expect(await isSignedIn()).toBe(false);
  });

  it('An id token from before a refresh signs out at once, as it is of the same sign-in', async () => {
    await tokensFor(client, browser, context.user);
    await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '');
    expect(locationOf(await endSession({ id_token_hint: hint(), post_logout_redirect_uri: bye }))).toBe(bye);
  });

  it('A logout request without a hint shows one button, which signs out and leads on to the client', async () => {
    const fields = await expectQuestion(await endSession({ post_logout_redirect_uri: bye, state: 'xyz' }));
    expect(fields).toEqual({ client_id: client.id, logout_uri: bye, state: 'xyz' });
    const answer = await browser.post('/logout', fields);
    expect(refreshOf(await answer.text())).toBe(`${bye}&state=xyz`);
    expect(await isSignedIn()).toBe(false);
    await expectTokensDead(tokens);
  });

  it('A logout request without any parameter shows one button, which leads to the start page', async () => {
    const fields = await expectQuestion(await browser.get('/oauth2/logout', { from: 'cross-site' }));
    expect(fields).toEqual({});
    expect(locationOf(await browser.post('/logout', fields))).toBe(`${context.foyer.url}/`);
    expect(await isSignedIn()).toBe(false);
  });

  it('The id token of an earlier sign-in in this browser shows the question, not a sign-out', async () => {
    context.foyer.passTime(2_000);
    await browser.post('/sign-in', { username: context.user.email, password });
    await expectQuestion(await endSession({ id_token_hint: hint(), post_logout_redirect_uri: bye }));
    context.foyer.passTime(-2_000);
  });

  it('Attack: the id token of another user shows the question, not a sign-out', async () => {
    const stranger = await context.foyer.addUser();
    const foreign = await tokensFor(client, context.foyer.browser(), stranger);
    await expectQuestion(await endSession({ id_token_hint: foreign.id_token ?? '', post_logout_redirect_uri: bye }));
  });

  it('The user’s own id token of another browser shows the question, not a sign-out', async () => {
    context.foyer.passTime(2_000);
    const elsewhere = await tokensFor(client, context.foyer.browser(), context.user);
    context.foyer.passTime(-2_000);
    await expectQuestion(await endSession({ id_token_hint: elsewhere.id_token ?? '', post_logout_redirect_uri: bye }));
  });

  it.each([
    ['an unregistered address', { post_logout_redirect_uri: 'https://evil.example/' }],
    ['a longer address', { post_logout_redirect_uri: `${bye}&more=1` }],
    ['a shorter address', { post_logout_redirect_uri: 'http://127.0.0.1:9/bye' }],
    ['another port', { post_logout_redirect_uri: 'http://127.0.0.1:10/bye?from=foyer' }],
    ['a redirect address in place of a logout address', { post_logout_redirect_uri: 'REDIRECT' }],
    ['no id token', { id_token_hint: 'no.id.token' }],
    ['an unknown client', { client_id: 'unknown-client' }],
  ])(
    'A logout request with %s gets 400, and the user stays signed in',
    async (_what, parameters: Record<string, string>) => {
      const given = { id_token_hint: hint(), post_logout_redirect_uri: bye, ...parameters };
      if (given.post_logout_redirect_uri === 'REDIRECT') given.post_logout_redirect_uri = client.redirectUri;
      const answer = await endSession(given);
      expect(answer.status).toBe(400);
      expect(answer.headers.get('location')).toBeNull();
      expect(await isSignedIn()).toBe(true);
      // The user wanted to sign out and gets the address where that is possible.
      const page = await answer.text();
      expect(page).toContain('You aren’t signed out yet');
      expect(page).toMatch(/href="\/logout"[^>]*>Sign out here/);
    },
  );

  it('A hint with a changed signature is refused', async () => {
    const [head, body] = hint().split('.');
    const answer = await endSession({ id_token_hint: `${head}.${body}.${'A'.repeat(86)}` });
    expect(answer.status).toBe(400);
    expect(await isSignedIn()).toBe(true);
  });

  it('A logout address is ignored when no client is named that owns it', async () => {
    const fields = await expectQuestion(
      await browser.get(`/oauth2/logout?${new URLSearchParams({ post_logout_redirect_uri: bye })}`),
    );
    expect(fields).toEqual({});
  });

  it('A logout request without a session redirects to the client or to the start page', async () => {
    const fresh = context.foyer.browser();
    expect(locationOf(await endSession({ post_logout_redirect_uri: bye, state: 's' }, fresh))).toBe(`${bye}&state=s`);
    expect(locationOf(await endSession({ id_token_hint: hint(), post_logout_redirect_uri: bye }, fresh))).toBe(bye);
    expect(locationOf(await fresh.get('/oauth2/logout'))).toBe(`${context.foyer.url}/`);
    const evil = await endSession({ post_logout_redirect_uri: 'https://evil.example/' }, fresh);
    expect([evil.status, evil.headers.get('location')]).toEqual([400, null]);
    // There was no session to end.
    expect(await isSignedIn()).toBe(true);
  });

  it('HEAD /oauth2/logout answers 200 and signs no one out', async () => {
    const answer = await browser.request('/oauth2/logout', { method: 'HEAD' });
    expect(answer.status).toBe(200);
    expect(await isSignedIn()).toBe(true);
  });
});
