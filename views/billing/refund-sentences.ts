import type { PageContext } from '../page-context.ts';

/** The unused part of the paid period, which is given back by cancelling. */
export interface RefundView {
  /** The end of the plan, before that of the paid period (milliseconds since the epoch); null: at once. */
  endsAt: number | null;
  /** To the card or the bank account, as text; undefined: Stripe has not computed it yet. */
  amount: string | undefined;
  toAccount: boolean;
  /** To the user's credit. */
  credit: string | undefined;
  /** Hidden fields: the announced amounts. */
  fields: Record<string, string>;
}

/** Sentences on the refund of an end at once, after one that names it. */
export function listRefundsNow({ t }: Pick<PageContext, 't'>, { amount, toAccount, credit }: RefundView): string[] {
  const back =
    amount === undefined
      ? t('membership.cancel.refundUnknown')
      : t(toAccount ? 'membership.cancel.refundAccount' : 'membership.cancel.refund', { amount });
  return [back, ...(credit === undefined ? [] : [t('membership.cancel.refundCredit', { amount: credit })])];
}

/** Sentences on the refund of an end on a month's notice, after one that names the day. */
export function listRefundsThen({ t }: Pick<PageContext, 't'>, { amount, toAccount, credit }: RefundView): string[] {
  const back =
    amount === undefined
      ? t('membership.cancel.refundLater')
      : t(toAccount ? 'membership.cancel.refundThenAccount' : 'membership.cancel.refundThen', { amount });
  return [back, ...(credit === undefined ? [] : [t('membership.cancel.creditThen', { amount: credit })])];
}
