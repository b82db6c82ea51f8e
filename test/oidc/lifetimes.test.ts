import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, signInFor, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** More than the clock skew that the library allows. */
const graceMs = 20_000;

describe.each(backends)('lifetimes on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  let client: RelyingParty;
  const realNow = Date.now.bind(Date);
  /** Moves the clock of this whole process, also for the OpenID library and the client app. */
  const at = (ms: number) => jest.spyOn(Date, 'now').mockImplementation(() => realNow() + ms);
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
    client = await relyingParty(foyer, await foyer.addClient({ logoutUris: ['http://127.0.0.1:9/bye'] }));
  });
  beforeEach(async () => {
    browser = await foyer.signedIn(user);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(() => foyer?.close());

  it('A code expires after one minute', async () => {
    const [early, late] = [await client.begin(), await client.begin()];
    const [first, second] = [await signInFor(browser, early, user), await signInFor(browser, late, user)];
    at(minuteMs - 5_000);
    expect((await client.redeem(first, early)).claims()?.sub).toBe(user.id);
    at(minuteMs + graceMs);
    await expect(client.redeem(second, late)).rejects.toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it('An access token expires after one hour, at userinfo and at introspection', async () => {
    const tokens = await tokensFor(client, browser, user);
    at(hourMs - 5_000);
    await oidc.fetchUserInfo(client.config, tokens.access_token, user.id);
    expect((await oidc.tokenIntrospection(client.config, tokens.access_token)).active).toBe(true);
    at(hourMs + graceMs);
    await expect(oidc.fetchUserInfo(client.config, tokens.access_token, user.id)).rejects.toMatchObject({
      status: 401,
    });
    expect(await oidc.tokenIntrospection(client.config, tokens.access_token)).toEqual({ active: false });
    expect((await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '')).access_token).toBeTruthy();
  });

  it('An expired id token is still a valid hint while its session lives', async () => {
    const tokens = await tokensFor(client, browser, user);
    at(hourMs + graceMs);
    const silent = await client.begin({ prompt: 'none', id_token_hint: tokens.id_token ?? '' });
    expect(new URL(locationOf(await browser.get(silent.url))).searchParams.has('code')).toBe(true);
    const bye = { id_token_hint: tokens.id_token ?? '', post_logout_redirect_uri: 'http://127.0.0.1:9/bye' };
    const ended = await browser.get(oidc.buildEndSessionUrl(client.config, bye).href);
    expect(locationOf(ended)).toBe('http://127.0.0.1:9/bye');
  });

  it('A request at the sign-in page expires after an hour, then starts again, and gets an error page after a day', async () => {
    const fresh = foyer.browser();
    const landing = locationOf(await fresh.get((await client.begin()).url));
    at(hourMs - 5_000);
    expect((await fresh.get(landing)).status).toBe(200);
    at(hourMs + graceMs);
    expect(locationOf(await fresh.get(landing))).toContain('/begin-again?');
    at(24 * hourMs - 5_000);
    expect(locationOf(await fresh.get(landing))).toContain('/begin-again?');
    at(24 * hourMs + graceMs);
    const answer = await fresh.get(landing);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('name="password"');
  });
});
