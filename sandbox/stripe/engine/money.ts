/** Integer arithmetic on cents; halves go up, as Stripe rounds. */

/** `cents × part / whole`, rounded half up. All whole numbers, not negative. */
export const share = (cents: number, part: number, whole: number): number =>
  whole === 0 ? 0 : Math.floor((2 * cents * part + whole) / (2 * whole));

/** A percentage with at most two decimals of an amount in cents. */
export const takePercent = (cents: number, percent: number): number => share(cents, Math.round(percent * 100), 10_000);

/**
 * Stripe's smallest charge in cents; less than that goes to the customer's balance
 * (https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts). All others: 0.50 of the currency.
 */
export function smallestCharge(currency: string): number {
  switch (currency) {
    case 'gbp':
      return 30;
    case 'bgn':
      return 1_00;
    case 'aed':
    case 'myr':
    case 'pln':
    case 'ron':
      return 2_00;
    case 'dkk':
      return 2_50;
    case 'nok':
    case 'sek':
      return 3_00;
    case 'hkd':
      return 4_00;
    case 'mxn':
    case 'thb':
      return 10_00;
    case 'czk':
      return 15_00;
    default:
      return 50;
  }
}

const symbols: Record<string, string> = { usd: '$', eur: '€', gbp: '£' };
export const formatAmount = (cents: number, currency: string): string =>
  `${symbols[currency] ?? `${currency.toUpperCase()} `}${(cents / 100).toFixed(2)}`;
