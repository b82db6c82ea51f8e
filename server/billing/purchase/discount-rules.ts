import type { AppliedDiscount } from '../subscription/membership.ts';

type Amounts = Pick<AppliedDiscount, 'percentOff' | 'amountOffCents'>;

/**
 * The amount of a discount (the specification's section 5): a percentage, or a fixed amount, at most the whole. Half a
 * cent is rounded up, as Stripe does.
 * @param amountCents integer cents
 */
export function discountOn(amountCents: number, { percentOff, amountOffCents }: Amounts): number {
  const off = percentOff !== null ? Math.round((amountCents * percentOff) / 100) : (amountOffCents ?? 0);
  return Math.min(amountCents, off);
}

/** Tests for a fixed discount that exceeds the amount, which is refused; undefined: it does not. */
export function exceedsAmount(amountCents: number, { amountOffCents }: Amounts): number | undefined {
  return amountOffCents !== null && amountOffCents > amountCents ? amountOffCents : undefined;
}
