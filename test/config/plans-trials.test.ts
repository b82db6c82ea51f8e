import { loadPlans, PlansFileError, parsePlans } from '../../config/plans.ts';

/** The faults of the shipped plans, one of which begins with free days. */
function faults(change: object, { id = '10', ...more }: { id?: string; consumers?: object } = {}): readonly string[] {
  const file = loadPlans();
  const plans = file.plans.map((plan) => (plan.id === id ? { ...plan, ...change } : plan));
  try {
    parsePlans(JSON.stringify({ ...file, plans, ...more }), 'plans.json');
    return [];
  } catch (error) {
    if (!(error instanceof PlansFileError)) throw error;
    return error.faults;
  }
}

describe('the free days of a plan in the catalogue', () => {
  it.each([1, 14, 365])('%i days of a paid plan are accepted', (trialDays) =>
    expect(faults({ trialDays })).toEqual([]),
  );

  it.each([0, 366, 1.5, '14', -1])('The days %j are refused', (trialDays) =>
    expect(faults({ trialDays })).toHaveLength(1),
  );

  it('They do not go together with seats, nor with afterYear', () => {
    expect(faults({ trialDays: 14, seats: { min: 1, max: 5 } })).toEqual([
      'plans: trialDays of 10: leave seats out, because they do not go together with trialDays',
    ]);
    expect(faults({ trialDays: 14 }, { consumers: { afterYear: 'year-with-refund' } })).toEqual([
      'plans: trialDays of 10: leave consumers.afterYear out, because it does not go together with trialDays',
    ]);
  });

  it('With consumers they last at least as long as the right to withdraw', () => {
    expect(faults({ trialDays: 13 }, { consumers: {} })).toEqual([
      'plans: trialDays of 10: write at least 14, the days of consumers.withdrawalDays',
    ]);
    expect(faults({ trialDays: 30 }, { consumers: { withdrawalDays: 30 } })).toEqual([]);
  });

  it.each(['1', '101'])('The plan %s, which is not paid, has none', (id) =>
    expect(faults({ trialDays: 14 }, { id })).not.toEqual([]),
  );
});
