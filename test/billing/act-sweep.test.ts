import { anyBackend, secondBackends } from '../support/stores.ts';
import { faultsOf, passDays, startWithCard } from './act-judge.ts';
import { type Fault, faults, type Saved, type Sweep } from './act-sweep.ts';
import { acts, planOf } from './plan-actions.ts';
import { cards, dayMs } from './steps.ts';

/**
 * Every act on a plan, in every state of a membership, with each fault at each of its requests to Stripe. The member does not
 * come back. What Stripe will charge next is read from the stand-in's objects: it must be what it would have charged without
 * the act, what the member wanted, or nothing.
 */

type Steps = (sweep: Sweep) => Promise<void>;

const scale =
  (promotion?: string): Steps =>
  async (sweep) => {
    const bought = await sweep.buy('m-899', promotion);
    if ((bought as { kind: string }).kind !== 'paid') throw new Error(`not bought: ${JSON.stringify(bought)}`);
  };
const downgrade: Steps = async (sweep) => {
  await sweep.buy('m-99');
};
const days =
  (count: number): Steps =>
  (sweep) =>
    passDays(sweep, count);
const cancel: Steps = async ({ room, user }) => {
  await room.cancel(user);
};
const resume: Steps = async ({ room, user }) => {
  await room.resume(user);
};
/** A renewal that is declined; after it the card is good again, so that the next attempt would charge it. */
const failRenewal: Steps = async ({ stripe, room, user }) => {
  const method = (await room.getMembership(user.id))?.card?.paymentMethodId ?? '';
  stripe.engine.setCardBehaviour(method, cards.chargeDeclined);
  stripe.engine.advance(20 * dayMs + 3_600_000);
  stripe.engine.setCardBehaviour(method, cards.visa);
  await room.refresh(user.id);
};
/** An upgrade waits for the answer of the member's bank. */
const askBank: Steps = async (sweep) => {
  await sweep.saveCard(sweep.room, cards.authenticatesAlways);
  const asked = await sweep.buy('y-5000');
  if ((asked as { kind: string }).kind !== 'action')
    throw new Error(`the bank was not asked: ${JSON.stringify(asked)}`);
};

/** The operator raises the price: a new one takes the lookup key, and the old one is archived. */
const raisePrice: Steps = async ({ library }) => {
  const [old] = (await library.prices.list({ lookup_keys: ['m-899'] })).data;
  if (!old?.recurring) throw new Error('there is no price to raise');
  const { interval, interval_count } = old.recurring;
  await library.prices.create({
    product: String(old.product),
    currency: old.currency,
    unit_amount: 109_900,
    recurring: { interval, interval_count },
    lookup_key: old.lookup_key ?? '',
    transfer_lookup_key: true,
    metadata: old.metadata,
  });
  await library.prices.update(old.id, { active: false });
};

const states: Record<string, Steps[]> = {
  'on trial': [],
  active: [scale(), days(10)],
  cancelling: [scale(), days(10), cancel],
  'a downgrade is scheduled': [scale(), downgrade, days(10)],
  'a downgrade is scheduled and its price is on the subscription': [scale(), downgrade, days(28)],
  'the same, with a discount that was too much for it': [scale('LARGE'), downgrade, days(28)],
  'the same, after its old price was raised and archived': [scale(), raisePrice, downgrade, days(28)],
  'the same, then cancelled': [scale(), downgrade, days(28), cancel],
  'the same, then kept': [scale(), downgrade, days(28), resume],
  'the renewal is not paid': [scale(), days(10), failRenewal],
  'an upgrade waits for the bank': [
    async (sweep) => {
      await sweep.buy('m-499');
    },
    days(10),
    askBank,
  ],
};

