import type Stripe from 'stripe';
import { balanceLeft, isProration, isSale, isUnusedTime, sumDiscounts, unusedCents } from './stripe-objects.ts';

/**
 * A line of what an invoice comes to; below 0 for what is taken off. `plan`: a whole period of the bought plan; `rest`:
 * the rest of one; `other`: anything else that is on the invoice; `promo`: a discount; `unused`: the time of the plan
 * before; `credit`: the used part of the user's credit; `kept`: what becomes their credit; `owed`: a debt from before;
 * `small`: too little to be charged, so it is owed from then on.
 */
export interface AmountLine {
  kind: 'plan' | 'rest' | 'other' | 'promo' | 'unused' | 'tax' | 'credit' | 'kept' | 'owed' | 'small';
  cents: number;
  /** Stripe's words for `other`. */
  text?: string;
}

const unlessZero = (kind: AmountLine['kind'], cents: number): AmountLine[] => (cents === 0 ? [] : [{ kind, cents }]);

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);

/** Taxes that are added to the prices; others are in them. */
export const addedTaxCents = ({ total_taxes: taxes }: Stripe.Invoice): number =>
  sum((taxes ?? []).map(({ amount, tax_behavior: behaviour }) => (behaviour === 'exclusive' ? amount : 0)));

function listItems(invoice: Stripe.Invoice, productId: string): AmountLine[] {
  return invoice.lines.data.flatMap((line): AmountLine[] => {
    const { amount: cents, pricing, description } = line;
    if (isSale(line) && pricing?.price_details?.product === productId) {
      return [{ kind: isProration(line) ? 'rest' : 'plan', cents }];
    }
    return isUnusedTime(line) || cents === 0 ? [] : [{ kind: 'other', cents, text: description ?? '' }];
  });
}

/** Everything between the invoice's total and its amount due. */
function listBalance(invoice: Stripe.Invoice): AmountLine[] {
  const [before, left] = [invoice.starting_balance, balanceLeft(invoice)];
  const [creditBefore, creditLeft] = [Math.min(0, before), Math.min(0, left)];
  return [
    ...unlessZero('credit', Math.min(0, creditBefore - creditLeft)),
    ...unlessZero('kept', Math.max(0, creditBefore - creditLeft)),
    ...unlessZero('owed', Math.max(0, before)),
    ...unlessZero('small', Math.min(0, 0 - left)),
  ];
}

/**
 * The lines of an invoice, which add up to its amount due.
 * @param productId of the bought plan
 * @returns undefined if Stripe's amounts do not agree with each other: then nothing can be announced
 */
export function toAmountLines(invoice: Stripe.Invoice, productId: string): AmountLine[] | undefined {
  const paidLines = invoice.lines.data.filter((line) => !isUnusedTime(line));
  const lines = [
    ...listItems(invoice, productId),
    ...unlessZero('promo', 0 - sum(paidLines.map(sumDiscounts))),
    ...unlessZero('unused', 0 - unusedCents(invoice)),
    ...unlessZero('tax', addedTaxCents(invoice)),
  ];
  return sum(lines.map(({ cents }) => cents)) === invoice.total ? [...lines, ...listBalance(invoice)] : undefined;
}
