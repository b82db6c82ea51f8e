import { thorough } from '../support/thorough.ts';
import { cards } from './acts.ts';
import type { Operation } from './operations.ts';
import { runScript } from './run.ts';
import { openShop, type Shop } from './shop.ts';

const base = { member: 0, fault: undefined, returns: false } as const;
const dayMs = 24 * 60 * 60_000;
const buy = (planId: string): Operation => ({
  ...base,
  kind: 'buy',
  planId,
  code: undefined,
  card: cards.good,
  way: 'page',
});
const time = (days: number): Operation => ({ ...base, kind: 'time', ms: days * dayMs });
const leave: Operation = { ...base, kind: 'leave', when: 'period-end' };
const badCard: Operation = { ...base, kind: 'card', card: cards.good, fails: true };
const renewal: Operation = { ...base, kind: 'period', afterMs: dayMs };

describe('a member who leaves and is erased after fourteen days', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
  }, 60_000);
  afterAll(() => shop?.close());

  const standings: [standing: string, acts: Operation[]][] = [
    ['a credit', [buy('11'), buy('12')]],
    ['a scheduled change', [buy('14'), buy('10')]],
    ['an open invoice', [buy('10'), badCard, renewal]],
    ['a payment that waits for the bank', [buy('10'), { ...buy('14'), card: cards.asksAlways } as Operation]],
  ];
  const places = [
    ['one process with files', { hasServers: false, processes: 1 }],
    ['two processes with PostgreSQL and Redis', { hasServers: true, processes: 2 }],
  ] as const;
  const cases = places.flatMap(([where, place]) =>
    standings.map(([standing, acts]) => [standing, where, acts, place] as const),
  );

  it.each(cases)(
    'A member who leaves with %s is never charged again, and the customer is deleted: %s',
    async (_standing, _where, acts, place) => {
      const { findings, erased } = await runScript(shop, {
        operations: [...acts, leave, time(15), time(40)],
        ...place,
      });
      expect(findings).toEqual([]);
      expect(erased).toEqual(['ada@example.com']);
    },
    120_000,
  );

  it('A member who asks for deletion again after the answer was lost is erased, and nothing waits for a sign-in', async () => {
    const lost: Operation = { ...leave, fault: { kind: 'kill soon', n: 1 }, returns: true };
    const { findings, kills, erased } = await runScript(shop, { operations: [buy('10'), lost, time(15)] });
    expect({ findings, kills, erased }).toEqual({ findings: [], kills: 1, erased: ['ada@example.com'] });
  }, 120_000);

  thorough.each([40, 55, 70, 85, 100])(
    'A request for deletion that is killed after %i ms leaves what the pages then announce',
    async (n) => {
      const killed: Operation = { ...base, kind: 'leave', when: 'period-end', fault: { kind: 'kill soon', n } };
      const { findings } = await runScript(shop, { operations: [buy('10'), killed, renewal], hasServers: true });
      expect(findings).toEqual([]);
    },
    120_000,
  );
});
