import { loadPlans } from '../../config/plans.ts';
import { isExpired, toPlanStatus, toTrialStatus } from '../../server/account/membership/plan-status.ts';
import { createCatalogue, type Membership, type Plan } from '../../server/billing/index.ts';
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
  nextSeats: null,
  seats: null,
  triedPlanId: null,
  triedUntil: null,
  paidPlanId: toPlanId('12'),
  paidUntil: nowMs + 30 * dayMs,
  basePlanId: null,
  card: null,
  discount: null,
  customerDiscount: null,
  unpaid: null,
  unpaidSince: null,
  pending: null,
  price: null,
  nextCharge: null,
  balanceCents: 0,
  contact: null,
  pause: null,
  giftPlanId: null,
  giftUntil: null,
  version: 1,
  syncedAt: nowMs,
};
const trial: Partial<Membership> = { status: 'trialing', pricedPlanId: toPlanId('trial'), paidPlanId: null };
const of = (change: Partial<Membership>, atMs = nowMs) =>
  toPlanStatus({ catalogue, nowMs: atMs, words }, { planId: null }, { ...paid, ...change });

describe('toPlanStatus', () => {
  it.each<[string, Partial<Membership>, object]>([
    [
      'a gift, without the interval of the price',
      { ...trial, giftPlanId: toPlanId('11'), giftUntil: nowMs + 1 },
      { kind: 'gift', plan: { line: 'Starter' }, at: nowMs + 1 },
    ],
    [
      'a gift that is over',
      { ...trial, status: 'paused', giftPlanId: toPlanId('11'), giftUntil: nowMs },
      { kind: 'trial-over' },
    ],
    [
      'a paid plan beside a gift',
      { giftPlanId: toPlanId('11'), giftUntil: nowMs + 1 },
      { kind: 'renews', plan: { line: 'm-499' } },
    ],
    ['the renewal of a paid plan', {}, { kind: 'renews', plan: { line: 'm-499' }, at: nowMs + 30 * dayMs }],
    ['the end of a cancelled plan', { cancelAtPeriodEnd: true }, { kind: 'ends', after: undefined }],
    [
      'the free plan that follows a cancelled plan',
      { cancelAtPeriodEnd: true, basePlanId: toPlanId('1') },
      { kind: 'ends', after: 'm-free' },
    ],
    [
      'a change to another plan',
      { cancelAtPeriodEnd: true, nextPlanId: toPlanId('10') },
      { kind: 'changes', to: 'm-99' },
    ],
    [
      'a change whose price is stored already',
      { status: 'trialing', pricedPlanId: toPlanId('10'), nextPlanId: toPlanId('10') },
      { kind: 'changes' },
    ],
    [
      'an unpaid renewal',
      { status: 'past_due', unpaidSince: nowMs - dayMs },
      { kind: 'unpaid', at: nowMs + 6 * dayMs },
    ],
    ['no plan after a week without payment', { status: 'past_due', unpaidSince: nowMs - 8 * dayMs }, { kind: 'none' }],
    ['no plan after the end', { status: 'canceled' }, { kind: 'none' }],
    ['a trial', { ...trial, trialEnd: nowMs + dayMs }, { kind: 'trial', at: nowMs + dayMs }],
    ['the end of a trial', { ...trial, status: 'paused', trialEnd: nowMs }, { kind: 'trial-over' }],
    ['a paused plan that is for sale', { status: 'paused' }, { kind: 'paused', plan: { line: 'm-499' } }],
    ['a paused plan beside a free plan', { status: 'paused', basePlanId: toPlanId('1') }, { kind: 'paused' }],
    ['the end of a trial with a card', { ...trial, status: 'active', trialEnd: nowMs }, { kind: 'trial-over' }],
    [
      'a partner’s plan without end',
      { ...trial, basePlanId: catalogue.ofTier(1)?.id ?? null },
      { kind: 'lasting', isFree: false },
    ],
    ['no plan if the catalogue no longer has it', { paidPlanId: toPlanId('999') }, { kind: 'none' }],
  ])('The status of a membership is %s', (_what, change, expected) => {
    expect(of(change)).toMatchObject(expected);
  });

  it('A member without data from Stripe has the plan of the stored user, or none', () => {
    const alone = (planId: string | null) =>
      toPlanStatus({ catalogue, nowMs, words }, { planId: planId === null ? null : toPlanId(planId) }, undefined);
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
