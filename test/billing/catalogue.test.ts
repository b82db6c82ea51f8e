import { loadPlans } from '../../config/plans.ts';
import { createCatalogue, planRank, validityDays } from '../../server/billing/index.ts';
import { toPlanId, toPlanKey } from '../support/ids.ts';

const catalogue = createCatalogue(loadPlans());
const plan = (id: string) => {
  const found = catalogue.byId(toPlanId(id));
  if (!found) throw new Error(`no plan ${id}`);
  return found;
};

describe('the catalogue', () => {
  it('The catalogue has amounts in cents, and 0 for free plans', () => {
    expect(catalogue.plans.map(({ id, amountCents }) => [id, amountCents])).toEqual([
      ['1', 0],
      ['2', 0],
      ['10', 9_900],
      ['11', 90_000],
      ['12', 49_900],
      ['13', 500_000],
      ['14', 89_900],
      ['15', 800_000],
      ['101', 0],
      ['102', 0],
      ['103', 0],
    ]);
  });

  it('The catalogue finds a plan by every name of it', () => {
    const growth = plan('12');
    expect(catalogue.byKey(toPlanKey('growth-monthly'))).toBe(growth);
    expect(catalogue.byCode('m-499')).toBe(growth);
    expect(catalogue.byLookupKey('m-499')).toBe(growth);
    expect(catalogue.ofTier(2)).toBe(plan('102'));
    expect(catalogue.defaultPlan).toBe(plan('10'));
  });

  it('The catalogue finds nothing for an unknown name', () => {
    for (const none of [null, undefined, '', '16', 'm-99', '__proto__', 'constructor'])
      expect(catalogue.byId(none == null ? null : toPlanId(none))).toBeUndefined();
    for (const none of ['', 'm-30', 'toString']) expect(catalogue.byCode(none)).toBeUndefined();
    expect(catalogue.byKey(toPlanKey(''))).toBeUndefined();
    expect(catalogue.ofTier(4)).toBeUndefined();
    // The state of a new member is no plan: no member can choose it.
    expect(catalogue.byLookupKey('Basic-Plan-M')).toBeUndefined();
  });

  it('Only paid plans have a price at Stripe, and its lookup key may differ from the code', () => {
    const keys = catalogue.plans.map(({ lookupKey }) => lookupKey);
    expect(keys).toEqual([null, null, 'm-99', 'y-900', 'm-499', 'y-5000', 'm-899', 'y-8000', null, null, null]);
    const file = loadPlans();
    const plans = file.plans.map((one) => (one.id === '10' ? { ...one, lookupKey: 'starter-2' } : one));
    expect(createCatalogue({ ...file, plans }).byLookupKey('starter-2')?.id).toBe('10');
  });

  it('Plans are ranked by price among those of the same period', () => {
    expect(['10', '12', '14'].map((id) => planRank(catalogue, plan(id)))).toEqual([0, 1, 2]);
    expect(['11', '13', '15'].map((id) => planRank(catalogue, plan(id)))).toEqual([0, 1, 2]);
  });

  it('Plans are charged by the calendar, unless the file says days', () => {
    const periods = (of: typeof catalogue) =>
      of.plans.map(({ period }) => period && `${period.count} ${period.interval}`);
    const repeat = (monthly: string, yearly: string) => [
      ...Array.from({ length: 4 }, () => [monthly, yearly]).flat(),
      ...[null, null, null],
    ];
    expect(periods(catalogue)).toEqual(repeat('1 month', '1 year'));
    expect(periods(createCatalogue({ ...loadPlans(), periods: 'days' }))).toEqual(repeat('30 day', '365 day'));
  });

  it('A plan is valid for 30 or 365 days, and a partner’s plan has no end', () => {
    expect(validityDays).toEqual({ '1': 30, '2': 365 });
    expect(catalogue.plans.filter(({ type }) => type === null).map(({ kind }) => kind)).toEqual([
      'partner',
      'partner',
      'partner',
    ]);
  });

  it('A missing language falls back to English', () => {
    const file = loadPlans();
    const [first, ...rest] = file.plans;
    if (!first) throw new Error('no plans');
    const english = { ...first, summary: { en: 'Only' }, features: { en: ['One'] } };
    const found = createCatalogue({ ...file, plans: [english, ...rest] }).byId(toPlanId(first.id));
    expect([found?.summary('fr'), found?.features('nl')]).toEqual(['Only', ['One']]);
    expect(plan('10').summary('fr')).toBe('Une page vitrine');
  });
});
