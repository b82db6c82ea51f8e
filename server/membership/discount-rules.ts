import type { AppliedDiscount } from './membership.ts';

type Amounts = Pick<AppliedDiscount, 'percentOff' | 'amountOffCents'>;

/**
 * What a discount takes off an amount (the specification's section 5): a percentage of it, or a fixed amount, never more than
 * there is. Half a cent is rounded up, as Stripe does.
 * @param amountCents integer cents
 */
export function discountOn(amountCents: number, { percentOff, amountOffCents }: Amounts): number {
  const off = percentOff !== null ? Math.round((amountCents * percentOff) / 100) : (amountOffCents ?? 0);
  return Math.min(amountCents, off);
}

/** A fixed discount on less than it takes off is refused; undefined: it is none of those. */
export function exceedsAmount(amountCents: number, { amountOffCents }: Amounts): number | undefined {
  return amountOffCents !== null && amountOffCents > amountCents ? amountOffCents : undefined;
}
