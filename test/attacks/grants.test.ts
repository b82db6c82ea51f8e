import * as oidc from 'openid-client';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type Begun, type RelyingParty, refreshOf, relyingParty, signInFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

const idOf = (address: string) => new URL(address).searchParams.get('authorization_code') ?? '';

/**
 * `security.md`, rule 5: a grant has only requested and registered scopes, and a third-party app needs the user's
 * consent.
 */
describe.each(backends)('what a client app is granted, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const scopeAllowed = ['openid', 'email'];
  const partner = async (scope?: string) => relyingParty(foyer, await foyer.addClient({ thirdParty: true }), scope);
  const native = async () =>
    relyingParty(foyer, await foyer.addClient({ native: true, redirectUris: ['com.example.app:/callback'] }));
  /** Signs in and opens the consent page. @returns its address */
  const toConsent = async (browser: Browser, begun: Begun) => {
    const at = locationOf(await browser.get(begun.url));
    expect(new URL(at).pathname).toBe('/consent');
    return at;
  };
  const silently = async (browser: Browser, app: RelyingParty) => {
    const begun = await app.begin({ prompt: 'none' });
    return { begun, home: new URL(locationOf(await browser.get(begun.url))) };
  };

  it.each([
    ['a scope that the client never registered', 'openid email phone'],
    ['a scope of another client', 'openid offline_access profile'],
    ['the member’s account, by the name that Cognito gives it', 'openid email aws.cognito.signin.user.admin'],
    ['what only client apps themselves are given', 'openid email users:read'],
    ['every scope there is', 'openid profile email phone offline_access'],
  ])('A client app is not granted %s', async (_what, scope) => {
    const app = await relyingParty(foyer, await foyer.addClient({ scopes: scopeAllowed }), scope);
    const browser = await foyer.signedIn(await foyer.addUser());
    const home = new URL(locationOf(await browser.get((await app.begin()).url)));
    expect([home.searchParams.get('code'), home.searchParams.get('error')]).toEqual([null, 'invalid_scope']);
  });

  it('A client app is granted nothing for unknown scopes', async () => {
    const app = await relyingParty(
      foyer,
      await foyer.addClient({ scopes: scopeAllowed }),
      'openid email admin users:delete __proto__ constructor',
    );
    const user = await foyer.addUser();
    const begun = await app.begin();
    const tokens = await app.redeem(await signInFor(foyer.browser(), begun, user), begun);
    expect(tokens.scope?.split(' ').sort()).toEqual(['email', 'openid']);
    const told = await oidc.tokenIntrospection(app.config, tokens.access_token);
    expect(String(told.scope).split(' ').sort()).toEqual(['email', 'openid']);
  });

  it('A refresh grants no more scopes than the sign-in', async () => {
    const app = await relyingParty(foyer, await foyer.addClient(), 'openid');
    const begun = await app.begin();
    const tokens = await app.redeem(await signInFor(foyer.browser(), begun, await foyer.addUser()), begun);
    await expect(
      oidc.refreshTokenGrant(app.config, tokens.refresh_token ?? '', { scope: 'openid email phone' }),
    ).rejects.toMatchObject({ error: 'invalid_scope' });
  });

  it('A narrower request of the same user after a wider one is granted only its own scopes', async () => {
    const client = await foyer.addClient();
    const [wide, narrow] = [await relyingParty(foyer, client), await relyingParty(foyer, client, 'openid')];
    const [user, browser] = [await foyer.addUser(), foyer.browser()];
    const first = await wide.begin();
    await wide.redeem(await signInFor(browser, first, user), first);
    const second = await narrow.begin();
    const tokens = await narrow.redeem(await signInFor(browser, second, user), second);
    expect(tokens.scope).toBe('openid');
    const info = await oidc.fetchUserInfo(narrow.config, tokens.access_token, user.id);
    expect(info.email).toBeUndefined();
  });

  it('A post to /storage instead of a consent grants a third party nothing', async () => {
    const app = await partner();
    const browser = await foyer.signedIn(await foyer.addUser());
    const id = idOf(await toConsent(browser, await app.begin()));
    await browser.postJson('/storage', { authorization_code: id, consent: {}, decision: 'allow', scope: 'openid' });
    await browser.post('/storage', { authorization_code: id, decision: 'allow' });
    expect(locationOf(await browser.get(`/oauth2/authorize/${id}`))).not.toMatch(/[?&]code=/);
  });

  it('A consent posted for a sign-in request grants a third party nothing', async () => {
    const app = await partner();
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const id = idOf(locationOf(await browser.get((await app.begin({ prompt: 'login' })).url)));
    const answer = await browser.post('/consent', { authorization_code: id, decision: 'allow' });
    expect(answer.status).toBe(400);
    expect(locationOf(await browser.get(`/oauth2/authorize/${id}`))).not.toMatch(/[?&]code=/);
  });

  it.each([
    ['nothing', {}],
    ['“deny”', { decision: 'deny' }],
    ['something else', { decision: 'ALLOW' }],
  ])('A third party is granted nothing when the user answers %s', async (_what, fields: Record<string, string>) => {
    const app = await partner();
    const browser = await foyer.signedIn(await foyer.addUser());
    const id = idOf(await toConsent(browser, await app.begin()));
    const answer = await browser.post('/consent', { authorization_code: id, ...fields });
    const next = answer.status === 200 ? refreshOf(await answer.text()) : `/oauth2/authorize/${id}`;
    expect(locationOf(await browser.get(next))).not.toMatch(/[?&]code=/);
    expect((await silently(browser, app)).home.searchParams.get('code')).toBeNull();
  });

  it('A third party gets no silent grant without an earlier consent and none wider than that consent', async () => {
    const client = await foyer.addClient({ thirdParty: true });
    const [narrow, wide] = [await relyingParty(foyer, client, 'openid'), await relyingParty(foyer, client)];
    const [user, browser] = [await foyer.addUser(), foyer.browser()];
    await browser.post('/sign-in', { username: user.email, password });
    expect((await silently(browser, narrow)).home.searchParams.get('error')).toBe('consent_required');
    const begun = await narrow.begin();
    await narrow.redeem(await signInFor(browser, begun, user), begun);
    expect((await silently(browser, narrow)).home.searchParams.has('code')).toBe(true);
    expect((await silently(browser, wide)).home.searchParams.get('error')).toBe('consent_required');
  });

  it('A third party’s grant of one sign-in does not serve another user on the same browser', async () => {
    const app = await partner();
    const [first, second, browser] = [await foyer.addUser(), await foyer.addUser(), foyer.browser()];
    const begun = await app.begin();
    await app.redeem(await signInFor(browser, begun, first), begun);
    await browser.post('/sign-in', { username: second.email, password });
    expect((await silently(browser, app)).home.searchParams.get('error')).toBe('consent_required');
  });

  it('A native app gets no silent code, even when the user has allowed it before', async () => {
    const app = await native();
    const [user, browser] = [await foyer.addUser(), foyer.browser()];
    const begun = await app.begin();
    expect((await app.redeem(await signInFor(browser, begun, user), begun)).claims()?.sub).toBe(user.id);
    const { home } = await silently(browser, app);
    expect([home.searchParams.get('code'), home.searchParams.get('error')]).toEqual([null, 'interaction_required']);
    // Without prompt=none the user sees the page again.
    await toConsent(browser, await app.begin());
  });

  it('A consent of one user does not pass to another user who signs in before it is used', async () => {
    const app = await partner();
    const [mallory, victim] = [await foyer.addUser(), await foyer.addUser()];
    const browser = await foyer.signedIn(mallory);
    const id = idOf(await toConsent(browser, await app.begin()));
    const allowed = await browser.post('/consent', { authorization_code: id, decision: 'allow' });
    const resume = refreshOf(await allowed.text());
    await browser.post('/sign-in', { username: victim.email, password });
    const answer = await browser.get(resume, { from: 'cross-site' });
    expect(answer.headers.get('location') ?? '').not.toMatch(/[?&]code=/);
    expect((await silently(browser, app)).home.searchParams.get('error')).toBe('consent_required');
  });

  it('A consent page opened by one user cannot be answered by another', async () => {
    const app = await partner();
    const browser = await foyer.signedIn(await foyer.addUser());
    const other = await foyer.addUser();
    const id = idOf(await toConsent(browser, await app.begin()));
    await browser.post('/sign-in', { username: other.email, password });
    const answer = await browser.post('/consent', { authorization_code: id, decision: 'allow' });
    // The other user gets the consent page again.
    expect(new URL(locationOf(answer)).pathname).toBe('/begin-again');
    expect((await silently(browser, app)).home.searchParams.get('error')).toBe('consent_required');
  });

  it('prompt=consent is satisfied neither by an earlier consent nor by /storage', async () => {
    const app = await relyingParty(foyer, await foyer.addClient());
    const [user, browser] = [await foyer.addUser(), foyer.browser()];
    const begun = await app.begin();
    await app.redeem(await signInFor(browser, begun, user), begun);
    const id = idOf(await toConsent(browser, await app.begin({ prompt: 'consent' })));
    await browser.postJson('/storage', { authorization_code: id });
    expect(locationOf(await browser.get(`/oauth2/authorize/${id}`))).not.toMatch(/[?&]code=/);
  });

  it('A consent that is sent twice at once continues once, without an error', async () => {
    const app = await partner();
    const browser = await foyer.signedIn(await foyer.addUser());
    const begun = await app.begin();
    const id = idOf(await toConsent(browser, begun));
    const fields = { authorization_code: id, decision: 'allow' };
    const [one, two] = await Promise.all([browser.post('/consent', fields), browser.post('/consent', fields)]);
    expect([one.status, two.status]).toEqual([200, 200]);
    const home = locationOf(await browser.get(refreshOf(await two.text())));
    expect((await app.redeem(home, begun)).access_token).toBeTruthy();
  });

  it('Several client apps that sign a user in for the first time at once all keep their grants', async () => {
    const apps = await Promise.all([1, 2, 3].map(async () => relyingParty(foyer, await foyer.addClient())));
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const all = await Promise.all(
      apps.map(async (app) => {
        const begun = await app.begin();
        return { app, tokens: await app.redeem(locationOf(await browser.get(begun.url)), begun) };
      }),
    );
    for (const { app, tokens } of all) {
      const info = await oidc.fetchUserInfo(app.config, tokens.access_token, user.id);
      expect(info.sub).toBe(user.id);
    }
  });
});
