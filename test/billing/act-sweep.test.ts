import { anyBackend, secondBackends } from '../support/stores.ts';
import { faultsOf, passDays, startWithCard } from './act-judge.ts';
import { type Fault, faults, type Saved, type Sweep } from './act-sweep.ts';
import { acts, planOf, tryStarter } from './plan-actions.ts';
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
const cancel: Steps = async ({ billing, user }) => {
  await billing.cancel(user);
};
const resume: Steps = async ({ billing, user }) => {
  await billing.resume(user);
};
const pause: Steps = async ({ billing, user, database }) => {
  const answer = await acts.pause?.act({ billing, user, database });
  if (answer !== 'paused') throw new Error(`not paused: ${answer}`);
};
const tryPlan: Steps = async (sweep) => {
  const began = await tryStarter(sweep);
  if ((began as { kind: string }).kind !== 'paid') throw new Error(`not begun: ${JSON.stringify(began)}`);
};
/** A renewal that is declined; after it the card is good again, so that the next attempt would charge it. */
const failRenewal: Steps = async ({ stripe, billing, user }) => {
  const method = (await billing.getMembership(user.id))?.card?.paymentMethodId ?? '';
  stripe.engine.setCardBehaviour(method, cards.chargeDeclined);
  stripe.engine.advance(20 * dayMs + 3_600_000);
  stripe.engine.setCardBehaviour(method, cards.visa);
  await billing.refresh(user.id);
};
/** An upgrade waits for the answer of the member's bank. */
const askBank: Steps = async (sweep) => {
  await sweep.saveCard(sweep.billing, cards.authenticatesAlways);
  const asked = await sweep.buy('y-5000');
  if ((asked as { kind: string }).kind !== 'action')
    throw new Error(`the bank was not asked: ${JSON.stringify(asked)}`);
};

/** The subscription and its item, as Stripe has them. */
async function atStripe({ library, billing, user }: Sweep) {
  const subscription = await library.subscriptions.retrieve(
    (await billing.getMembership(user.id))?.subscriptionId ?? '',
  );
  const [item] = subscription.items.data;
  if (!item) throw new Error('the subscription has no item');
  return { id: subscription.id, item };
}
/** As an earlier release did: the subscription ends, and its metadata have the next plan. */
const scheduleInMetadata: Steps = async (sweep) => {
  const { id } = await atStripe(sweep);
  const metadata = { foyer_next_plan: planOf('m-99').id };
  await sweep.library.subscriptions.update(id, { cancel_at_period_end: true, metadata });
  await sweep.billing.refresh(sweep.user.id);
};
/** As an earlier release did in the last three days: the next plan's price, from the period's end on. */
const convert: Steps = async (sweep) => {
  const { id, item } = await atStripe(sweep);
  const [next] = (await sweep.library.prices.list({ lookup_keys: ['m-99'] })).data;
  await sweep.library.subscriptions.update(id, {
    items: [{ id: item.id, price: next?.id ?? '' }],
    trial_end: item.current_period_end,
    proration_behavior: 'none',
    trial_settings: { end_behavior: { missing_payment_method: 'create_invoice' } },
    metadata: { foyer_next_plan: planOf('m-99').id, foyer_price_before: item.price.id },
  });
  await sweep.billing.refresh(sweep.user.id);
};
/** A change that was interrupted between its two calls, and whose task an operator has removed. */
const attachSchedule: Steps = async (sweep) => {
  const { id } = await atStripe(sweep);
  await sweep.library.subscriptionSchedules.create({ from_subscription: id });
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
  'a pause is to come': [scale(), days(10), pause],
  'in a pause': [scale(), days(10), pause, days(30)],
  'a downgrade is scheduled': [scale(), downgrade, days(10)],
  'a downgrade begins in two days': [scale(), downgrade, days(28)],
  'the same, with a discount that is too much for it': [scale('LARGE'), downgrade, days(28)],
  'the same, after its old price was raised and archived': [scale(), raisePrice, downgrade, days(28)],
  'the same, then cancelled': [scale(), downgrade, days(28), cancel],
  'the same, then kept': [scale(), downgrade, days(28), resume],
  'a downgrade has begun': [scale(), downgrade, days(35)],
  'the same, then cancelled in its period': [scale(), downgrade, days(35), cancel],
  'a schedule without a change': [scale(), days(10), attachSchedule],
  'an earlier release has scheduled a downgrade': [scale(), days(10), scheduleInMetadata],
  'an earlier release has put the price of a downgrade on the subscription': [scale(), days(28), convert],
  'the same, and it was cancelled': [scale(), days(28), convert, cancel],
  'a plan is tried': [tryPlan, days(3)],
  'the same, then cancelled before its first charge': [tryPlan, days(3), cancel],
  'the same, and another plan is bought': [tryPlan, days(3), scale(), days(1)],
  'the renewal is not paid': [scale(), days(10), failRenewal],
  'an upgrade waits for the bank': [
    async (sweep) => {
      await sweep.buy('m-499');
    },
    days(10),
    askBank,
  ],
  'an upgrade waits for the bank, and a downgrade was scheduled before': [
    async (sweep) => {
      await sweep.buy('m-499');
    },
    downgrade,
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
    const steps = states['a downgrade begins in two days'] ?? [];
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
      const steps = states['a downgrade begins in two days'] ?? [];
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
      const steps = states['a downgrade begins in two days'] ?? [];
      const saved = await stateOf(sweep, base, steps);
      const names = ['cancel', 'resume', 'take the free plan', 'leave', 'change to Growth'];
      const { broken } = await sweepActs(sweep, saved, { names, kinds: ['unreachable', 'killed after'] });
      expect(broken).toEqual([]);
    }, 120_000);
  });
}
