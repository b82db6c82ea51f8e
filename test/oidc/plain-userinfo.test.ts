import { request } from 'node:http';
import Provider from 'oidc-provider';
import { deleteClient, findClient, updateClient } from '../../server/oidc/index.ts';
import { StoreUnavailable } from '../../server/store/index.ts';
import { setDisabled, type User } from '../../server/users/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { type RelyingParty, relyingParty, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

interface Answer {
  status: number | undefined;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** All headers are sent as they are given. */
function ask(foyer: TestFoyer, headers: Record<string, string>, query = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(`${foyer.url}/oauth2/userInfo${query}`, { headers }, (answer) => {
      let body = '';
      answer.setEncoding('utf8');
      answer.on('data', (text: string) => {
        body += text;
      });
      answer.on('end', () => {
        const { date: _, 'x-request-id': __, ...others } = answer.headers;
        resolve({ status: answer.statusCode, headers: others, body });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

const sorted = (json: string) => Object.entries(JSON.parse(json) as object).toSorted(([a], [b]) => (a < b ? -1 : 1));

describe.each(backends)('plain userinfo on $name', (backend) => {
  const scopes = ['openid', 'profile', 'email', 'phone', 'address', 'membership'];
  let foyer: TestFoyer;
  let user: User;
  let client: RelyingParty;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { PROFILE_FIELDS: 'nickname,website' });
    user = await foyer.addUser({ givenName: 'Ada', familyName: 'Lovelace', phone: '+4915112345678', locale: 'de' });
    const { db } = foyer.stores.database;
    const fields = { nickname: 'A', website: 'https://ada.example/', middleName: 'B', gender: '1', address: 'Here 1' };
    await db.updateTable('users').set(fields).where('id', '=', user.id).execute();
    client = await relyingParty(foyer, await foyer.addClient({ scopes }), scopes.join(' '));
  });
  afterAll(() => foyer?.close());

  /** The library answers what is not plain: here a scheme in small letters. */
  async function expectSame(token: string, status: number, isPlain = status === 200): Promise<string> {
    const reached = jest.spyOn(Provider.prototype, 'createContext');
    const plain = await ask(foyer, { authorization: `Bearer ${token}` });
    expect(reached).toHaveBeenCalledTimes(isPlain ? 0 : 1);
    reached.mockRestore();
    const library = await ask(foyer, { authorization: `bearer ${token}` });
    expect(plain.status).toBe(status);
    expect(sorted(plain.body)).toEqual(sorted(library.body));
    const lengths = { 'content-length': String(Buffer.byteLength(library.body)) };
    expect(plain.headers).toEqual({ ...library.headers, ...(status === 200 && lengths) });
    return plain.body;
  }

  it.each([
    'openid',
    'openid profile',
    'openid email phone',
    'openid profile email phone address membership',
    'openid offline_access email',
  ])('With the scope %s the claims and headers are those of the library', async (scope) => {
    const { access_token } = await tokensFor(client, foyer.browser(), user, { scope });
    await expectSame(access_token, 200);
  });

  it('Fields of the profile that are not switched on are left out', async () => {
    const { access_token } = await tokensFor(client, foyer.browser(), user);
    const claims: unknown = JSON.parse(await expectSame(access_token, 200));
    expect(claims).toMatchObject({ nickname: 'A', website: 'https://ada.example/', gender: 'female' });
    expect(claims).not.toHaveProperty('middle_name');
  });

  it.each([
    ['names fewer scopes', 200, '?scope=openid%20email'],
    ['names a scope that the token lacks', 403, '?scope=openid%20groups'],
    ['names scopes twice', 400, '?scope=openid&scope=email'],
    ['has another token', 400, '?access_token=other'],
  ])('A call whose query %s is the library’s: %i', async (_, status, query) => {
    const { access_token } = await tokensFor(client, foyer.browser(), user);
    const plain = await ask(foyer, { authorization: `Bearer ${access_token}` }, query);
    const library = await ask(foyer, { authorization: `bearer ${access_token}` }, query);
    expect(plain).toEqual({ ...library, status });
    if (status === 200) expect(Object.keys(JSON.parse(plain.body) as object)).not.toContain('address');
  });

  it('A claim that the request names is answered too', async () => {
    const app = await foyer.addClient({ scopes, claimsWithoutScope: true });
    const asking = await relyingParty(foyer, app);
    const claims = JSON.stringify({ userinfo: { email: null } });
    const { access_token } = await tokensFor(asking, foyer.browser(), user, { scope: 'openid', claims });
    expect(JSON.parse(await expectSame(access_token, 200, false))).toEqual({ sub: user.id, email: user.email });
  });

  const endings: [what: string, end: (ids: { userId: User['id']; clientId: string }) => Promise<unknown>][] = [
    [
      'the grant has ended',
      ({ userId }) => foyer.stores.database.db.deleteFrom('oidc').where('accountId', '=', userId).execute(),
    ],
    [
      'the user is disabled',
      ({ userId }) => setDisabled(foyer.stores.database.db, userId, { disabledAt: Date.now(), nowMs: Date.now() }),
    ],
    [
      'the user is gone',
      ({ userId }) => foyer.stores.database.db.deleteFrom('users').where('id', '=', userId).execute(),
    ],
    ['the client app is gone', ({ clientId }) => deleteClient(foyer.stores.database.db, toClientId(clientId))],
    [
      'the client app is for members of another plan',
      async ({ clientId }) => {
        const { db } = foyer.stores.database;
        const registered = await findClient(db, toClientId(clientId));
        if (!registered) throw new Error('no client');
        await updateClient(db, { ...registered, required_plans: ['another'] }, { nowMs: Date.now() });
      },
    ],
  ];

  it.each(endings)('The first call after %s is refused', async (_, end) => {
    const app = await relyingParty(foyer, await foyer.addClient());
    const own = await foyer.addUser();
    const { access_token } = await tokensFor(app, foyer.browser(), own);
    await expectSame(access_token, 200);
    await end({ userId: own.id, clientId: app.id });
    await expectSame(access_token, 401);
  });

  it('An unknown token and an expired one are refused', async () => {
    const { access_token } = await tokensFor(client, foyer.browser(), user);
    await expectSame('A'.repeat(43), 401);
    const laterMs = Date.now() + 61 * 60_000;
    jest.spyOn(Date, 'now').mockReturnValue(laterMs);
    try {
      await expectSame(access_token, 401);
    } finally {
      jest.restoreAllMocks();
    }
  });

  it('While a store is away the call is refused after one attempt, as the library refuses it', async () => {
    const { access_token } = await tokensFor(client, foyer.browser(), user);
    const away = jest.spyOn(foyer.stores.kv, 'getConsumable').mockRejectedValue(new StoreUnavailable('away'));
    try {
      const plain = await ask(foyer, { authorization: `Bearer ${access_token}` });
      expect(away).toHaveBeenCalledTimes(1);
      const library = await ask(foyer, { authorization: `bearer ${access_token}` });
      expect(plain.status).toBe(503);
      expect(plain.body).toBe(library.body);
      for (const name of ['retry-after', 'cache-control', 'content-type'])
        expect([name, plain.headers[name]]).toEqual([name, library.headers[name]]);
    } finally {
      away.mockRestore();
    }
  });
});