/** @returns what breaks the rule, one line per run */
async function sweepActs(sweep: Sweep, saved: Saved, chosen: { names: string[]; kinds: readonly Fault[] }) {
  const broken: string[] = [];
  let runs = 0;
  const before = await sweep.run(saved, undefined);
  for (const name of chosen.names) {
    const { act } = acts[name] ?? {};
    const wanted = await sweep.run(saved, act);
    const calm = [
      ...wanted.left,
      ...(wanted.answered === undefined ? ['it fails'] : []),
      ...(wanted.dayLater.charged.length > 1 ? ['charged twice'] : []),
    ];
    broken.push(...calm.map((line) => `${name}, without a fault: ${line}`));
    for (let n = 1; n <= wanted.writes; n += 1) {
      for (const fault of chosen.kinds) {
        runs += 1;
        const run = await sweep.run(saved, act, { fault, n });
        const lines = faultsOf(name, run, { before, wanted });
        broken.push(...lines.map((line) => `${name}, request ${n} of ${wanted.writes} ${fault}: ${line}`));
      }
    }
  }
  return { broken, runs };
}

async function stateOf(sweep: Sweep, base: Saved, steps: Steps[]): Promise<Saved> {
  await sweep.restore(base);
  for (const step of steps) await step(sweep);
  return sweep.save();
}

describe('an interrupted action on a plan never raises the next charge', () => {
  let sweep: Sweep;
  let base: Saved;
  beforeAll(async () => {
    ({ sweep, base } = await startWithCard(anyBackend));
  });
  afterAll(() => sweep?.close());

  it.each(Object.keys(states))(
    'An action interrupted at any request by any fault never raises the next charge in the state: %s',
    async (state) => {
      const saved = await stateOf(sweep, base, states[state] ?? []);
      const { broken, runs } = await sweepActs(sweep, saved, { names: Object.keys(acts), kinds: faults });
      expect(broken).toEqual([]);
      expect(runs).toBeGreaterThan(4);
    },
    240_000,
  );

  it.each([
    ['cancel', null],
    ['leave', null],
    ['take the free plan', null],
    ['resume', 89_900],
    ['keep Scale', 89_900],
    ['change to Growth', 49_900],
    ['upgrade to Scale, annual', 800_000],
  ])('Two days before a downgrade, the action %s without a fault makes the next charge %s', async (name, cents) => {
    const steps = states['a downgrade is scheduled and its price is on the subscription'] ?? [];
    const saved = await stateOf(sweep, base, steps);
    const { dayLater, left } = await sweep.run(saved, acts[name]?.act);
    expect([dayLater.next?.cents ?? null, left]).toEqual([cents, []]);
  });

  it.each(['resume', 'keep Scale'])(
    'Two days before a downgrade, the action %s after a price increase keeps the member’s own price',
    async (name) => {
      const steps = states['the same, after its old price was raised and archived'] ?? [];
      const saved = await stateOf(sweep, base, steps);
      const run = await sweep.run(saved, acts[name]?.act);
      expect([run.dayLater.next?.cents, run.left]).toEqual([89_900, []]);
    },
  );

  /** Before: 99.00 for Starter. The old price, 899.00, must not come back. */
  it.each(['cancel', 'change to Growth', 'take the free plan'])(
    'Two days before a downgrade, the action %s never charges 899.00 when Stripe becomes unreachable after one request',
    async (name) => {
      const steps = states['a downgrade is scheduled and its price is on the subscription'] ?? [];
      const saved = await stateOf(sweep, base, steps);
      const before = await sweep.run(saved, undefined);
      expect(before.dayLater.next?.cents).toBe(planOf('m-99').amountCents);
      const run = await sweep.run(saved, acts[name]?.act, { fault: 'unreachable', n: 2 });
      for (const { next } of [run.atOnce, run.dayLater]) expect([undefined, 9_900, 49_900]).toContain(next?.cents);
    },
  );
});

for (const backend of secondBackends) {
  describe(`the same in the last days before a downgrade, on ${backend.name}`, () => {
    let sweep: Sweep;
    let base: Saved;
    beforeAll(async () => {
      ({ sweep, base } = await startWithCard(backend));
    });
    afterAll(() => sweep?.close());

    it('No action in the last days before a downgrade raises the next charge when Stripe is unreachable or Foyer is killed', async () => {
      const steps = states['a downgrade is scheduled and its price is on the subscription'] ?? [];
      const saved = await stateOf(sweep, base, steps);
      const names = ['cancel', 'resume', 'take the free plan', 'leave', 'change to Growth'];
      const { broken } = await sweepActs(sweep, saved, { names, kinds: ['unreachable', 'killed after'] });
      expect(broken).toEqual([]);
    }, 120_000);
  });
}
