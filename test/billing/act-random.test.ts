import fc from 'fast-check';
import { anyBackend } from '../support/stores.ts';
import { faultsOf, passDays, startWithCard } from './act-judge.ts';
import { faults, type Saved, type Sweep } from './act-sweep.ts';
import { acts, buy, planOf } from './plan-actions.ts';

/**
 * The same judgement as in act-sweep.test.ts for states that no one has thought of: any acts and days come first, then one act
 * is interrupted and not repeated. A higher `FOYER_FAULT_SEEDS` has more runs; a failure prints its seed and path.
 */

const runs = Math.max(6, Math.floor(Number(process.env.FOYER_FAULT_SEEDS ?? 0) / 2));
const names = Object.keys(acts);
const codes = ['m-99', 'y-900', 'm-499', 'y-5000', 'm-899', 'y-8000'] as const;

type Step =
  | { kind: 'act'; name: string }
  | { kind: 'buy'; code: (typeof codes)[number] }
  | { kind: 'days'; days: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('buy' as const), code: fc.constantFrom(...codes) }) },
  // Leaving is an end; what comes after it is no act on a plan any more.
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('act' as const),
      name: fc.constantFrom(...names.filter((name) => !name.startsWith('leave'))),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('days' as const), days: fc.constantFrom(1, 5, 13, 28) }) },
);

describe('an interrupted action that is not repeated, after any earlier actions', () => {
  let sweep: Sweep;
  let base: Saved;
  beforeAll(async () => {
    ({ sweep, base } = await startWithCard(anyBackend));
  });
  afterAll(() => sweep?.close());

  async function take(todo: Step): Promise<void> {
    if (todo.kind === 'days') return passDays(sweep, todo.days);
    const member = { billing: sweep.billing, user: sweep.user, database: sweep.database };
    if (todo.kind === 'buy') await buy(member, todo.code);
    else await acts[todo.name]?.act(member);
  }

  it(
    'An interrupted action leaves the next charge as before, as wanted, or none',
    async () => {
      expect(planOf('m-99').amountCents).toBe(9_900);
      let judged = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 1, maxLength: 6 }),
          fc.constantFrom(...names),
          async (before, name) => {
            await sweep.restore(base);
            for (const todo of before) await take(todo);
            const saved = await sweep.save();
            const { act } = acts[name] ?? {};
            const [untouched, wanted] = [await sweep.run(saved, undefined), await sweep.run(saved, act)];
            expect(wanted.left).toEqual([]);
            for (let n = 1; n <= wanted.writes; n += 1) {
              for (const fault of faults) {
                const run = await sweep.run(saved, act, { fault, n });
                judged += 1;
                expect({ n, fault, broken: faultsOf(name, run, { before: untouched, wanted }) }).toMatchObject({
                  broken: [],
                });
              }
            }
          },
        ),
        {
          numRuns: runs,
          verbose: 1,
          ...(process.env.FOYER_MONEY_SEED && { seed: Number(process.env.FOYER_MONEY_SEED) }),
        },
      );
      expect(judged).toBeGreaterThan(0);
    },
    runs * 60_000,
  );
});
