import { dayMs, minuteMs } from '../../shared/index.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { type Order, toPriceCents } from '../orders/order.ts';

/** The days until a withdrawal, which the user owes. */
interface UsedDays {
  /** Whole days. */
  used: number;
  /** Of the period that was paid. */
  total: number;
  /** Their share of the price. */
  cents: number;
  requestedAt: number;
}

/** A contract from which the user may still withdraw. */
export interface Withdrawal {
  order: Order;
  /** Milliseconds since the epoch. */
  until: number;
  /** The amount that is given back to the card. */
  refundCents: number;
  /** The amount that becomes credit again. */
  creditCents: number;
  /** Too small to be charged until now, and not owed any more. */
  owedCents: number;
  /** Both: the amount to the balance at Stripe, which pays what is owed first. */
  balanceCents: number;
  /** undefined: everything is given back. */
  days?: UsedDays | undefined;
}

/** `changed`: another day has begun since the page was opened, and nothing has happened. */
export type WithdrawalResult = 'withdrawn' | 'noted' | 'no-change' | 'changed';

type Rules = Pick<Catalogue, 'withdrawalDays' | 'withdrawalRefund'>;

/** Tests whether an earlier payment still pays a part of this order's time: then the order is a change of plan. */
const isWithinPaidTime = (order: Order, earlier: readonly Order[]): boolean =>
  earlier.some(
    ({ subscriptionId, renewsAt }) =>
      // A subscription that has ended is another contract.
      subscriptionId === order.subscriptionId && renewsAt !== null && renewsAt > order.orderedAt,
  );

/**
 * The share of the price for the whole days until now (Directive 2011/83/EU, article 14 (3)), rounded down: a day that is
 * not over costs nothing.
 */
function countUsedDays(order: Order, { withdrawalRefund }: Rules, nowMs: number): UsedDays | undefined {
  const { beginRequestedAt: requestedAt, renewsAt, orderedAt } = order;
  // Without the user's request nothing is owed for these days.
  if (withdrawalRefund !== 'prorated' || requestedAt === null || renewsAt === null) return undefined;
  const total = Math.max(1, Math.round((renewsAt - orderedAt) / dayMs));
  const used = Math.min(total, Math.max(0, Math.floor((nowMs - orderedAt) / dayMs)));
  if (used === 0) return undefined;
  const cents = Math.floor((toPriceCents(order) * used) / total);
  return { used, total, cents, requestedAt };
}

/** Also by a credit note without a refund: what credit has paid is credit again. */
const hasGoneBack = ({ refundedCents, creditNotes }: Order): boolean => refundedCents > 0 || creditNotes.length > 0;

/**
 * The contract from which the user may withdraw: the purchase of a plan, for some days (Directive 2011/83/EU, articles 9
 * and 11a). A renewal goes on with the same contract, and so does an upgrade within a paid period.
 * @param orders of the user, the newest first
 */
export function findWithdrawal(orders: readonly Order[], rules: Rules, nowMs: number): Withdrawal | undefined {
  const { withdrawalDays } = rules;
  // Also one that cost nothing: the unused time of the plan before has paid it, and is credit now.
  const [order, ...earlier] = orders;
  if (withdrawalDays === undefined || order?.orderType !== 'upgrade') return undefined;
  if (hasGoneBack(order)) return undefined;
  const until = order.orderedAt + withdrawalDays * dayMs;
  if (nowMs >= until || isWithinPaidTime(order, earlier)) return undefined;
  // The bank has given everything back.
  if (order.disputeState === 'lost') return undefined;
  const days = countUsedDays(order, rules, nowMs);
  const backCents = toPriceCents(order) - (days?.cents ?? 0);
  if (backCents <= 0) return undefined;
  // The days are taken from what the credit has paid first, so that the card gets back as much as it can.
  const refundCents = Math.min(order.paidCents, backCents);
  const balanceCents = backCents - refundCents;
  const owedCents = Math.min(Math.max(0, order.debtCents ?? 0), balanceCents);
  return { order, until, refundCents, creditCents: balanceCents - owedCents, owedCents, balanceCents, days };
}

/** The announced number of days holds for so long. */
const announcedMs = 30 * minuteMs;

/**
 * The withdrawal as it was announced; undefined: there is none.
 * @param announcedDays the days that the page has named, 0 if everything is given back
 */
export function findAnnouncedWithdrawal(
  orders: readonly Order[],
  { rules, announcedDays }: { rules: Rules; announcedDays: number },
  nowMs: number,
): Withdrawal | 'changed' | undefined {
  const now = findWithdrawal(orders, rules, nowMs);
  if (!now || now.days === undefined || now.days.used === announcedDays) return now;
  const before = findWithdrawal(orders, rules, nowMs - announcedMs);
  return (before?.days?.used ?? 0) === announcedDays && before ? before : 'changed';
}
