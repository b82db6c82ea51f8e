import fc from 'fast-check';
import { loadPlans } from '../../config/plans.ts';
import {
  createCatalogue,
  effectivePlan,
  type Membership,
  type SubscriptionStatus,
  toMembershipState,
  trialPlanKey,
} from '../../server/billing/index.ts';
import { toPlanId, toStripeInvoiceId } from '../support/ids.ts';

const catalogue = createCatalogue(loadPlans());
const dayMs = 24 * 60 * 60_000;
const nowMs = Date.UTC(2026, 10, 1);
const graceMs = catalogue.graceDays * dayMs;

type Facts = Pick<
  Membership,
  | 'status'
  | 'pricedPlanId'
  | 'paidPlanId'
  | 'basePlanId'
  | 'trialEnd'
  | 'unpaidSince'
  | 'unpaid'
  | 'periodEnd'
  | 'paidUntil'
  | 'cancelAtPeriodEnd'
  | 'nextPlanId'
>;
const growth: Facts = {
  status: 'active',
  pricedPlanId: toPlanId('12'),
  paidPlanId: toPlanId('12'),
  basePlanId: null,
  trialEnd: null,
  unpaidSince: null,
  unpaid: null,
  periodEnd: nowMs + 10 * dayMs,
  paidUntil: nowMs + 10 * dayMs,
  cancelAtPeriodEnd: false,
  nextPlanId: null,
};
const withoutGrace: Facts['unpaid'] = {
  invoiceId: toStripeInvoiceId('in_1'),
  amountCents: 49_900,
  why: 'failed',
  attempts: 1,
  nextAttemptAt: null,
  url: null,
  withoutGrace: true,
};

/** The state and the plan that it gives. */
function stateOf(facts: Partial<Facts>) {
  const all = { ...growth, ...facts };
  return [toMembershipState(all, catalogue, nowMs).kind, effectivePlan(all, catalogue, nowMs)];
}

describe('the state of a membership', () => {
  const [initial, free, partner] = [trialPlanKey, toPlanId('1'), toPlanId('101')];
  const owing = { unpaidSince: nowMs - dayMs };
  const never = { paidPlanId: null };

  const examples: [string, Partial<Facts>, string, string | null][] = [
    ['a paid plan', {}, 'paid', '12'],
    ['a price that is not paid yet', { pricedPlanId: toPlanId('14') }, 'paid', '12'],
    ['a paid plan that another follows', { nextPlanId: toPlanId('10') }, 'changing', '12'],
    ['a cancelled plan', { cancelAtPeriodEnd: true }, 'ending', '12'],
    [
      'a change in its last days, as it was scheduled formerly',
      { status: 'trialing', pricedPlanId: toPlanId('10'), nextPlanId: toPlanId('10') },
      'changing',
      '12',
    ],
    ['a plan that has left the catalogue', { paidPlanId: toPlanId('99') }, 'over', null],
    ['a renewal that failed a day ago', { status: 'past_due', ...owing }, 'grace', '12'],
    ['a renewal whose days of grace are over', { status: 'past_due', unpaidSince: nowMs - graceMs }, 'resting', null],
    ['a second renewal that fails', { status: 'past_due', ...owing, unpaid: withoutGrace }, 'resting', null],
    ['a subscription that Stripe calls unpaid', { status: 'unpaid', ...owing }, 'resting', null],
    ['the same with a partner’s plan', { status: 'unpaid', ...owing, basePlanId: partner }, 'resting', '101'],
    ['a paused plan', { status: 'paused' }, 'paused', null],
    ['a paused plan beside a free one', { status: 'paused', basePlanId: free }, 'paused', '1'],
    ['a plan that has ended', { status: 'canceled' }, 'over', null],
    ['a subscription that never began', { status: 'incomplete_expired', ...never }, 'none', null],
    ['no subscription', { status: 'none', ...never, pricedPlanId: null }, 'none', null],
    ['a free plan', { status: 'none', ...never, pricedPlanId: null, basePlanId: free }, 'lasting', '1'],
    ['a partner’s plan after a paid one', { status: 'canceled', basePlanId: partner }, 'lasting', '101'],
    ['a trial', { status: 'trialing', pricedPlanId: initial, ...never, trialEnd: nowMs + 1 }, 'trial', null],
    ['a trial on its last millisecond', { status: 'paused', pricedPlanId: initial, ...never }, 'trial-over', null],
    ['a trial that goes on free of charge', { status: 'active', pricedPlanId: initial, ...never }, 'trial-over', null],
    [
      'a free plan within the trial',
      { status: 'trialing', pricedPlanId: initial, ...never, trialEnd: nowMs + 1, basePlanId: free },
      'lasting',
      '1',
    ],
  ];

  it.each(examples)(
    'The state of %s follows from Stripe’s facts, and so does the plan',
    (_name, facts, kind, planId) => {
      expect(stateOf(facts)).toEqual([kind, planId]);
    },
  );

  it('The examples have each of the eleven states', () => {
    expect(new Set(examples.map(([, , kind]) => kind)).size).toBe(11);
  });

  const statuses: SubscriptionStatus[] = [
    ...(['none', 'trialing', 'active', 'past_due', 'paused', 'unpaid'] as const),
    ...(['incomplete', 'incomplete_expired', 'canceled'] as const),
  ];
  const planIds = [...catalogue.plans.map(({ id }) => id), toPlanId('unknown')];
  const anyFacts = fc.record<Facts>({
    status: fc.constantFrom(...statuses),
    pricedPlanId: fc.constantFrom(null, initial, ...planIds),
    paidPlanId: fc.constantFrom(null, ...planIds),
    basePlanId: fc.constantFrom(null, free, partner),
    trialEnd: fc.constantFrom(null, nowMs - 1, nowMs, nowMs + 1),
    unpaidSince: fc.constantFrom(null, nowMs - graceMs, nowMs - graceMs + 1, nowMs),
    unpaid: fc.constantFrom(null, withoutGrace),
    periodEnd: fc.constantFrom(null, nowMs + dayMs),
    paidUntil: fc.constantFrom(null, nowMs + dayMs),
    cancelAtPeriodEnd: fc.boolean(),
    nextPlanId: fc.constantFrom(null, ...planIds),
  });

  it('Every combination of Stripe’s facts has exactly one state, and only four states give the paid plan', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const state = toMembershipState(facts, catalogue, nowMs);
        const gives = ['paid', 'changing', 'ending', 'grace'].includes(state.kind);
        expect(effectivePlan(facts, catalogue, nowMs)).toBe(gives ? facts.paidPlanId : facts.basePlanId);
      }),
      { numRuns: 3_000 },
    );
  });

  it('Nothing that Stripe does not charge again is called paid, changing or in its days of grace', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const { kind } = toMembershipState(facts, catalogue, nowMs);
        fc.pre(['paid', 'changing', 'grace'].includes(kind));
        expect(['active', 'trialing', 'past_due']).toContain(facts.status);
        expect(facts.pricedPlanId).not.toBe(initial);
      }),
    );
  });
});
