import { calculateCuts, runningDiscounts } from './discounts.ts';
import type { DraftLine } from './invoice-lines.ts';
import { formatAmount, share } from './money.ts';
import type { Subscription, SubscriptionItem } from './objects.ts';
import type { State } from './state.ts';
import { calculateCost, getItem } from './subscription-shape.ts';

const formatDay = (seconds: number) =>
  new Date(seconds * 1_000).toLocaleDateString('en-GB', {
    day: '2-digit',
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });

const findProductName = (state: State, item: SubscriptionItem) =>
  state.find('product', item.price.product)?.name ?? 'a product';

/** A whole period of an item. */
export function periodLine(state: State, item: SubscriptionItem): DraftLine {
  const { interval = 'month', interval_count = 1 } = item.price.recurring ?? {};
  const every = interval_count === 1 ? interval : `every ${interval_count} ${interval}s`;
  return {
    item: structuredClone(item),
    cents: calculateCost(item),
    period: { start: item.current_period_start, end: item.current_period_end },
    description: `${item.quantity} × ${findProductName(state, item)} (at ${formatAmount(item.price.unit_amount, item.price.currency)} / ${every})`,
    proration: false,
    debit: true,
  };
}

/** Time that costs nothing. */
export const trialLine = (state: State, item: SubscriptionItem): DraftLine => ({
  ...periodLine(state, item),
  cents: 0,
  description: `Trial period for ${findProductName(state, item)}`,
  debit: false,
});

/**
 * The credit for billed but unused time: the part of the amount that was actually billed for it, after discounts
 * (Stripe's flexible billing mode). Nothing billed, no credit.
 */
export function creditLine(state: State, item: SubscriptionItem, at: number): DraftLine[] {
  const debit = state.find('hidden.debit', `hidden_debit_${item.id}`);
  if (!debit || debit.cents === 0 || debit.end <= at) return [];
  const from = Math.max(at, debit.start);
  return [
    {
      item: structuredClone(item),
      cents: -share(debit.cents, debit.end - from, debit.end - debit.start),
      period: { start: from, end: debit.end },
      description: `Unused time on ${findProductName(state, item)} after ${formatDay(from)}`,
      proration: true,
      debit: false,
      ...(debit.invoice !== null && { credited: { invoice: debit.invoice, line: debit.line } }),
    },
  ];
}

/** The rest of the current period at a new price, net of the discounts that apply. */
export function remainderLine(state: State, subscription: Subscription, at: number): DraftLine {
  const item = getItem(subscription);
  const cents = calculateCost(item);
  const [cuts = []] = calculateCuts(state, runningDiscounts(state, subscription), [
    { cents, product: item.price.product },
  ]);
  const net = cents - cuts.reduce((sum, cut) => sum + cut.amount, 0);
  const { current_period_start: start, current_period_end: end } = item;
  return {
    item: structuredClone(item),
    cents: share(net, end - at, end - start),
    period: { start: at, end },
    description: `Remaining time on ${findProductName(state, item)} after ${formatDay(at)}`,
    proration: true,
    debit: true,
  };
}
