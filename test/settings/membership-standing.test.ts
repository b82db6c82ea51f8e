import { loadPlans } from '../../config/plans.ts';
import { createCatalogue, type Membership, type Plan } from '../../server/membership/index.ts';
import { isExpired, toPlanStatus, toTrialStatus } from '../../server/settings/plan-status.ts';
import { toPlanId, toStripeCustomerId, toStripeSubscriptionId, toUserId } from '../support/ids.ts';

const catalogue = createCatalogue(loadPlans());
const nowMs = Date.UTC(2026, 10, 21, 12);
const dayMs = 24 * 60 * 60_000;
const words = ({ name, code }: Plan) => ({ name, line: code, features: [] });

const paid: Membership = {
  userId: toUserId('u'),
  customerId: toStripeCustomerId('cus_1'),
  customerAskedAt: null,
  trialDays: 7,
  subscriptionId: toStripeSubscriptionId('sub_1'),
  generation: 0,
  status: 'active',
  pricedPlanId: toPlanId('12'),
  periodStart: nowMs,
  periodEnd: nowMs + 30 * dayMs,
  trialEnd: null,
  cancelAtPeriodEnd: false,
  nextPlanId: null,
  paidPlanId: toPlanId('12'),
  paidUntil: nowMs + 30 * dayMs,
  basePlanId: null,
  card: null,
  discount: null,
  unpaid: null,
  unpaidSince: null,
  pending: null,
  contact: null,
  version: 1,
  syncedAt: nowMs,
};
const trial: Partial<Membership> = { status: 'trialing', pricedPlanId: toPlanId('trial'), paidPlanId: null };
const of = (change: Partial<Membership>, atMs = nowMs) =>
  toPlanStatus({ ...paid, ...change }, { planId: null }, catalogue, atMs, words);

describe('toPlanStatus', () => {
  it.each<[string, Partial<Membership>, object]>([
    ['renews', {}, { kind: 'renews', plan: { line: 'm-499' }, at: nowMs + 30 * dayMs }],
    ['ends', { cancelAtPeriodEnd: true }, { kind: 'ends', after: undefined }],
    [
      'ends, and a free plan follows',
      { cancelAtPeriodEnd: true, basePlanId: toPlanId('1') },
      { kind: 'ends', after: 'm-free' },
    ],
    ['changes', { cancelAtPeriodEnd: true, nextPlanId: toPlanId('10') }, { kind: 'changes', to: 'm-99' }],
    [
      'changes, its price waiting',
      { status: 'trialing', pricedPlanId: toPlanId('10'), nextPlanId: toPlanId('10') },
      { kind: 'changes' },
    ],
    ['not paid yet', { status: 'past_due', unpaidSince: nowMs - dayMs }, { kind: 'unpaid', at: nowMs + 6 * dayMs }],
    ['not paid too long', { status: 'past_due', unpaidSince: nowMs - 8 * dayMs }, { kind: 'none' }],
    ['ended', { status: 'canceled' }, { kind: 'none' }],
    ['a trial', { ...trial, trialEnd: nowMs + dayMs }, { kind: 'trial', at: nowMs + dayMs }],
    ['a trial that is over', { ...trial, status: 'paused', trialEnd: nowMs }, { kind: 'trial-over' }],
    ['paused, on a plan that is sold', { status: 'paused' }, { kind: 'paused', plan: { line: 'm-499' } }],
    ['paused, with a free plan', { status: 'paused', basePlanId: toPlanId('1') }, { kind: 'paused' }],
    ['a trial that is over, with a card', { ...trial, status: 'active', trialEnd: nowMs }, { kind: 'trial-over' }],
    ['a partner’s', { ...trial, basePlanId: catalogue.ofTier(1)?.id ?? null }, { kind: 'lasting', isFree: false }],
    ['a plan that is not in the catalogue any more', { paidPlanId: toPlanId('999') }, { kind: 'none' }],
  ])('The status of the membership has the expected kind: %s', (_what, change, expected) => {
    expect(of(change)).toMatchObject(expected);
  });

  it('A member without data from Stripe has the plan of the stored user, or none', () => {
    const alone = (planId: string | null) =>
      toPlanStatus(undefined, { planId: planId === null ? null : toPlanId(planId) }, catalogue, nowMs, words);
    expect(alone('1')).toMatchObject({ kind: 'lasting', isFree: true });
    expect(alone(null)).toEqual({ kind: 'none' });
  });
});

describe('a trial', () => {
  const left = (ms: number) => toTrialStatus({ ...paid, ...trial, trialEnd: nowMs + ms }, catalogue, nowMs)?.days;

  it('A trial is counted in days, started days as whole, and is over at 0', () => {
    const days = [left(7 * dayMs), left(6 * dayMs + 1), left(dayMs), left(1), left(0)];
    expect(days).toEqual([7, 7, 1, 1, undefined]);
  });

  it('A trial is only that of the plan on which members begin', () => {
    expect(toTrialStatus({ ...paid, status: 'trialing', trialEnd: nowMs + dayMs }, catalogue, nowMs)).toBeUndefined();
  });
});

it('A card is valid to the last day of its month in every time zone', () => {
  const card = { expMonth: 11, expYear: 2026 };
  expect(isExpired(card, Date.UTC(2026, 11, 1, 11))).toBe(false);
  expect(isExpired(card, Date.UTC(2026, 11, 2))).toBe(true);
  expect(isExpired({ expMonth: 12, expYear: 2026 }, Date.UTC(2027, 0, 1))).toBe(false);
});
