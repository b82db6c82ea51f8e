import { readFileSync } from 'node:fs';
import { PlansFileError, parsePlans, shippedPlansFile } from '../../config/plans.ts';
import { createCatalogue } from '../../server/billing/index.ts';

const withGifts = (gifts: unknown): string =>
  JSON.stringify({ ...JSON.parse(readFileSync(shippedPlansFile, 'utf8')), gifts });

function faults(gifts: unknown): readonly string[] {
  try {
    parsePlans(withGifts(gifts), 'plans.json');
    return [];
  } catch (error) {
    if (!(error instanceof PlansFileError)) throw error;
    return error.faults;
  }
}

describe('gifts in the catalogue', () => {
  it.each([
    [{ months: [3, 3] }, 'gifts.months: 3 stands there twice'],
    [{ months: [] }, 'gifts.months: name at least one number of months'],
    [{ months: [1.5] }, 'gifts.months.0: write whole months'],
    [{ months: [37] }, 'gifts.months.0: write at most 36'],
    [{ months: [3], plans: [] }, 'gifts.plans: name at least one plan, or leave it out'],
    [{ months: [3], plans: ['1'] }, 'gifts.plans: there is no paid plan with the id 1'],
    [{ months: [3], plans: ['101'] }, 'gifts.plans: there is no paid plan with the id 101'],
    [{ months: [3], plans: ['99', '99'] }, 'gifts.plans: there is no paid plan with the id 99'],
    [{ months: [3], plans: ['10', '10'] }, 'gifts.plans: 10 stands there twice'],
  ])('The block %j is refused at start', (block, fault) => {
    expect(faults(block)).toContain(fault);
  });

  it('A plan that is sold by the seat is not given', () => {
    const file = JSON.parse(withGifts({ months: [3] })) as { plans: { id: string }[]; gifts: object };
    const plans = file.plans.map((plan) => (plan.id === '12' ? { ...plan, seats: { min: 1, max: 5 } } : plan));
    const read = (gifts: object) => parsePlans(JSON.stringify({ ...file, plans, gifts }), 'plans.json');
    expect(createCatalogue(read({ months: [3] })).gifts?.plans.map(({ id }) => id)).toEqual([
      '10',
      '11',
      '13',
      '14',
      '15',
    ]);
    expect(() => read({ months: [3], plans: ['12'] })).toThrow(
      'gifts.plans: 12 is sold by the seat, and cannot be given',
    );
  });

  it('Without names all paid plans are given, and the fewest months come first', () => {
    const { gifts } = createCatalogue(parsePlans(withGifts({ months: [12, 3] }), 'plans.json'));
    expect(gifts?.plans.map(({ id }) => id)).toEqual(['10', '11', '12', '13', '14', '15']);
    expect(gifts?.months).toEqual([3, 12]);
    const named = createCatalogue(parsePlans(withGifts({ months: [3], plans: ['11'] }), 'plans.json'));
    expect(named.gifts?.plans.map(({ id }) => id)).toEqual(['11']);
    expect(createCatalogue(parsePlans(withGifts(undefined), 'plans.json')).gifts).toBeUndefined();
  });
});
