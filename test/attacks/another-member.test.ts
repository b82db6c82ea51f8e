import type { ApiOperation } from '../../server/http/index.ts';
import { insertUserRecord, type User } from '../../server/users/index.ts';
import { type Credentials, signedInto } from '../api/callers.ts';
import { billing, call, countersHere, inputOf, makePromotionCode, type Named } from '../api/examples.ts';
import { type Shop, startShop } from '../billing/steps.ts';
import { password } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { strictest } from './bad-input.ts';

/** Calls whose input names no user: they concern the caller. */
const meansOneself: ReadonlySet<string> = new Set([
  ...['userInfo', 'userAttributes', 'updateUserAttributes', 'changeEmail', 'changePhone', 'changePassword'],
  ...['currentUser', 'currentSession', 'getPreferredMFA', 'setPreferredMFA', 'setupTOTP', 'listClients', 'coupon'],
  ...['listMessages', 'readAllMessages'],
]);

describe.each(strictest())('the JSON API on data of another member, on $name', (backend) => {
  let shop: Shop;
  let calls: ApiOperation[];
  let bob: Named;
  let hisOwn: string[];

  async function member(): Promise<{ user: User; named: Named }> {
    const { addUser, deps } = shop.foyer;
    const user = await addUser();
    const { id } = await deps.database.transaction((trx) => insertUserRecord(trx, user.id, deps.now()));
    return { user, named: { userId: user.id, email: user.email, recordId: id } };
  }

  beforeAll(async () => {
    shop = await startShop(backend, { CARD_LIMIT_ADDRESS: '100000' });
    await makePromotionCode(shop);
    bob = (await member()).named;
    const { customer, subscription, invoice } = await billing(bob, shop, true);
    hisOwn = [...Object.values(bob), customer, subscription, invoice];
    calls = shop.foyer.app.operations
      .filter(({ access }) => access !== 'public' && access.member)
      // This call ends the caller's own session.
      .toSorted((a, b) => Number(a.id === 'changePassword') - Number(b.id === 'changePassword'));
  });
  afterAll(() => shop?.close());
  beforeEach(() => shop.foyer.deps.kv.delete(...countersHere(calls)));

  /** Every row of the victim. */
  async function hisRows(): Promise<unknown> {
    const { db } = shop.foyer.deps.database;
    const tables = [
      ...(['userRecords', 'memberships', 'orders', 'purchases', 'notifications', 'billingDetails'] as const),
      ...(['termsAcceptances', 'totpAuthenticators', 'recoveryCodes'] as const),
    ];
    const of = (table: (typeof tables)[number]) =>
      db.selectFrom(table).selectAll().where('userId', '=', toUserId(bob.userId)).execute();
    const user = await db.selectFrom('users').selectAll().where('id', '=', toUserId(bob.userId)).execute();
    return [user, ...(await Promise.all(tables.map(of)))];
  }

  it.each<[string, () => Promise<Credentials>]>([
    [
      'a session',
      async () => ({
        browser: await shop.foyer.signedIn((await member()).user),
        headers: { 'sec-fetch-site': 'same-origin', origin: shop.foyer.url },
      }),
    ],
    [
      'a client app’s token',
      async () => {
        const { tokens } = await signedInto(shop.foyer);
        return { headers: { authorization: `Bearer ${tokens.access_token}` } };
      },
    ],
  ])('No call with %s of another user reads or changes a user’s data, whatever the call names', async (_by, enter) => {
    const credentials = await enter();
    const wrong: unknown[] = [];
    for (const operation of calls) {
      const input = await inputOf(operation, bob, shop, true);
      const before = await hisRows();
      const answer = await call(shop.foyer.url, operation, credentials, input);
      const text = await answer.text();
      const refused = [400, 403, 404, 409].includes(answer.status);
      const isEmpty = text === '{"data":{"listUsers":{"items":[],"nextToken":null}}}';
      const faults = [
        ...(refused || isEmpty || meansOneself.has(operation.id) ? [] : [`answered ${answer.status}`]),
        ...hisOwn.filter((own) => text.includes(own)),
        ...(JSON.stringify(await hisRows()) === JSON.stringify(before) ? [] : ['changed what is his']),
      ];
      if (faults.length > 0) wrong.push({ call: operation.id, faults, text });
    }
    expect(wrong).toEqual([]);
    expect(calls.length).toBeGreaterThan(20);
  });

  it('The attacked user still signs in and reads the own record afterwards', async () => {
    const own = shop.foyer.browser();
    expect((await own.post('/sign-in', { username: bob.email, password })).status).toBe(303);
    const answer = await own.postJson('/user/listUserWithPoolId', {});
    expect(await answer.text()).toContain(bob.recordId);
  });
});
