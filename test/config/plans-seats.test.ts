import { planFaults } from './plan-faults.ts';

const faults = (id: string, seats: object, more?: object) => planFaults(id, { seats }, more);

describe('the seats of a plan in the catalogue', () => {
  it.each([
    { min: 1, max: 50 },
    { min: 3, max: 3 },
    { min: 1, max: 10_000 },
  ])('From $min to $max seats of a paid plan are accepted', (seats) => expect(faults('10', seats)).toEqual([]));

  it('A bound that is no whole number of 1 to 10,000 is named with its fault', () => {
    expect(faults('10', { min: 0, max: 1.5 })).toEqual([
      'plans.2.seats.min: write at least 1',
      'plans.2.seats.max: write a whole number',
    ]);
    expect(faults('10', { min: 1, max: 10_001 })).toEqual(['plans.2.seats.max: write at most 10000']);
    expect(faults('10', { min: 1 })).toHaveLength(1);
  });

  it('Bounds that contradict each other, or cost more than one charge can be, are refused', () => {
    expect(faults('10', { min: 5, max: 4 })).toEqual(['plans: seats of 10: min 5 is more than max 4']);
    expect(faults('13', { min: 1, max: 200 })).toEqual([
      'plans: seats of 13: 200 seats cost more than 999999, the most that one charge can be',
    ]);
  });

  it.each(['monthly', 'year-with-refund'])('Seats do not go together with afterYear %s', (afterYear) => {
    expect(faults('10', { min: 1, max: 2 }, { consumers: { afterYear } })).toContain(
      'plans: seats of 10: leave consumers.afterYear out, because it does not go together with seats',
    );
  });

  it.each(['1', '101'])('The plan %s, which is not paid, has no seats', (id) => {
    expect(faults(id, { min: 1, max: 2 })).not.toEqual([]);
  });
});
