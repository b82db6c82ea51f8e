import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import type { ClientRequest } from '../../server/oidc/index.ts';
import { findClient, updateClient } from '../../server/oidc/index.ts';
import { sha256 } from '../../server/shared/index.ts';
import { setDisabled, type User } from '../../server/users/index.ts';
import { type Answer, basicOf } from '../attacks/wire.ts';
import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import {
  type App,
  appOf,
  authenticationOf,
  exchange,
  exchangeByLibrary,
  type Fields,
  recordOf,
  refreshRecordOf,
} from './plain-exchange-steps.ts';

interface Tokens {
  access_token: string;
  refresh_token?: string;
  id_token: string;
}

const bodyOf = (fields: Fields) => new URLSearchParams(fields).toString();
const tokensIn = (answer: Answer) => JSON.parse(answer.text) as Tokens;
const without = (names: readonly string[], record: object) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));

describe.each(backends)('the plain exchange of a code on $name', (backend) => {
  const scopes = ['openid', 'profile', 'email', 'phone', 'address', 'membership', 'offline_access'];
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { PROFILE_FIELDS: 'nickname,website' });
    user = await foyer.addUser({ givenName: 'Ada', familyName: 'Lovelace', phone: '+4915112345678', locale: 'de' });
    const { db } = foyer.stores.database;
    const fields = { nickname: 'A', middleName: 'B', gender: '1', address: 'Here 1' };
    await db.updateTable('users').set(fields).where('id', '=', user.id).execute();
    browser = await foyer.signedIn(user);
  });
  afterAll(() => foyer?.close());

  const appWith = async (request: Partial<ClientRequest> = {}, scope = 'openid profile email phone') =>
    appOf(foyer, await foyer.addClient({ scopes, ...request }), { browser, user, scope });

  /** Exchanges a code by each way. */
  async function exchangeBoth(app: App, change: Fields = {}, headers: Fields = {}) {
    const own = authenticationOf(app.client);
    const ask = async (by: typeof exchange) =>
      by(foyer, bodyOf({ ...(await app.newCode()), ...own.fields, ...change }), { ...own.headers, ...headers });
    return { plain: await ask(exchange), library: await ask(exchangeByLibrary) };
  }

  /** The times are compared within seconds, since two exchanges take place one after the other. */
  function expectSameRecord(plain: object, library: object): void {
    const changing = ['iat', 'exp', 'jti', 'iiat', 'nonce'];
    expect(without(changing, plain)).toEqual(without(changing, library));
    expect(Object.keys(plain).toSorted()).toEqual(Object.keys(library).toSorted());
    const lifetime = (record: object) => Number(Reflect.get(record, 'exp')) - Number(Reflect.get(record, 'iat'));
    expect(Math.abs(lifetime(plain) - lifetime(library))).toBeLessThanOrEqual(1);
  }

  const kinds: [what: string, request: Partial<ClientRequest>, scope: string][] = [
    ['a confidential client', {}, 'openid profile email phone'],
    ['a client that asks for openid alone', {}, 'openid'],
    ['a client whose id tokens have claims', { idTokenClaims: true }, scopes.slice(0, -1).join(' ')],
    ['a client with ES256', { idTokenAlg: 'ES256', idTokenClaims: true }, 'openid profile'],
    ['a legacy client', { legacy: true }, 'openid email address'],
    ['a public client', { public: true }, 'openid email'],
    ['a third party’s client', { thirdParty: true }, 'openid email'],
    ['a third party’s client with offline access', { thirdParty: true }, 'openid email offline_access'],
    ['a client that hears of sign-outs', { backchannelLogoutUri: 'http://127.0.0.1:9/out' }, 'openid email'],
  ];

  it.each(kinds)('The tokens of %s are those of the library', async (_, request, scope) => {
    const app = await appWith(request, scope);
    const { plain, library } = await exchangeBoth(app);
    expect([plain.status, plain.byLibrary, library.status, library.byLibrary]).toEqual([200, false, 200, true]);
    const changing = ['date', 'x-request-id', 'content-length'];
    expect(without(changing, plain.headers)).toEqual(without(changing, library.headers));
    expect(plain.headers['content-length']).toBe(String(Buffer.byteLength(plain.text)));
    const [ours, theirs] = [tokensIn(plain), tokensIn(library)];
    const values = ['access_token', 'refresh_token', 'id_token'];
    expect(Object.keys(ours).toSorted()).toEqual(Object.keys(theirs).toSorted());
    expect(without(values, ours)).toEqual(without(values, theirs));
    expect(ours.access_token).toMatch(/^[\w-]{43}$/);
    expect(decodeProtectedHeader(ours.id_token)).toEqual(decodeProtectedHeader(theirs.id_token));
    expectSameRecord(decodeJwt(ours.id_token), decodeJwt(theirs.id_token));
    await jwtVerify(ours.id_token, createRemoteJWKSet(new URL(`${foyer.url}/oauth2/jwks`)), { issuer: foyer.url });
    expectSameRecord(await recordOf(foyer, ours.access_token), await recordOf(foyer, theirs.access_token));
    if (theirs.refresh_token !== undefined && ours.refresh_token !== undefined)
      expectSameRecord(
        await refreshRecordOf(foyer, ours.refresh_token),
        await refreshRecordOf(foyer, theirs.refresh_token),
      );
  });

  it('The tokens of a plain exchange open userinfo, are introspected and refreshed', async () => {
    const app = await appWith();
    const { plain } = await exchangeBoth(app);
    const { access_token, refresh_token = '' } = tokensIn(plain);
    expect(await oidc.fetchUserInfo(app.party.config, access_token, user.id)).toMatchObject({ email: user.email });
    expect(await oidc.tokenIntrospection(app.party.config, access_token)).toMatchObject({ active: true, sub: user.id });
    expect(await oidc.refreshTokenGrant(app.party.config, refresh_token)).toHaveProperty('id_token');
  });

  it('openid-client’s own exchange is a plain one, with its nonce in the id token', async () => {
    const app = await appWith();
    const tokens = await tokensFor(app.party, browser, user);
    expect(tokens.claims()).toMatchObject({ sub: user.id, aud: app.client.id });
  });

  it('A secret in the form is accepted as the header is', async () => {
    const app = await appWith();
    const { id, secret } = app.client;
    const body = bodyOf({ ...(await app.newCode()), client_id: id, client_secret: secret ?? '' });
    const answer = await exchange(foyer, body, {});
    expect([answer.status, answer.byLibrary]).toEqual([200, false]);
  });

  const refusals: [
    what: string,
    change: (app: App, fields: Fields) => [Fields, Fields?] | Promise<[Fields, Fields?]>,
  ][] = [
    ['a wrong secret', ({ client }, f) => [f, { authorization: basicOf({ id: client.id, secret: 'foyer_cs_no' }) }]],
    ['an unknown client', (_, f) => [f, { authorization: basicOf({ id: 'nobody-at-all', secret: 'x' }) }]],
    ['two ways to authenticate', ({ client }, f) => [{ ...f, client_secret: client.secret ?? '' }]],
    ['another client id in the form', (_, f) => [{ ...f, client_id: 'other' }]],
    ['a secret that is sent as a public client’s id', ({ client }, f) => [{ ...f, client_id: client.id }, {}]],
    ['a wrong verifier', (_, f) => [{ ...f, code_verifier: 'v'.repeat(43) }]],
    ['a short verifier', (_, f) => [{ ...f, code_verifier: 'v' }]],
    ['no verifier', (_, f) => [without(['code_verifier'], f) as Fields]],
    ['another redirect_uri', (_, f) => [{ ...f, redirect_uri: `${f.redirect_uri}/` }]],
    ['no redirect_uri', (_, f) => [without(['redirect_uri'], f) as Fields]],
    ['an unknown code', (_, f) => [{ ...f, code: 'c'.repeat(43) }]],
    ['another client’s code', async (_, f) => [{ ...f, code: (await (await appWith()).newCode()).code ?? '' }]],
    ['a proof that is none', ({ client }, f) => [f, { ...authenticationOf(client).headers, dpop: 'none' }]],
    ['another grant type', (_, f) => [{ ...f, grant_type: 'password' }]],
  ];

  it.each(refusals)('An exchange with %s is refused by the library, and leaves the code valid', async (_, change) => {
    const app = await appWith();
    const fields = await app.newCode();
    const own = authenticationOf(app.client).headers;
    const [changed, headers = own] = await change(app, fields);
    const plain = await exchange(foyer, bodyOf(changed), headers);
    const library = await exchangeByLibrary(foyer, bodyOf(changed), headers);
    expect(plain.byLibrary).toBe(true);
    expect([plain.status, plain.text]).toEqual([library.status, library.text]);
    expect(plain.status).toBeGreaterThanOrEqual(400);
    const right = await exchange(foyer, bodyOf(fields), own);
    expect([right.status, right.byLibrary]).toEqual([200, false]);
  });

  it('An exchange for a resource is the library’s, which refuses one that is not registered', async () => {
    const app = await appWith();
    const body = bodyOf({ ...(await app.newCode()), resource: 'https://orders.example.com/' });
    const answer = await exchange(foyer, body, authenticationOf(app.client).headers);
    expect([answer.status, answer.byLibrary, answer.text.includes('invalid_target')]).toEqual([400, true, true]);
  });

  it.each(['grant_type', 'code', 'redirect_uri', 'code_verifier', 'client_id'])(
    'A form with %s twice is refused by the library',
    async (name) => {
      const app = await appWith({ public: true });
      const fields: Fields = { ...(await app.newCode()), client_id: app.client.id };
      const answer = await exchange(foyer, `${bodyOf(fields)}&${name}=${encodeURIComponent(fields[name] ?? '')}`, {});
      expect([answer.status, answer.byLibrary]).toEqual([400, true]);
    },
  );

  it('A used code is refused by the library, and ends the grant of its first use', async () => {
    const app = await appWith();
    const body = bodyOf(await app.newCode());
    const { headers } = authenticationOf(app.client);
    const first = await exchange(foyer, body, headers);
    const again = await exchange(foyer, body, headers);
    expect([first.status, first.byLibrary, again.status, again.byLibrary]).toEqual([200, false, 400, true]);
    const { access_token } = tokensIn(first);
    expect(await oidc.tokenIntrospection(app.party.config, access_token)).toEqual({ active: false });
  });

  const endings: [what: string, end: (app: App, member: User) => Promise<unknown>][] = [
    [
      'the grant has ended',
      (_, { id }) => foyer.stores.database.db.deleteFrom('oidc').where('accountId', '=', id).execute(),
    ],
    [
      'the member is disabled',
      (_, { id }) => setDisabled(foyer.stores.database.db, id, { disabledAt: Date.now(), nowMs: Date.now() }),
    ],
    [
      'the client app is for members of another plan',
      async ({ client }) => {
        const { db } = foyer.stores.database;
        const registered = await findClient(db, toClientId(client.id));
        if (!registered) throw new Error('no client');
        await updateClient(db, { ...registered, required_plans: ['another'] }, { nowMs: Date.now() });
      },
    ],
    [
      'the client app must bind its tokens to a key',
      async ({ client }) => {
        const { db } = foyer.stores.database;
        const registered = await findClient(db, toClientId(client.id));
        if (!registered) throw new Error('no client');
        await updateClient(db, { ...registered, dpop_bound_access_tokens: true }, { nowMs: Date.now() });
      },
    ],
  ];

  it.each(endings)('After %s a code is refused by the library', async (_, end) => {
    const member = await foyer.addUser();
    const its = await foyer.signedIn(member);
    const app = await appOf(foyer, await foyer.addClient(), { browser: its, user: member });
    const body = bodyOf(await app.newCode());
    await end(app, member);
    const answer = await exchange(foyer, body, authenticationOf(app.client).headers);
    expect([answer.status, answer.byLibrary]).toEqual([400, true]);
  });

  it('A public client’s code is refused to another public client of the same address', async () => {
    const app = await appWith({ public: true });
    const thief = await foyer.addClient({ public: true, redirectUris: [app.client.redirectUri] });
    const fields = await app.newCode();
    const stolen = await exchange(foyer, bodyOf({ ...fields, client_id: thief.id }), {});
    expect([stolen.status, stolen.byLibrary]).toEqual([400, true]);
    expect((await exchange(foyer, bodyOf({ ...fields, client_id: app.client.id }), {})).status).toBe(200);
  });

  it('An expired code is refused by the library, also while the store still has it', async () => {
    const app = await appWith();
    const fields = await app.newCode();
    const key = `oidc:AuthorizationCode:${sha256(fields.code ?? '')}`;
    expect(await foyer.stores.kv.expire(key, 10 * 60_000)).toBe(true);
    const body = bodyOf(fields);
    const laterMs = Date.now() + 61_000;
    jest.spyOn(Date, 'now').mockReturnValue(laterMs);
    try {
      const answer = await exchange(foyer, body, authenticationOf(app.client).headers);
      expect([answer.status, answer.byLibrary]).toEqual([400, true]);
    } finally {
      jest.restoreAllMocks();
    }
  });
});
