import fc from 'fast-check';
import {
  amountSchema,
  compareAmount,
  compareValue,
  dollars,
  parseAmount,
  rejectDifferent,
} from '../../server/billing/stripe/wire-format.ts';
import { HttpError } from '../../server/http/index.ts';

describe('amounts in the JSON API', () => {
  it('An amount is written with two decimals and read back the same, as text and as a number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99_999_999_999 }), (cents) => {
        const text = dollars(cents);
        expect(text).toMatch(/^\d+\.\d\d$/);
        expect(amountSchema.safeParse(text).success).toBe(true);
        expect(parseAmount(text)).toBe(cents);
        expect(parseAmount(Number(text))).toBe(cents);
      }),
    );
  });

  it('No other value is accepted as an amount of whole cents', () => {
    for (const said of [79.205, 0.001, 98.999_999]) expect(parseAmount(said)).toBeNaN();
    for (const said of [
      '-1.00',
      '79.201',
      '1e3',
      '0x10',
      '',
      ' ',
      '1,00',
      '$1',
      'NaN',
      -1,
      Number.POSITIVE_INFINITY,
      Number.NaN,
      null,
    ]) {
      expect(amountSchema.safeParse(said).success).toBe(false);
    }
  });

  it('An amount agrees only with its own cents', () => {
    fc.assert(
      fc.property(fc.nat(10_000_000), fc.nat(10_000_000), (said, due) => {
        expect(compareAmount('amount', dollars(said), due).agrees).toBe(said === due);
      }),
    );
  });
});

describe('compareValue', () => {
  it('A value may be left out, empty or equal, and all differences are reported at once with the right values', () => {
    const silent = [undefined, null, ''].map((said) => compareValue('planId', said, '10'));
    expect(silent.map(({ agrees }) => agrees)).toEqual([undefined, undefined, undefined]);
    expect(() =>
      rejectDifferent([...silent, compareValue('validity', 30, '30'), compareValue('validity', '30', 30)]),
    ).not.toThrow();
    try {
      rejectDifferent([
        compareValue('planId', '15', '10'),
        compareAmount('amount', 1, 9_900),
        compareValue('currency', 'usd', 'usd'),
      ]);
      throw new Error('was not refused');
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      expect(error.status).toBe(409);
      expect(error.options.invalidParams).toEqual([
        { name: 'body.planId', detail: 'is 10', stored: '10' },
        { name: 'body.amount', detail: 'is 99.00', stored: '99.00' },
      ]);
    }
  });
});
