import fc from 'fast-check';
import { loadPlans } from '../../config/plans.ts';
import {
  createCatalogue,
  effectivePlan,
  graceEndsAt,
  listEntitlements,
  type Membership,
  type SubscriptionStatus,
  trialPlanKey,
} from '../../server/billing/index.ts';
import { trialUntil } from '../../server/billing/subscription/membership-state.ts';
import { toPlanId } from '../support/ids.ts';

const catalogue = createCatalogue(loadPlans());
const dayMs = 24 * 60 * 60_000;
const nowMs = Date.UTC(2026, 10, 1);
const statuses: SubscriptionStatus[] = [
  ...(['none', 'trialing', 'active', 'past_due', 'paused', 'unpaid'] as const),
  ...(['incomplete', 'incomplete_expired', 'canceled'] as const),
];
const paidIds = catalogue.plans.filter(({ kind }) => kind === 'paid').map(({ id }) => id);
const otherIds = catalogue.plans.filter(({ kind }) => kind !== 'paid').map(({ id }) => id);

type Facts = Pick<Membership, 'status' | 'pricedPlanId' | 'paidPlanId' | 'basePlanId' | 'trialEnd' | 'unpaidSince'>;
const nothing: Facts = {
  status: 'none',
  pricedPlanId: null,
  trialEnd: null,
  paidPlanId: null,
  basePlanId: null,
  unpaidSince: null,
};
const paying: Facts = {
  ...nothing,
  status: 'active',
  pricedPlanId: toPlanId('12'),
  paidPlanId: toPlanId('12'),
};
const planOf = (facts: Partial<Membership>, at = nowMs) => effectivePlan({ ...paying, ...facts }, catalogue, at);

describe('effectivePlan', () => {
  it('The plan is the one of the last paid invoice while the subscription is active', () => {
    expect(planOf({})).toBe('12');
    // A change that is not paid yet: what stands on the subscription gives nothing.
    expect(planOf({ pricedPlanId: toPlanId('14') })).toBe('12');
    expect(planOf({ paidPlanId: null })).toBeNull();
  });

  it('The plan is the member’s unpaid plan when nothing is paid any more', () => {
    for (const status of ['canceled', 'unpaid', 'paused', 'incomplete', 'incomplete_expired', 'none'] as const) {
      expect(planOf({ status })).toBeNull();
      expect(planOf({ status, basePlanId: toPlanId('1') })).toBe('1');
      expect(planOf({ status, basePlanId: toPlanId('101') })).toBe('101');
    }
  });

  it('The plan stays during a change at the period’s end, which Stripe shows as a trial of the next price', () => {
    expect(planOf({ status: 'trialing', pricedPlanId: toPlanId('10') })).toBe('12');
    // The trial on which members begin is no plan, whatever was paid once.
    expect(planOf({ status: 'trialing', pricedPlanId: trialPlanKey })).toBeNull();
  });

  it('The plan stays for the days of grace after a failed renewal, to the millisecond', () => {
    const unpaidSince = nowMs - catalogue.graceDays * dayMs;
    expect(planOf({ status: 'past_due', unpaidSince }, nowMs - 1)).toBe('12');
    expect(planOf({ status: 'past_due', unpaidSince })).toBeNull();
    expect(planOf({ status: 'past_due', unpaidSince, basePlanId: toPlanId('2') })).toBe('2');
    // Unknown since when: nothing to wait for.
    expect(planOf({ status: 'past_due', unpaidSince: null })).toBeNull();
    expect(graceEndsAt({ ...paying, status: 'active', unpaidSince }, catalogue)).toBeUndefined();
  });

  it('The plan is never one that the catalogue no longer has', () => {
    expect(planOf({ paidPlanId: toPlanId('99'), basePlanId: toPlanId('1') })).toBe('1');
  });
});

const facts = fc.record<Facts>({
  status: fc.constantFrom(...statuses),
  pricedPlanId: fc.constantFrom(null, trialPlanKey, toPlanId('unknown'), ...paidIds),
  trialEnd: fc.option(fc.integer({ min: nowMs - 60 * dayMs, max: nowMs + 60 * dayMs })),
  paidPlanId: fc.constantFrom(null, toPlanId('unknown'), ...paidIds),
  basePlanId: fc.constantFrom(null, ...otherIds),
  unpaidSince: fc.option(fc.integer({ min: nowMs - 60 * dayMs, max: nowMs })),
});
const moments = fc.integer({ min: nowMs - 90 * dayMs, max: nowMs + 90 * dayMs });

