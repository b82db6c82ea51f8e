import { dayMs, minuteMs } from '../../shared/index.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { type Order, toPriceCents, toReturnableCents } from '../orders/order.ts';

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

/** A payment of the contract, with what is given back of it. */
interface WithdrawalPart {
  order: Order;
  /** To the card. */
  refundCents: number;
  /** To the balance at Stripe, which pays what is owed first. */
  balanceCents: number;
}

/** A contract from which the user may still withdraw. */
export interface Withdrawal {
  /** The purchase, and the upgrades within its paid time; the newest first. */
  parts: readonly [WithdrawalPart, ...WithdrawalPart[]];
  /** Milliseconds since the epoch. */
  until: number;
  /** The amount that is given back to the card. */
  refundCents: number;
  /** The amount that becomes credit again. */
  creditCents: number;
  /** Too small to be charged until now, and not owed any more. */
  owedCents: number;
  /** undefined: everything is given back. */
  days?: UsedDays | undefined;
}

/** `changed`: another day has begun since the page was opened, and nothing has happened. */
export type WithdrawalResult = 'withdrawn' | 'noted' | 'no-change' | 'changed';

type Rules = Pick<Catalogue, 'withdrawalDays' | 'withdrawalRefund'>;

/** Tests whether an earlier payment of the subscription still pays a part of this order's time: then it is a change of plan. */
const isWithinPaidTime = (order: Order, earlier: readonly Order[]): boolean =>
  earlier.some(({ renewsAt }) => renewsAt !== null && renewsAt > order.orderedAt);

/**
 * The purchase of the plan and the upgrades within its paid time, the newest first; undefined: a renewal has followed, or
 * there is none. A subscription that has ended is another contract.
 */
function findContract(orders: readonly Order[]): readonly [Order, ...Order[]] | undefined {
  const own = orders.filter(({ subscriptionId }) => subscriptionId === orders[0]?.subscriptionId);
  const start = own.findIndex((order, at) => !isWithinPaidTime(order, own.slice(at + 1)));
  const [newest, ...earlier] = own.slice(0, start + 1);
  if (!newest || [newest, ...earlier].some(({ orderType }) => orderType !== 'upgrade')) return undefined;
  return [newest, ...earlier];
}

/** Rounded down, without the errors of floating-point numbers. */
const toShare = (cents: number, ms: number, days: number): number =>
  Number((BigInt(cents) * BigInt(ms)) / (BigInt(days) * BigInt(dayMs)));

const countDays = (fromMs: number, toMs: number): number => Math.max(1, Math.round((toMs - fromMs) / dayMs));

/**
 * The share of the price for the whole days since the purchase (Directive 2011/83/EU, article 14 (3)), rounded down: a day
 * that is not over costs nothing. After an upgrade the time costs what that has cost, with what the order before has left
 * unused.
 * @param contract the newest order first
 */
function countUsedDays(contract: readonly Order[], { withdrawalRefund }: Rules, nowMs: number): UsedDays | undefined {
  const [purchase, ...upgrades] = contract.toReversed();
  const renewsAt = contract[0]?.renewsAt ?? null;
  // Without the user's request nothing is owed for these days.
  if (withdrawalRefund !== 'prorated' || purchase?.beginRequestedAt == null || renewsAt === null) return undefined;
  const { beginRequestedAt: requestedAt, orderedAt: startMs } = purchase;
  const total = countDays(startMs, renewsAt);
  const used = Math.min(total, Math.max(0, Math.floor((nowMs - startMs) / dayMs)));
  const endMs = startMs + used * dayMs;
  let [cents, unusedCents] = [0, 0];
  for (const [at, order] of [purchase, ...upgrades].entries()) {
    const until = Math.min(endMs, upgrades[at]?.orderedAt ?? endMs);
    const usedMs = Math.max(0, until - order.orderedAt);
    unusedCents += toPriceCents(order);
    const share = toShare(unusedCents, usedMs, countDays(order.orderedAt, order.renewsAt ?? renewsAt));
    unusedCents -= share;
    cents += share;
  }
  return used === 0 ? undefined : { used, total, cents, requestedAt };
}

