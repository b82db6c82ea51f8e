import { tmpdir } from 'node:os';
import * as oidc from 'openid-client';
import { insertUserRecord, setDisabled, type User } from '../../server/users/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, type Tokens, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('userinfo on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let client: RelyingParty;
  let tokens: Tokens;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser({ givenName: 'Ada', familyName: 'Lovelace', phone: '+4915112345678', locale: 'de' });
    client = await relyingParty(foyer, await foyer.addClient({ idTokenClaims: true }));
    tokens = await tokensFor(client, foyer.browser(), user);
  });
  afterAll(() => foyer?.close());

  const ask = (init: RequestInit = {}, path = '/oauth2/userInfo') => sendRequest(foyer.url + path, init);
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it.each(['GET', 'POST'])('%s with the token in the header answers the claims with no-store', async (method) => {
    const answer = await ask({ method, headers: bearer(tokens.access_token) });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toEqual({
      sub: user.id,
      name: 'Ada Lovelace',
      given_name: 'Ada',
      family_name: 'Lovelace',
      locale: 'de',
      updated_at: Math.floor(user.updatedAt / 1000),
      email: user.email,
      email_verified: true,
      phone_number: '+4915112345678',
      phone_number_verified: false,
    });
  });

  it.each([
    ['openid', ['sub']],
    ['openid email', ['email', 'email_verified', 'sub']],
    ['openid phone', ['phone_number', 'phone_number_verified', 'sub']],
    ['openid profile', ['family_name', 'given_name', 'locale', 'name', 'sub', 'updated_at']],
  ])('The scope %s gives the claims %j at userinfo and in the id token', async (scope, claims) => {
    const own = await tokensFor(client, foyer.browser(), user, { scope });
    expect(own.scope).toBe(scope);
    const info = await oidc.fetchUserInfo(client.config, own.access_token, user.id);
    expect(Object.keys(info).toSorted()).toEqual(claims);
    const protocol = ['iss', 'aud', 'exp', 'iat', 'nonce', 'auth_time', 'amr', 'acr', 'at_hash'];
    const said = Object.keys(own.claims() ?? {}).filter((name) => !protocol.includes(name));
    expect(said.toSorted()).toEqual(claims);
  });

  it.each([
    ['0', undefined],
    ['1', 'female'],
    ['2', 'male'],
    ['3', 'other'],
  ])('The stored gender %s is %s at userinfo and at GET /user/info', async (gender, claim) => {
    const one = await foyer.addUser();
    await foyer.stores.database.db.updateTable('users').set({ gender }).where('id', '=', one.id).execute();
    const browser = await foyer.signedIn(one);
    const tokens = await tokensFor(client, browser, one);
    expect((await oidc.fetchUserInfo(client.config, tokens.access_token, one.id)).gender).toBe(claim);
    expect(((await (await browser.get('/user/info')).json()) as { gender?: string }).gender).toBe(claim);
  });

  it('A claim without a value is left out', async () => {
    const bare = await foyer.addUser({ phone: null });
    const own = await tokensFor(client, foyer.browser(), bare);
    expect(await oidc.fetchUserInfo(client.config, own.access_token, bare.id)).not.toHaveProperty('phone_number');
  });

  it('GET /oauth2/userInfo answers the current data of the user, not that of the sign-in', async () => {
    const changing = await foyer.addUser({ givenName: 'Before' });
    const own = await tokensFor(client, foyer.browser(), changing);
    const { db } = foyer.stores.database;
    await db.updateTable('users').set({ givenName: 'After' }).where('id', '=', changing.id).execute();
    expect(await oidc.fetchUserInfo(client.config, own.access_token, changing.id)).toMatchObject({
      given_name: 'After',
    });
  });

  it.each([
    ['no token', {}, 401, undefined],
    ['an unknown token', bearer('foyer'), 401, 'invalid_token'],
    ['another scheme', { authorization: 'Basic Zm9vOmJhcg==' }, 400, 'invalid_request'],
  ])('A request with %s is refused, and WWW-Authenticate names the error', async (_what, headers, status, error) => {
    const answer = await ask({ headers: headers as Record<string, string> });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer /);
    if (error) expect(answer.headers.get('www-authenticate')).toContain(`error="${error}"`);
  });

  it.each([
    ['/oauth2/userInfo', { headers: bearer('guessed') }, 401],
    ['/oauth2/token', { method: 'POST' }, 400],
    ['/oauth2/introspect', { method: 'POST' }, 400],
    ['/oauth2/revoke', { method: 'POST' }, 400],
    ['/oauth2/par', { method: 'POST' }, 400],
  ])('%s answers the same error in JSON, whatever Accept says', async (path, init: RequestInit, status) => {
    const [api, person] = await Promise.all(
      ['application/json', 'text/html,application/xhtml+xml;q=0.9'].map((accept) =>
        ask({ ...init, headers: { ...init.headers, accept } }, path),
      ),
    );
    expect([api?.status, person?.status]).toEqual([status, status]);
    expect(person?.headers.get('content-type')).toMatch(/^application\/json/);
    expect(person?.headers.get('www-authenticate')).toBe(api?.headers.get('www-authenticate'));
    expect(await person?.json()).toEqual(await api?.json());
  });

  it('A token in the address is refused, because logs would keep it', async () => {
    const answer = await ask({}, `/oauth2/userInfo?access_token=${tokens.access_token}`);
    expect(answer.status).toBe(400);
  });

  it('An id token or a refresh token is refused', async () => {
    for (const token of [tokens.id_token, tokens.refresh_token]) {
      expect((await ask({ headers: bearer(token ?? '') })).status).toBe(401);
    }
  });

  it('Cookies are ignored, so a signed-in browser without a token gets 401', async () => {
    const browser = await foyer.signedIn(user);
    expect((await browser.get('/oauth2/userInfo')).status).toBe(401);
  });

  it('A token of a user who has been disabled since is refused', async () => {
    const leaving = await foyer.addUser();
    const own = await tokensFor(client, foyer.browser(), leaving);
    await setDisabled(foyer.stores.database.db, leaving.id, { disabledAt: foyer.deps.now(), nowMs: foyer.deps.now() });
    expect((await ask({ headers: bearer(own.access_token) })).status).toBe(401);
    await expect(oidc.refreshTokenGrant(client.config, own.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  describe('the claim picture', () => {
    const setImageName = async (at: TestFoyer, { id }: User, imageName: string) => {
      const { database } = at.deps;
      await database.transaction((trx) => insertUserRecord(trx, id, at.deps.now()));
      await database.db.updateTable('userRecords').set({ imageName }).where('userId', '=', id).execute();
    };
    it.each([
      ['MEDIA_URL', () => ({ MEDIA_URL: 'https://media.example.com/m/' }), () => 'https://media.example.com/m/'],
      ['MEDIA_DIR', () => ({ MEDIA_DIR: tmpdir() }), (url: string) => `${url}/media/`],
    ])('With %s the picture of the record is the claim, as in the page header', async (_name, variables, base) => {
      const at = await startFoyer(backend, variables());
      try {
        const pictured = await at.addUser();
        const picture = 'https://provider.example/ada.png';
        await at.deps.database.db.updateTable('users').set({ picture }).where('id', '=', pictured.id).execute();
        const app = await relyingParty(at, await at.addClient());
        const { access_token: token } = await tokensFor(app, at.browser(), pictured);
        const read = async () => (await oidc.fetchUserInfo(app.config, token, pictured.id)).picture;
        expect(await read()).toBe(picture);
        await setImageName(at, pictured, 'members/42 (new).png');
        expect(await read()).toBe(`${base(at.url)}members/42%20(new).png`);
        const info = await (await at.signedIn(pictured)).get('/user/info', { headers: { accept: 'application/json' } });
        expect(await info.json()).toMatchObject({ picture: `${base(at.url)}members/42%20(new).png` });
        const mail = await tokensFor(app, at.browser(), pictured, { scope: 'openid email' });
        expect(await oidc.fetchUserInfo(app.config, mail.access_token, pictured.id)).not.toHaveProperty('picture');
      } finally {
        await at.close();
      }
    });
  });
});
