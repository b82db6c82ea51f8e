import { loadPlans } from '../../config/plans.ts';
import { createCatalogue, toMembershipState } from '../../server/billing/index.ts';
import { trialNoticeDays } from '../../server/billing/subscription/plan-trial-rules.ts';
import { toPlanId } from '../support/ids.ts';

const dayMs = 24 * 60 * 60_000;
const hourMs = 60 * 60_000;
const end = Date.UTC(2027, 0, 15);
const catalogue = createCatalogue(loadPlans());

/** A plan that is tried until `end`. */
const tried = {
  status: 'trialing',
  pricedPlanId: toPlanId('10'),
  paidPlanId: null,
  triedPlanId: toPlanId('10'),
  triedUntil: end,
  periodEnd: end,
  cancelAtPeriodEnd: false,
} as const;
type Facts = Parameters<typeof toMembershipState>[0];

const stateOf = (change: Partial<Facts>, nowMs: number) => {
  const state = toMembershipState({ ...tried, ...change }, catalogue, nowMs);
  return 'plan' in state ? { ...state, plan: state.plan?.id } : state;
};

describe('the state of a plan that is tried', () => {
  it.each<[string, Partial<Facts>, number, object]>([
    ['during the trial', {}, end - dayMs, { kind: 'trying', plan: '10', until: end, ends: false }],
    ['canceled', { cancelAtPeriodEnd: true }, end - dayMs, { kind: 'trying', plan: '10', until: end, ends: true }],
    [
      'the end has passed, and Stripe was not read',
      {},
      end + hourMs,
      { kind: 'trying', plan: '10', until: end, ends: false },
    ],
    ['the same for too long', {}, end + 6 * hourMs, { kind: 'none' }],
    [
      'its first invoice is a draft',
      { status: 'active' },
      end + hourMs / 2,
      { kind: 'trying', plan: '10', until: end, ends: false },
    ],
    ['that draft lasts for too long', { status: 'active' }, end + 6 * hourMs, { kind: 'none' }],
    [
      'canceled while that is charged',
      { status: 'active', cancelAtPeriodEnd: true, periodEnd: end + 31 * dayMs },
      end + hourMs,
      { kind: 'trying', plan: '10', until: end + 31 * dayMs, ends: true },
    ],
    [
      'its first charge is paid',
      { status: 'active', paidPlanId: toPlanId('10'), paidUntil: end + 31 * dayMs, periodEnd: end + 31 * dayMs },
      end + 2 * hourMs,
      { kind: 'paid', plan: '10', until: end + 31 * dayMs },
    ],
    ['its first charge has failed', { status: 'past_due' }, end + 2 * hourMs, { kind: 'resting', plan: '10' }],
    ['ended', { status: 'canceled' }, end + hourMs, { kind: 'none' }],
    ['another plan follows', { triedPlanId: null, status: 'active' }, end - dayMs, { kind: 'none' }],
  ])('Its state: %s', (_what, change, nowMs, expected) => expect(stateOf(change, nowMs)).toMatchObject(expected));

  it('A trial by another price than that of its plan gives nothing', () => {
    expect(stateOf({ pricedPlanId: toPlanId('13') }, end - dayMs)).toEqual({ kind: 'none' });
  });

  it.each([
    [14, 7],
    [8, 7],
    [7, 3],
    [4, 3],
    [3, undefined],
    [1, undefined],
  ])('Of %i days, the notice comes %j days before the first charge', (days, notice) =>
    expect(trialNoticeDays(days * dayMs)).toBe(notice),
  );
});