describe('for any data from Stripe', () => {
  it('A member has a paid plan only with a paid invoice for that very plan', () => {
    fc.assert(
      fc.property(facts, moments, (given, at) => {
        const plan = effectivePlan(given, catalogue, at);
        if (plan !== null && catalogue.byId(plan)?.kind === 'paid') expect(plan).toBe(given.paidPlanId);
        // And no price, trial or status alone makes one.
        expect(effectivePlan({ ...given, paidPlanId: null }, catalogue, at)).toBe(given.basePlanId);
      }),
    );
  });

  it('A member has a paid plan only while the subscription continues', () => {
    fc.assert(
      fc.property(facts, moments, (given, at) => {
        fc.pre(!['active', 'trialing', 'past_due'].includes(given.status));
        expect(effectivePlan(given, catalogue, at)).toBe(given.basePlanId);
      }),
    );
  });

  it('The days of grace end for good, and for no member later than the catalogue says', () => {
    fc.assert(
      fc.property(facts, moments, fc.nat({ max: 400 * dayMs }), (given, at, later) => {
        const owing: Facts = { ...given, status: 'past_due' };
        const until = owing.unpaidSince === null ? -Infinity : owing.unpaidSince + catalogue.graceDays * dayMs;
        if (at >= until) expect(effectivePlan(owing, catalogue, at)).toBe(owing.basePlanId);
        // Once gone by the passing of time alone, it does not come back.
        if (effectivePlan(owing, catalogue, at) === owing.basePlanId)
          expect(effectivePlan(owing, catalogue, at + later)).toBe(owing.basePlanId);
      }),
    );
  });

  it('A member who pays nothing keeps the unpaid plan', () => {
    fc.assert(
      fc.property(facts, moments, (given, at) => {
        const plan = effectivePlan(given, catalogue, at);
        expect([given.basePlanId, given.paidPlanId]).toContain(plan);
      }),
    );
  });
});

describe('what a member may use', () => {
  const trial = (trialEnd: number) =>
    trialUntil({ ...nothing, status: 'trialing', pricedPlanId: trialPlanKey, trialEnd });

  it('A member may use what the plan names, each entitlement once, and what the trial gives while it lasts', () => {
    expect(listEntitlements({ planId: toPlanId('12'), trialUntil: null }, catalogue, nowMs)).toEqual([
      ...['showcase:5', 'shortlist', 'messages', 'team:10'],
    ]);
    expect(listEntitlements({ planId: toPlanId('1'), trialUntil: nowMs + 1 }, catalogue, nowMs)).toEqual([
      ...['profile', 'showcase:1', 'shortlist', 'messages'],
    ]);
    const both = listEntitlements({ planId: toPlanId('10'), trialUntil: nowMs + 1 }, catalogue, nowMs);
    expect(new Set(both).size).toBe(both.length);
  });

  it('A member without a plan may use nothing after the trial, to the millisecond', () => {
    const planId = null;
    expect(listEntitlements({ planId, trialUntil: trial(nowMs) }, catalogue, nowMs - 1)).toEqual(
      catalogue.trial.entitlements,
    );
    expect(listEntitlements({ planId, trialUntil: trial(nowMs) }, catalogue, nowMs)).toEqual([]);
  });

  it('A subscription with another status or price does not extend the trial', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const until = trialUntil(given);
        if (given.status !== 'trialing' || given.pricedPlanId !== trialPlanKey) expect(until).toBeNull();
        else expect(until).toBe(given.trialEnd);
      }),
    );
  });

  it('A member may use nothing beyond the plan once the trial is over, whatever the plan', () => {
    fc.assert(
      fc.property(facts, moments, (given, at) => {
        const planId = effectivePlan(given, catalogue, at);
        const until = trialUntil(given);
        fc.pre(until === null || at >= until);
        expect(listEntitlements({ planId, trialUntil: until }, catalogue, at)).toEqual(
          catalogue.byId(planId)?.entitlements ?? [],
        );
      }),
    );
  });
});
