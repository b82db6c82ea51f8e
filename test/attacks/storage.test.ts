import { decodeJwt } from 'jose';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, refreshOf, relyingParty, signInFor, store } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

const idOf = (address: string) => new URL(address).searchParams.get('authorization_code') ?? '';

/** `security.md`, rule 2: POST /storage trusts nothing posted. */
describe.each(backends)('POST /storage on $name', (backend) => {
  let foyer: TestFoyer;
  let app: RelyingParty;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    app = await relyingParty(foyer, await foyer.addClient());
  });
  afterAll(() => foyer?.close());

  const pathOf = async (answer: Response) =>
    new URL(((await answer.json()) as { data: { location: string } }).data.location, foyer.url).pathname;
  const begin = async (browser: Browser, parameters?: Record<string, string>) => {
    const begun = await app.begin(parameters);
    return { begun, at: locationOf(await browser.get(begun.url, { from: 'cross-site' })) };
  };
  const subOf = async (browser: Browser, begun: Awaited<ReturnType<RelyingParty['begin']>>, resume: string) => {
    const tokens = await app.redeem(locationOf(await browser.get(resume)), begun);
    return { sub: tokens.claims()?.sub, authTime: tokens.claims()?.auth_time };
  };

  it('The signed-in user gets the code, even with another user’s tokens and account in the body', async () => {
    const [victim, mallory] = [await foyer.addUser(), await foyer.addUser()];
    const first = await app.begin();
    const stolen = await app.redeem(await signInFor(foyer.browser(), first, victim), first);
    const browser = await foyer.signedIn(mallory);
    const { begun, at } = await begin(browser, { prompt: 'login' });
    foyer.passTime(1_000);
    await browser.post(`/sign-in${new URL(at).search}`, { username: mallory.email, password });
    const answer = await browser.postJson('/storage', {
      authorization_code: idOf(at),
      id_token: stolen.id_token,
      access_token: stolen.access_token,
      refresh_token: stolen.refresh_token,
      account: victim.id,
      accountId: victim.id,
      login: { accountId: victim.id },
      sub: victim.id,
    });
    const { data } = (await answer.json()) as { data: { location: string } };
    expect(await subOf(browser, begun, data.location)).toMatchObject({ sub: mallory.id });
  });

  it('Forged tokens without a session sign in no user', async () => {
    const visitor = foyer.browser();
    const { at } = await begin(visitor);
    const unsigned = `${btoa('{"alg":"none"}')}.${btoa('{"sub":"somebody"}')}.`;
    const answer = await visitor.postJson('/storage', { authorization_code: idOf(at), id_token: unsigned });
    expect(await pathOf(answer)).toBe('/');
    const resumed = await visitor.get(`/oauth2/authorize/${idOf(at)}`);
    expect(locationOf(resumed)).not.toMatch(/[?&]code=/);
  });

  it.each([
    ['prompt=login', { prompt: 'login' }],
    ['max_age=0', { max_age: '0' }],
    ['max_age that has passed', { max_age: '1' }],
  ] as [string, Record<string, string>][])('An old session does not satisfy %s', async (_what, wanted) => {
    const user = await foyer.addUser();
    // The library uses the clock of the machine, so the session must be ten seconds old there.
    foyer.passTime(Date.now() - foyer.deps.now() - 10_000);
    const browser = await foyer.signedIn(user);
    foyer.passTime(10_000);
    const { begun, at } = await begin(browser, wanted);
    expect(new URL(at).pathname).toBe('/');
    expect((await browser.get(at)).status).toBe(200);
    expect(await pathOf(await browser.postJson('/storage', { authorization_code: idOf(at) }))).toBe('/');
    const early = await browser.get(`/oauth2/authorize/${idOf(at)}`);
    expect(locationOf(early)).not.toMatch(/[?&]code=/);

    // A new sign-in satisfies the request, and the client app gets its time.
    const again = await begin(browser, wanted);
    foyer.passTime(5_000);
    await browser.post(`/sign-in${new URL(again.at).search}`, { username: user.email, password });
    const resume = await store(browser, new URL(`/verify-user${new URL(again.at).search}`, foyer.url).href);
    const signedInAt = Math.floor(foyer.deps.now() / 1000);
    const told = await subOf(browser, again.begun, resume);
    expect(told.sub).toBe(user.id);
    expect(Math.abs(Number(told.authTime) - signedInAt)).toBeLessThanOrEqual(1);
    expect(begun.url).not.toBe(again.begun.url);
  });

  it('Another user cannot answer a request that names a user by id_token_hint', async () => {
    const [wanted, other] = [await foyer.addUser(), await foyer.addUser()];
    const first = await app.begin();
    const hint = (await app.redeem(await signInFor(foyer.browser(), first, wanted), first)).id_token ?? '';
    const browser = await foyer.signedIn(other);
    const { at } = await begin(browser, { id_token_hint: hint });
    expect(await pathOf(await browser.postJson('/storage', { authorization_code: idOf(at) }))).toBe('/');
    const early = locationOf(await browser.get(`/oauth2/authorize/${idOf(at)}`));
    expect(early).not.toMatch(/[?&]code=/);
    foyer.passTime(1_000);
    await browser.post(`/sign-in${new URL(early).search}`, { username: other.email, password });
    const home = new URL(locationOf(await browser.get(await store(browser, early))));
    expect([home.searchParams.get('code'), home.searchParams.get('error')]).toEqual([null, 'login_required']);
    // The user that the request names is accepted.
    const { begun, at: again } = await begin(browser, { id_token_hint: hint });
    foyer.passTime(1_000);
    await browser.post(`/sign-in${new URL(again).search}`, { username: wanted.email, password });
    expect((await subOf(browser, begun, await store(browser, again))).sub).toBe(wanted.id);
  });

  it('Repeated posts to /storage do not renew auth_time', async () => {
    const user = await foyer.addUser();
    const browser = foyer.browser();
    const { begun, at } = await begin(browser);
    await browser.post(`/sign-in${new URL(at).search}`, { username: user.email, password });
    const signedInAt = Math.floor(foyer.deps.now() / 1000);
    foyer.passTime(600_000);
    await store(browser, at);
    const resume = await store(browser, at);
    const { authTime } = await subOf(browser, begun, resume);
    expect(Math.abs(Number(authTime) - signedInAt)).toBeLessThanOrEqual(1);
  });

  it('A replay after the code was given begins a new request, and no second code is given', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const { at } = await begin(browser, { prompt: 'login' });
    foyer.passTime(1_000);
    await browser.post(`/sign-in${new URL(at).search}`, { username: user.email, password });
    const resume = await store(browser, at);
    expect(locationOf(await browser.get(resume))).toMatch(/[?&]code=/);
    const again = await browser.postJson('/storage', { authorization_code: idOf(at) });
    const second = await browser.get(resume);
    for (const anew of [await pathOf(again), new URL(locationOf(second)).pathname]) expect(anew).toBe('/begin-again');
    // The client app requires a fresh sign-in, so Foyer asks again.
    const page = await (await browser.get(locationOf(second))).text();
    const landing = locationOf(await browser.get(refreshOf(page)));
    expect(await (await browser.get(landing)).text()).toContain('name="password"');
  });

  it('An answer of one user does not continue for another user who signed in meanwhile', async () => {
    const [first, second] = [await foyer.addUser(), await foyer.addUser()];
    const browser = foyer.browser();
    const { at } = await begin(browser);
    await browser.post(`/sign-in${new URL(at).search}`, { username: first.email, password });
    const resume = await store(browser, at);
    await browser.post('/sign-in', { username: second.email, password });
    const answer = await browser.get(resume);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('location')).toBeNull();
    // The second user does not become the first.
    const silent = await app.begin({ prompt: 'none' });
    expect((await subOf(browser, silent, silent.url)).sub).toBe(second.id);
  });

  it('A post for a request that waits for consent does not replace the sign-in by an old one', async () => {
    const partner = await relyingParty(foyer, await foyer.addClient({ thirdParty: true }));
    const [stale, fresh] = [await foyer.addUser(), await foyer.addUser()];
    const old = await foyer.signedIn(stale);
    const browser = foyer.browser();
    foyer.passTime(60_000);
    const begun = await partner.begin({ prompt: 'login consent' });
    const at = locationOf(await browser.get(begun.url));
    foyer.passTime(1_000);
    await browser.post(`/sign-in${new URL(at).search}`, { username: fresh.email, password });
    const consent = locationOf(await browser.get(await store(browser, at)));
    expect(new URL(consent).pathname).toBe('/consent');
    // The cookie of the old session replaces the fresh one.
    const stolen = (await old.cookies()).foyer_session;
    await browser.jar.setCookie(`foyer_session=${stolen}; Path=/`, foyer.url);
    expect(await pathOf(await browser.postJson('/storage', { authorization_code: idOf(consent) }))).toBe('/consent');
    const allowed = await browser.post('/consent', { authorization_code: idOf(consent), decision: 'allow' });
    // The repeated request requires a fresh sign-in first.
    const page = await (await browser.get(locationOf(allowed))).text();
    const landing = locationOf(await browser.get(refreshOf(page)));
    expect(await (await browser.get(landing)).text()).toContain('name="password"');
    const resumed = await browser.get(`/oauth2/authorize/${idOf(consent)}`);
    expect(resumed.headers.get('location') ?? '').not.toMatch(/[?&]code=/);
  });

  it('The answer of /storage names only this site and the registered address of the client app', async () => {
    const browser = await foyer.signedIn(await foyer.addUser());
    const { at } = await begin(browser, { prompt: 'login' });
    const query = 'redirect=https://evil.example/&redirect_uri=https://evil.example/&state=x';
    const answer = await browser.postJson(`/storage?${query}`, { authorization_code: idOf(at) });
    const { data } = (await answer.json()) as { data: { location: string } };
    expect(new URL(data.location, foyer.url).origin).toBe(foyer.url);
  });

  it('An ID token contains only the claims of its scopes', async () => {
    const user = await foyer.addUser();
    const narrow = await relyingParty(
      foyer,
      await foyer.addClient({ scopes: ['openid'], idTokenClaims: true }),
      'openid',
    );
    const begun = await narrow.begin();
    const tokens = await narrow.redeem(await signInFor(foyer.browser(), begun, user), begun);
    expect(Object.keys(decodeJwt(tokens.id_token ?? ''))).not.toEqual(expect.arrayContaining(['email']));
  });
});
