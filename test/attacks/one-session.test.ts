import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, signInFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { type SecondProcess, secondProcess } from './second-process.ts';
import { Visitor } from './wire.ts';

/** `security.md`, rule 4: Foyer's session and the provider's begin and end together. */
describe.each(backends)('one session, not two, on $name', (backend) => {
  let foyer: TestFoyer;
  let app: RelyingParty;
  const logoutUri = 'http://127.0.0.1:9/signed-out';
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    app = await relyingParty(foyer, await foyer.addClient({ logoutUris: [logoutUri] }));
  });
  afterAll(() => foyer?.close());

  async function withTokens(user: User, browser: Browser) {
    const begun = await app.begin();
    return app.redeem(await signInFor(browser, begun, user), begun);
  }
  const isSignedIn = async (browser: Browser) => (await browser.get('/')).status === 303;
  const silently = async (browser: Browser) =>
    new URL(locationOf(await browser.get((await app.begin({ prompt: 'none' })).url))).searchParams;
  const expectEnded = async (tokens: oidc.TokenEndpointResponse, sub: string) => {
    await expect(oidc.fetchUserInfo(app.config, tokens.access_token, sub)).rejects.toThrow();
    await expect(oidc.refreshTokenGrant(app.config, tokens.refresh_token ?? '')).rejects.toThrow();
    expect((await oidc.tokenIntrospection(app.config, tokens.access_token)).active).toBe(false);
  };

  it('Signing out of Foyer ends the client app’s silent sign-on and tokens', async () => {
    const [user, browser] = [await foyer.addUser(), foyer.browser()];
    const tokens = await withTokens(user, browser);
    expect((await browser.post('/logout')).status).toBe(303);
    expect((await silently(browser)).get('error')).toBe('login_required');
    await expectEnded(tokens, user.id);
  });

  it('Signing out at the provider ends Foyer’s session', async () => {
    const [user, browser] = [await foyer.addUser(), foyer.browser()];
    const tokens = await withTokens(user, browser);
    const address = oidc.buildEndSessionUrl(app.config, {
      post_logout_redirect_uri: logoutUri,
      id_token_hint: tokens.id_token ?? '',
    });
    expect(locationOf(await browser.get(address.href, { from: 'cross-site' }))).toBe(logoutUri);
    expect(await isSignedIn(browser)).toBe(false);
    expect((await silently(browser)).get('error')).toBe('login_required');
    await expectEnded(tokens, user.id);
  });

  it('A provider session that outlives Foyer’s session gives no code', async () => {
    const [user, browser] = [await foyer.addUser(), foyer.browser()];
    await withTokens(user, browser);
    const cookies = await browser.cookies();
    await browser.jar.setCookie('foyer_session=; Max-Age=0; Path=/', foyer.url);
    expect(cookies.foyer_op).toBeDefined();
    expect((await silently(browser)).get('error')).toBe('login_required');
  });

  it('A Foyer session beside another user’s provider session gives no code', async () => {
    const [first, second] = [await foyer.addUser(), await foyer.addUser()];
    const [one, other] = [foyer.browser(), foyer.browser()];
    await withTokens(first, one);
    await withTokens(second, other);
    const theirs = await other.cookies();
    for (const name of ['foyer_op', 'foyer_op.sig']) {
      await one.jar.setCookie(`${name}=${theirs[name]}; Path=/`, foyer.url);
    }
    expect((await silently(one)).get('error')).toBe('login_required');
  });

  it('A sign-in replaces the provider session, so that the next silent code is the new user’s', async () => {
    const [first, second, browser] = [await foyer.addUser(), await foyer.addUser(), foyer.browser()];
    const tokens = await withTokens(first, browser);
    const before = (await browser.cookies()).foyer_op;
    await browser.post('/sign-in', { username: second.email, password });
    expect((await browser.cookies()).foyer_op).not.toBe(before);
    const begun = await app.begin({ prompt: 'none' });
    const again = await app.redeem(locationOf(await browser.get(begun.url)), begun);
    expect(again.claims()?.sub).toBe(second.id);
    await expectEnded(tokens, first.id);
  });

  it('A session id planted before the sign-in is replaced by the sign-in', async () => {
    const mallory = await foyer.signedIn(await foyer.addUser());
    const planted = (await mallory.cookies()).foyer_session ?? '';
    const victim = foyer.browser();
    await victim.jar.setCookie(`foyer_session=${planted}; Path=/`, foyer.url);
    const user = await foyer.addUser();
    await victim.post('/sign-in', { username: user.email, password });
    const after = (await victim.cookies()).foyer_session;
    expect(after).not.toBe(planted);
    // The attacker does not become the victim: the planted session has ended.
    expect(await isSignedIn(mallory)).toBe(false);
    const begun = await app.begin({ prompt: 'none' });
    expect((await app.redeem(locationOf(await victim.get(begun.url)), begun)).claims()?.sub).toBe(user.id);
  });

  it('A made-up session id is not adopted', async () => {
    const [user, victim] = [await foyer.addUser(), foyer.browser()];
    await victim.jar.setCookie('foyer_session=s%3Amade-up.signature; Path=/', foyer.url);
    await victim.post('/sign-in', { username: user.email, password });
    expect((await victim.cookies()).foyer_session).not.toContain('made-up');
    expect(await isSignedIn(victim)).toBe(true);
  });

  it.each([
    [
      'signing in again',
      (browser: Browser, user: User) => browser.post('/sign-in', { username: user.email, password }),
    ],
    ['signing out', (browser: Browser) => browser.post('/logout')],
  ])('The old session id is refused after %s', async (_what, act) => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const old = (await browser.cookies()).foyer_session;
    const thief = foyer.browser();
    await thief.jar.setCookie(`foyer_session=${old}; Path=/`, foyer.url);
    expect(await isSignedIn(thief)).toBe(true);
    await act(browser, user);
    expect(await isSignedIn(thief)).toBe(false);
  });

  it('The old provider session id is refused after the sign-out', async () => {
    const [user, browser] = [await foyer.addUser(), foyer.browser()];
    await withTokens(user, browser);
    const old = await browser.cookies();
    await browser.post('/logout');
    const thief = await foyer.signedIn(user);
    await thief.post('/logout');
    for (const name of ['foyer_op', 'foyer_op.sig', 'foyer_session']) {
      await thief.jar.setCookie(`${name}=${old[name]}; Path=/`, foyer.url);
    }
    expect((await silently(thief)).get('error')).toBe('login_required');
  });

  it('A request in progress during the sign-out does not bring the session back', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const cookie = await browser.jar.getCookieString(foyer.url);
    const page = () => sendRequest(`${foyer.url}/sandbox/search`, { headers: { cookie }, redirect: 'manual' });
    const [, ...pages] = await Promise.all([browser.post('/logout'), ...Array.from({ length: 20 }, page)]);
    await Promise.all(pages.map((answer) => answer.text()));
    expect((await sendRequest(`${foyer.url}/`, { headers: { cookie }, redirect: 'manual' })).status).toBe(200);
  });

  describe('with a second process on the same stores', () => {
    let second: SecondProcess;
    beforeAll(async () => {
      second = await secondProcess(foyer);
    });
    afterAll(() => second?.close());

    it('A sign-out in one process takes effect in the other at once', async () => {
      const [user, browser] = [await foyer.addUser(), foyer.browser()];
      const tokens = await withTokens(user, browser);
      const other = new Visitor(second.port, foyer.url, {}, browser.jar);
      expect((await other.get('/')).status).toBe(303);
      const cookie = await browser.jar.getCookieString(foyer.url);
      expect((await other.post('/logout', {})).status).toBe(303);
      expect((await sendRequest(`${foyer.url}/`, { headers: { cookie }, redirect: 'manual' })).status).toBe(200);
      await expectEnded(tokens, user.id);
    });
  });
});
