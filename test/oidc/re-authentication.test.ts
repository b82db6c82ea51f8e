import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, type Tokens, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

/** The sessions of Foyer and the provider and the tokens of client apps end together (`security.md`, rule 4). */
describe.each(backends)('a second sign-in in the same browser on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let other: User;
  let browser: Browser;
  let client: RelyingParty;
  let tokens: Tokens;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    [user, other] = [await foyer.addUser(), await foyer.addUser()];
    client = await relyingParty(foyer, await foyer.addClient());
  });
  beforeEach(async () => {
    browser = await foyer.signedIn(user);
    tokens = await tokensFor(client, browser, user);
  });
  afterAll(() => foyer?.close());

  const signIn = (member: User) => browser.post('/sign-in', { username: member.email, password });
  const subject = async () => {
    const begun = await client.begin({ prompt: 'none' });
    return (await client.redeem(locationOf(await browser.get(begun.url)), begun)).claims()?.sub;
  };
  const refresh = (held: Tokens) => oidc.refreshTokenGrant(client.config, held.refresh_token ?? '');

  it('A new sign-in of the same user keeps the clients’ tokens, which then end with the new session', async () => {
    await signIn(user);
    await oidc.fetchUserInfo(client.config, tokens.access_token, user.id);
    const refreshed = await refresh(tokens);
    expect(refreshed.claims()?.sub).toBe(user.id);
    expect(await subject()).toBe(user.id);
    // The token belongs to the new session and ends with it.
    await browser.post('/logout');
    await expect(oidc.refreshTokenGrant(client.config, refreshed.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  it('A fresh sign-in that one client requires keeps the tokens of the other clients', async () => {
    const strict = await relyingParty(foyer, await foyer.addClient());
    const landing = new URL(locationOf(await browser.get((await strict.begin({ prompt: 'login' })).url)));
    await browser.post(`/sign-in${landing.search}`, { username: user.email, password });
    expect((await refresh(tokens)).claims()?.sub).toBe(user.id);
  });

  it('A sign-in of another user ends the first user’s session and revokes its tokens', async () => {
    const before = await browser.jar.clone();
    await signIn(other);
    expect(await subject()).toBe(other.id);
    await expect(refresh(tokens)).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(oidc.fetchUserInfo(client.config, tokens.access_token, user.id)).rejects.toMatchObject({
      status: 401,
    });
    const thief = foyer.browser();
    for (const cookie of await before.getCookies(foyer.url)) await thief.jar.setCookie(cookie, foyer.url);
    expect((await thief.get('/')).status).toBe(200);
  });

  it('A sign-in of another user keeps the first user’s tokens of another browser', async () => {
    const elsewhere = await tokensFor(client, await foyer.signedIn(user), user);
    await signIn(other);
    expect((await refresh(elsewhere)).claims()?.sub).toBe(user.id);
  });

  it('A wrong password ends neither the session nor its tokens', async () => {
    expect((await browser.post('/sign-in', { username: other.email, password: 'wrong' })).status).toBe(400);
    expect(await subject()).toBe(user.id);
    expect((await refresh(tokens)).access_token).toBeTruthy();
  });

  it('Attack: session fixation fails, because each sign-in gives new session ids', async () => {
    const ids = new Set<string>();
    for (let turn = 0; turn < 3; turn += 1) {
      await signIn(user);
      const { foyer_session, foyer_op } = await browser.cookies();
      ids.add(foyer_session ?? '').add(foyer_op ?? '');
    }
    expect(ids.size).toBe(6);
  });
});
