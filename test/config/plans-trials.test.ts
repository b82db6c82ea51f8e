import { planFaults } from './plan-faults.ts';

/** The shipped plans, one of which begins with free days. */
const faults = (trialDays: unknown, more?: object, id = '10') => planFaults(id, { trialDays }, more);

describe('the free days of a plan in the catalogue', () => {
  it.each([1, 14, 365])('%i days of a paid plan are accepted', (trialDays) => expect(faults(trialDays)).toEqual([]));

  it.each([0, 366, 1.5, '14', -1])('The days %j are refused', (trialDays) => expect(faults(trialDays)).toHaveLength(1));

  it('They do not go together with seats, nor with afterYear', () => {
    expect(planFaults('10', { trialDays: 14, seats: { min: 1, max: 5 } })).toEqual([
      'plans: trialDays of 10: leave seats out, because they do not go together with trialDays',
    ]);
    expect(faults(14, { consumers: { afterYear: 'year-with-refund' } })).toEqual([
      'plans: trialDays of 10: leave consumers.afterYear out, because it does not go together with trialDays',
    ]);
  });

  it('With consumers they last at least as long as the right to withdraw', () => {
    expect(faults(13, { consumers: {} })).toEqual([
      'plans: trialDays of 10: write at least 14, the days of consumers.withdrawalDays',
    ]);
    expect(faults(30, { consumers: { withdrawalDays: 30 } })).toEqual([]);
  });

  it.each(['1', '101'])('The plan %s, which is not paid, has none', (id) => expect(faults(14, {}, id)).not.toEqual([]));
});
