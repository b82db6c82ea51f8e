import * as oidc from 'openid-client';
import { findClient, updateClient } from '../../server/oidc/index.ts';
import { insertUserRecord } from '../../server/users/index.ts';
import { bearer, service } from '../api/callers.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { anyBackend } from '../support/stores.ts';

describe('attack: a service that wants more than it may', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  async function limited(callsPerMinute: number) {
    const client = await service(foyer, ['users:read']);
    const { db } = foyer.deps.database;
    const stored = await findClient(db, toClientId(client.id));
    if (!stored) throw new Error('no such client');
    await updateClient(db, { ...stored, calls_per_minute: callsPerMinute }, { nowMs: foyer.deps.now() });
    return client;
  }

  const lookUp = (token: string, body: object, path = '/user/listUserWithPoolId') =>
    foyer.browser().request(path, {
      method: 'POST',
      headers: { ...bearer(token).headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const countGood = (answers: readonly Response[]) => answers.filter(({ status }) => status === 200).length;

  it('Forty calls at once, with two tokens, are answered as often as the limit says', async () => {
    const { token, config } = await limited(7);
    const { access_token: second } = await oidc.clientCredentialsGrant(config, { scope: 'users:read' });
    const user = await foyer.addUser();
    const calls = Array.from({ length: 40 }, (_, at) => lookUp(at % 2 === 0 ? token : second, { userId: user.id }));
    const answers = await Promise.all(calls);
    expect(countGood(answers)).toBe(7);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(33);
  });

  it.each([
    '/user/listUserWithPoolId/',
    '/USER/listUserWithPoolId',
    '/user/./listUserWithPoolId',
    '/user/listUserWithPoolId?x=1',
    '/user%2flistUserWithPoolId',
  ])('The spelling %s of the address opens no second limit', async (path) => {
    const { token } = await limited(2);
    const user = await foyer.addUser();
    expect(countGood([await lookUp(token, { userId: user.id }), await lookUp(token, { userId: user.id })])).toBe(2);
    // Elsewhere there are pages alone, which refuse a request from another site.
    expect([403, 404, 429]).toContain((await lookUp(token, { userId: user.id }, path)).status);
  });

  it('A look-up that repeats one member a hundred times has the record once', async () => {
    const { token } = await service(foyer, ['users:read']);
    const user = await foyer.addUser();
    const { database, now } = foyer.deps;
    await database.transaction((trx) => insertUserRecord(trx, user.id, now()));
    const answer = await lookUp(token, { userIds: Array.from({ length: 100 }, () => user.id) });
    const { data } = (await answer.json()) as { data: { Items: { userId: string }[] } };
    expect(data.Items.map(({ userId }) => userId)).toEqual([user.id]);
  });

  it.each([[[null]], [[{}]], [[['x']]], [['']], [['x'.repeat(101)]], [{ length: 3 }], ['abc']])(
    'The ids %j are refused before the database is asked',
    async (userIds) => {
      const { token } = await service(foyer, ['users:read']);
      expect((await lookUp(token, { userIds })).status).toBe(400);
    },
  );
});
