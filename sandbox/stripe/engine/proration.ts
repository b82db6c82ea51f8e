import { prorationMode } from './billing-mode.ts';
import { calculateCuts, runningDiscounts } from './discounts.ts';
import type { Cut, DraftLine } from './invoice-lines.ts';
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

const sumCuts = (cuts: readonly Cut[]) => cuts.reduce((sum, { amount }) => sum + amount, 0);

/** The discounts that apply to an item at its present price. */
function currentCuts(state: State, subscription: Subscription, item: SubscriptionItem): Cut[] {
  const lines = [{ cents: calculateCost(item), product: item.price.product }];
  return calculateCuts(state, runningDiscounts(state, subscription), lines)[0] ?? [];
}

/**
 * A part of an amount, as its subscription has prorations: net, with discounts of 0 beside it (`included`), or gross with
 * the discounts themselves (`itemized`). The net amount is the same.
 */
function prorate(
  subscription: Subscription,
  { net, cuts }: { net: number; cuts: readonly Cut[] },
  [part, whole]: readonly [part: number, whole: number],
): { cents: number; cuts: Cut[] } {
  const netCents = share(net, part, whole);
  if (prorationMode(subscription) !== 'itemized') {
    return { cents: netCents, cuts: cuts.map(({ discount }) => ({ discount, amount: 0 })) };
  }
  const total = sumCuts(cuts);
  const cents = share(net + total, part, whole);
  let [counted, assigned] = [0, 0];
  const parts = cuts.map(({ discount, amount }) => {
    counted += amount; // cumulative, so that the parts add up to the whole
    const ofThis = share(cents - netCents, counted, total) - assigned;
    assigned += ofThis;
    return { discount, amount: ofThis };
  });
  return { cents, cuts: parts };
}

/**
 * The credit for billed but unused time: in the flexible billing mode the part of the amount that was actually billed for
 * it, after discounts; in the classic one, the part of what the item costs now. Nothing billed, no credit.
 */
export function creditLine(state: State, item: SubscriptionItem, at: number): DraftLine[] {
  const debit = state.find('hidden.debit', `hidden_debit_${item.id}`);
  if (!debit || debit.cents === 0 || debit.end <= at) return [];
  const from = Math.max(at, debit.start);
  const subscription = state.get('subscription', item.subscription);
  const current = currentCuts(state, subscription, item);
  const billed =
    prorationMode(subscription) === 'classic'
      ? { net: calculateCost(item) - sumCuts(current), cuts: current }
      : { net: debit.cents, cuts: debit.cuts ?? [] };
  const unused = prorate(subscription, billed, [debit.end - from, debit.end - debit.start]);
  return [
    {
      item: structuredClone(item),
      cents: -unused.cents,
      cuts: unused.cuts.map(({ discount, amount }) => ({ discount, amount: 0 - amount })),
      period: { start: from, end: debit.end },
      description: `Unused time on ${findProductName(state, item)} after ${formatDay(from)}`,
      proration: true,
      debit: false,
      ...(debit.invoice !== null && { credited: { invoice: debit.invoice, line: debit.line } }),
    },
  ];
}

/** The rest of the current period at a new price, with the discounts that apply. */
export function remainderLine(state: State, subscription: Subscription, at: number): DraftLine {
  const item = getItem(subscription);
  const cuts = currentCuts(state, subscription, item);
  const { current_period_start: start, current_period_end: end } = item;
  const net = calculateCost(item) - sumCuts(cuts);
  return {
    item: structuredClone(item),
    ...prorate(subscription, { net, cuts }, [end - at, end - start]),
    period: { start: at, end },
    description: `Remaining time on ${findProductName(state, item)} after ${formatDay(at)}`,
    proration: true,
    debit: true,
  };
}
