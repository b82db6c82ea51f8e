import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { setDisabled } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, signInFor, store } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

/** `security.md`, rule 3: a live session does not skip the dispatcher. */
describe.each(backends)('a live session on $name', (backend) => {
  let foyer: TestFoyer;
  let app: RelyingParty;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    app = await relyingParty(foyer, await foyer.addClient());
  });
  afterAll(() => foyer?.close());

  /** Signed in, and the client app has had a code already. */
  async function known(): Promise<{ user: User; browser: Browser; tokens: oidc.TokenEndpointResponse }> {
    const user = await foyer.addUser();
    const browser = foyer.browser();
    const begun = await app.begin();
    return { user, browser, tokens: await app.redeem(await signInFor(browser, begun, user), begun) };
  }
  const set = (user: User, values: { acceptedTosVersion?: number | null; emailVerified?: number }) =>
    foyer.stores.database.db.updateTable('users').set(values).where('id', '=', user.id).execute();
  const silently = async (browser: Browser) => {
    const home = new URL(locationOf(await browser.get((await app.begin({ prompt: 'none' })).url)));
    return { code: home.searchParams.get('code'), error: home.searchParams.get('error') };
  };

  it('A user who must accept new terms gets no silent code', async () => {
    const { user, browser } = await known();
    await set(user, { acceptedTosVersion: 0 });
    expect(await silently(browser)).toEqual({ code: null, error: 'interaction_required' });
  });

  it('A user who must accept new terms is redirected to them, and /storage does not bypass them', async () => {
    const { user, browser } = await known();
    await set(user, { acceptedTosVersion: null });
    const begun = await app.begin();
    const at = locationOf(await browser.get(begun.url));
    expect(new URL(at).pathname).toBe('/');
    expect(new URL(locationOf(await browser.get(at))).pathname).toBe('/tos');
    const id = new URL(at).searchParams.get('authorization_code');
    const answer = await browser.postJson('/storage', { authorization_code: id });
    const { data } = (await answer.json()) as { data: { location: string } };
    expect(new URL(data.location, foyer.url).pathname).toBe('/tos');
    const early = await browser.get(`/oauth2/authorize/${id}`);
    expect(locationOf(early)).not.toMatch(/[?&]code=/);
    // Declining changes nothing; accepting redirects to the client app.
    const declined = await browser.post('/tos', { decision: 'decline' });
    expect(declined.status).toBe(200);
    expect((await silently(browser)).code).toBeNull();
    const next = locationOf(await browser.get(early.headers.get('location') ?? ''));
    const accepted = await browser.post(`/tos${new URL(next).search}`, {
      decision: 'accept',
      version: String(foyer.deps.terms.number),
    });
    const home = locationOf(await browser.get(await store(browser, locationOf(accepted))));
    expect((await app.redeem(home, begun)).claims()?.sub).toBe(user.id);
  });

  it('A user whose terms change between /storage and the redirect back gets no code', async () => {
    const user = await foyer.addUser();
    const browser = foyer.browser();
    const at = locationOf(await browser.get((await app.begin()).url));
    await browser.post(`/sign-in${new URL(at).search}`, { username: user.email, password });
    const resume = await store(browser, at);
    await set(user, { acceptedTosVersion: 0 });
    expect(locationOf(await browser.get(resume))).not.toMatch(/[?&]code=/);
  });

  it('A disabled user gets no authorization code and every token of the user is revoked', async () => {
    const { user, browser, tokens } = await known();
    await setDisabled(foyer.stores.database.db, user.id, { disabledAt: foyer.deps.now(), nowMs: foyer.deps.now() });
    expect(await silently(browser)).toEqual({ code: null, error: 'login_required' });
    const at = locationOf(await browser.get((await app.begin()).url));
    expect((await browser.get(at)).status).toBe(200);
    const id = new URL(at).searchParams.get('authorization_code');
    const answer = await browser.postJson('/storage', { authorization_code: id });
    expect(((await answer.json()) as { data: { location: string } }).data.location).toMatch(/^\/\?/);
    expect(locationOf(await browser.get(`/oauth2/authorize/${id}`))).not.toMatch(/[?&]code=/);
    await expect(oidc.fetchUserInfo(app.config, tokens.access_token, user.id)).rejects.toThrow();
    await expect(oidc.refreshTokenGrant(app.config, tokens.refresh_token ?? '')).rejects.toThrow();
  });

  it('A user who is disabled between /storage and the redirect back gets no code', async () => {
    const user = await foyer.addUser();
    const browser = foyer.browser();
    const at = locationOf(await browser.get((await app.begin()).url));
    await browser.post(`/sign-in${new URL(at).search}`, { username: user.email, password });
    const resume = await store(browser, at);
    await setDisabled(foyer.stores.database.db, user.id, { disabledAt: foyer.deps.now(), nowMs: foyer.deps.now() });
    const answer = await browser.get(resume);
    expect(answer.headers.get('location') ?? '').not.toMatch(/[?&]code=/);
    expect(answer.status).toBeLessThan(500);
  });

  it('A code that was given before the user was disabled is refused', async () => {
    const user = await foyer.addUser();
    const begun = await app.begin();
    const home = await signInFor(foyer.browser(), begun, user);
    await setDisabled(foyer.stores.database.db, user.id, { disabledAt: foyer.deps.now(), nowMs: foyer.deps.now() });
    await expect(app.redeem(home, begun)).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  it('A user whose address is no longer confirmed gets no silent code', async () => {
    const { user, browser } = await known();
    await set(user, { emailVerified: 0 });
    expect(await silently(browser)).toEqual({ code: null, error: 'interaction_required' });
  });
});
