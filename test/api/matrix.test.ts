import type { ApiOperation } from '../../server/http/index.ts';
import { removeAllFactors } from '../../server/mfa/index.ts';
import { findUser, insertUserRecord } from '../../server/users/index.ts';
import { type Shop, startShop } from '../billing/steps.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend, type Backend, backends } from '../support/stores.ts';
import { createAnswerCheck, type OpenApi } from './answers.ts';
import { clientCallers } from './client-callers.ts';
import { call, countersHere, examples, inputOf, makePromotionCode, type Named } from './examples.ts';
import type { Caller } from './expected-status.ts';
import { probes, serveProbes } from './probes.ts';
import { sessionCallers } from './session-callers.ts';
import { tokenCallers } from './token-callers.ts';

const callers: Record<string, Caller> = { ...sessionCallers, ...tokenCallers, ...clientCallers };

/** The stores decide what a call does and not who may make it: on the second pair these callers are enough. */
const letIn = [
  'a member’s session on an own page',
  'a member’s token with account',
  'a member’s token with every scope',
  'a client app with every scope',
];
const callersOn = (backend: Backend) =>
  Object.entries(callers).filter(([name]) => backend === anyBackend || letIn.includes(name));

describe.each(backends)('the guard of the JSON API on $name', (backend) => {
  let shop: Shop;
  let foyer: TestFoyer;
  let served: Awaited<ReturnType<typeof serveProbes>>;
  let check: ReturnType<typeof createAnswerCheck>;
  /** Every call with the address that serves it. */
  let calls: { operation: ApiOperation; base: string; real: boolean }[];

  beforeAll(async () => {
    shop = await startShop(backend, { CARD_LIMIT_ADDRESS: '100000' });
    foyer = shop.foyer;
    await makePromotionCode(shop);
    served = await serveProbes(foyer);
    await foyer.addClient({ id: 'known', logoutUris: ['http://127.0.0.1:9/out'] });
    check = createAnswerCheck((await (await sendRequest(`${foyer.url}/openapi.json`)).json()) as OpenApi);
    calls = [
      ...foyer.app.operations.map((operation) => ({ operation, base: foyer.url, real: true })),
      ...probes.map((operation) => ({ operation, base: served.url, real: false })),
      // It ends what the caller is signed in by.
    ].sort((a, b) => Number(a.operation.id === 'changePassword') - Number(b.operation.id === 'changePassword'));
  });
  afterAll(async () => {
    served?.server.close();
    await shop?.close();
  });

  beforeEach(() => foyer.deps.kv.delete(...countersHere(calls.map(({ operation }) => operation))));

  const turnOff = (userId: string) =>
    foyer.deps.database.transaction((trx) => removeAllFactors(trx, toUserId(userId), foyer.deps.now()));

  async function nameMember(id: string | undefined): Promise<Named> {
    const { database, now } = foyer.deps;
    const user = (id === undefined ? undefined : await findUser(database.db, toUserId(id))) ?? (await foyer.addUser());
    const record = await database.transaction((trx) => insertUserRecord(trx, user.id, now()));
    return { userId: user.id, email: user.email, recordId: record.id };
  }

  it('Every call with input has an example in this test', () => {
    const without = calls.filter(
      ({ operation: { id, params, query, body } }) => (params ?? query ?? body) && !examples[id],
    );
    expect(without).toEqual([]);
    expect(calls.length).toBeGreaterThan(8);
    expect(callersOn(backend).length).toBe(backend === anyBackend ? Object.keys(callers).length : letIn.length);
  });

  it.each(callersOn(backend))(
    'Every call by %s is answered as its access rule says',
    async (_name, { credentials, expected }: Caller) => {
      const given = await credentials(foyer);
      const named = await nameMember(given.is);
      const wrong: object[] = [];
      for (const { operation, base, real } of calls) {
        const { access, method, path } = operation;
        const want = access === 'public' ? 200 : expected(access, method);
        const input = await inputOf(operation, named, shop, want === 200);
        const answer = await call(base, operation, given, input);
        // What this turned on, the calls behind it would ask for; the row is about who calls.
        if (operation.id === 'verifyTOTPToken' && answer.status === 200) await turnOff(named.userId);
        const told = answer.headers.get('www-authenticate');
        const late = want === 401 && access !== 'public' && access.recent !== undefined && given.is !== undefined;
        const body = (await answer.clone().json()) as { principal?: string; sub?: string };
        const faults = [
          ...(answer.status === want ? [] : [`answered ${answer.status} instead of ${want}`]),
          ...(real ? await check(operation, answer) : []),
          // RFC 6750, section 3: the refusal says what is missing.
          ...(want === 401 && !told?.startsWith('Bearer realm=') ? ['401 without a challenge'] : []),
          ...(late && !told?.includes('max_age=600') ? ['a late call without max_age'] : []),
          ...(given.headers?.authorization && answer.headers.getSetCookie().length > 0
            ? ['a token touched a cookie']
            : []),
          ...(want === 200 && access !== 'public' && given.is && (body.principal ?? body.sub ?? given.is) !== given.is
            ? ['acted for somebody else']
            : []),
        ];
        if (faults.length > 0) wrong.push({ call: `${method} ${path}`, access, faults, body });
      }
      expect(wrong).toEqual([]);
    },
  );
});
