import type { ApiOperation } from '../../server/http/index.ts';
import { insertUserRecord } from '../../server/users/index.ts';
import { type Shop, startShop } from '../billing/steps.ts';
import { toUserId } from '../support/ids.ts';
import { anyBackend } from '../support/stores.ts';
import { bearer, type Credentials, everyScope, service, signedInto } from './callers.ts';
import { call, countersHere, type Example, inputOf, makePromotionCode, type Named } from './examples.ts';

const strict = 'handling=strict';

describe('fields that a call of the JSON API does not know', () => {
  let shop: Shop;
  let named: Named;
  let member: Credentials;
  let app: Credentials;
  let operations: ApiOperation[];
  beforeAll(async () => {
    shop = await startShop(anyBackend, { CARD_LIMIT_ADDRESS: '100000' });
    const { foyer } = shop;
    await makePromotionCode(shop);
    const { user, tokens } = await signedInto(foyer, everyScope);
    member = bearer(tokens.access_token);
    const { token } = await service(foyer, [
      'users:read',
      'users:write',
      'messages:send',
      'plans:read',
      'payments:write',
    ]);
    app = bearer(token);
    const { database, now } = foyer.deps;
    const record = await database.transaction((trx) => insertUserRecord(trx, toUserId(user.id), now()));
    named = { userId: user.id, email: user.email, recordId: record.id };
    operations = foyer.app.operations.filter(({ body, id }) => body && !/graphql/i.test(id));
  });
  afterAll(() => shop?.close());
  beforeEach(() => shop.foyer.deps.kv.delete(...countersHere(operations)));

  /** The set-up of an example can be made once. */
  const inputs = new Map<string, Example>();
  async function send(operation: ApiOperation, credentials: Credentials, { prefer }: { prefer?: string }) {
    const example = inputs.get(operation.id) ?? (await inputOf(operation, named, shop, false));
    inputs.set(operation.id, example);
    const { body = {} } = example;
    const unknown = { frist_name: 'x' };
    const changed = Array.isArray(body) ? [{ ...body[0], ...unknown }] : { ...body, ...unknown };
    const headers = { ...credentials.headers, ...(prefer && { prefer }) };
    return call(shop.foyer.url, operation, { ...credentials, headers }, { ...example, body: changed });
  }

  it('Every call with a body refuses them by their names with Prefer: handling=strict', async () => {
    expect(operations.length).toBeGreaterThan(20);
    for (const operation of operations) {
      const answers = [
        await send(operation, member, { prefer: strict }),
        await send(operation, app, { prefer: strict }),
      ];
      const refused = answers.filter(({ status }) => status === 400);
      expect([operation.id, answers.map(({ status }) => status)]).toEqual([
        operation.id,
        expect.arrayContaining([400]),
      ]);
      for (const answer of refused) {
        const { errors } = (await answer.json()) as { errors?: { name: string }[] };
        const names = errors?.map(({ name }) => name);
        if (operation.id === 'updateUserAttributes') expect(names).toEqual(['body']);
        else expect(names).toEqual([expect.stringMatching(/^body(\.0)?\.frist_name$/)]);
        if (operation.id !== 'updateUserAttributes') expect(answer.headers.get('preference-applied')).toBe(strict);
      }
    }
  });

  it('Without it a call ignores them, and names them in a header, without their values', async () => {
    const find = (id: string) => operations.find((one) => one.id === id) as ApiOperation;
    for (const id of ['listPlans', 'sentMessage', 'listUserWithPoolId'].filter((one) => find(one))) {
      const answer = await send(find(id), app, {});
      expect([id, answer.status]).toEqual([id, 200]);
      expect(answer.headers.get('foyer-ignored-fields')).toBe('body.frist_name');
      expect(answer.headers.get('preference-applied')).toBeNull();
    }
  });

  it('Attack: names that a header cannot carry are not repeated, and many are cut', async () => {
    const listPlans = operations.find(({ id }) => id === 'listPlans') as ApiOperation;
    const names = ['a\r\nset-cookie: x=1', 'ü', 'x'.repeat(500), ...Array.from({ length: 40 }, (_, n) => `n${n}`)];
    const body = Object.fromEntries(names.map((name) => [name, 1]));
    const answer = await call(shop.foyer.url, listPlans, app, { body });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(answer.headers.get('foyer-ignored-fields')?.split(', ')).toEqual(
      Array.from({ length: 10 }, (_, n) => `body.n${n}`),
    );
    const refused = await call(shop.foyer.url, listPlans, { headers: { ...app.headers, prefer: strict } }, { body });
    expect(refused.status).toBe(400);
    expect(((await refused.json()) as { errors: unknown[] }).errors).toHaveLength(10);
  });
});
