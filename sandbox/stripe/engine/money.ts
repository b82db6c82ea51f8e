/** Integer arithmetic on cents; halves go up, as Stripe rounds. */

/** `cents × part / whole`, rounded half up. All whole numbers, not negative. */
export const share = (cents: number, part: number, whole: number): number =>
  whole === 0 ? 0 : Math.floor((2 * cents * part + whole) / (2 * whole));

/** A percentage with at most two decimals of an amount in cents. */
export const takePercent = (cents: number, percent: number): number => share(cents, Math.round(percent * 100), 10_000);

/** Stripe's smallest charge in cents; less than that goes to the customer's balance (https://docs.stripe.com/currencies). */
export const smallestCharge = (currency: string): number => (currency === 'gbp' ? 30 : 50);

const symbols: Record<string, string> = { usd: '$', eur: '€', gbp: '£' };
export const formatAmount = (cents: number, currency: string): string =>
  `${symbols[currency] ?? `${currency.toUpperCase()} `}${(cents / 100).toFixed(2)}`;