/** Also by a credit note without a refund: what credit has paid is credit again. */
const hasGoneBack = ({ refundedCents, creditNotes, disputeState }: Order): boolean =>
  refundedCents > 0 || creditNotes.length > 0 || disputeState === 'lost';

/** The unused time of the purchase was worth more than the upgrade: the rest is the user's credit, and may be spent. */
const hasLeftCredit = (order: Order): boolean => toPriceCents(order) <= 0;

/** Each payment with what is given back of it: the days are taken from what credit has paid first. */
function toParts([newest, ...earlier]: readonly [Order, ...Order[]], keptCents: number): Withdrawal['parts'] {
  const whole = (order: Order) => ({ order, refundCents: toReturnableCents(order), priceCents: toPriceCents(order) });
  const [first, ...rest] = [whole(newest), ...earlier.map(whole)] as const;
  let leftCents = keptCents;
  const reduce = (cents: number): number => {
    const keptHere = Math.min(leftCents, cents);
    leftCents -= keptHere;
    return cents - keptHere;
  };
  const fromCredit = [first, ...rest].map(({ priceCents, refundCents }) => reduce(priceCents - refundCents));
  const toPart = ({ order, refundCents }: typeof first, at: number): WithdrawalPart => ({
    order,
    refundCents: reduce(refundCents),
    balanceCents: fromCredit[at] ?? 0,
  });
  return [toPart(first, 0), ...rest.map((one, at) => toPart(one, at + 1))];
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);

/**
 * The contract from which the user may withdraw: the purchase of a plan, for some days (Directive 2011/83/EU, articles 9
 * and 11a). A renewal goes on with the same contract. An upgrade within a paid period does too: it is withdrawn from
 * together with the purchase, within the days of that.
 * @param orders of the user, the newest first
 */
export function findWithdrawal(orders: readonly Order[], rules: Rules, nowMs: number): Withdrawal | undefined {
  const contract = findContract(orders);
  if (rules.withdrawalDays === undefined || !contract || contract.some(hasGoneBack)) return undefined;
  const until = (contract.at(-1)?.orderedAt ?? 0) + rules.withdrawalDays * dayMs;
  if (nowMs >= until || contract.slice(0, -1).some(hasLeftCredit)) return undefined;
  const days = countUsedDays(contract, rules, nowMs);
  const parts = toParts(contract, days?.cents ?? 0);
  const refundCents = sum(parts.map((part) => part.refundCents));
  const balanceCents = sum(parts.map((part) => part.balanceCents));
  if (refundCents + balanceCents <= 0) return undefined;
  const debtCents = sum(contract.map((order) => order.debtCents ?? 0));
  const owedCents = Math.min(Math.max(0, debtCents), balanceCents);
  return { parts, until, refundCents, creditCents: balanceCents - owedCents, owedCents, days };
}

/** The announced number of days holds for so long. */
const announcedMs = 30 * minuteMs;

/** The form of a withdrawal: what its page has named. */
export interface AnnouncedWithdrawal {
  /** 0 if everything is given back. */
  days: number;
  /** The number of payments. */
  payments: number;
}

/** The withdrawal as it was announced; undefined: there is none. */
export function findAnnouncedWithdrawal(
  orders: readonly Order[],
  { rules, announced }: { rules: Rules; announced: AnnouncedWithdrawal },
  nowMs: number,
): Withdrawal | 'changed' | undefined {
  const now = findWithdrawal(orders, rules, nowMs);
  if (!now) return undefined;
  // An upgrade in another tab.
  if (now.parts.length !== announced.payments) return 'changed';
  if (now.days === undefined || now.days.used === announced.days) return now;
  const before = findWithdrawal(orders, rules, nowMs - announcedMs);
  return (before?.days?.used ?? 0) === announced.days && before ? before : 'changed';
}
