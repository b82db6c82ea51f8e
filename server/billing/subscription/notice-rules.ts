import { addMonths, minuteMs } from '../../shared/index.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { BillingTask } from '../jobs/task-store.ts';
import type { Order, RefundPart } from '../orders/order.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import type { RefundAtEnd } from './coming-acts.ts';
import type { RefundAmounts } from './early-end.ts';
import type { Membership } from './membership.ts';

// A yearly plan that has renewed by a year ends on a month's notice (`afterYear: year-with-refund`; section 309 no. 9
// BGB), and the rest of that year is given back. The first year is the agreed term: it is paid and runs out.

/** Tests whether the running period is a year that follows a paid year of the same subscription. */
function isFollowingYear(
  { subscriptionId, periodStart, paidPlanId, pricedPlanId }: Membership,
  orders: readonly Order[],
  { byId }: Pick<Catalogue, 'byId'>,
): boolean {
  if (subscriptionId === null || periodStart === null) return false;
  // A renewal that is not charged yet leaves the plan that was paid before.
  if (byId(pricedPlanId)?.type !== '2' || byId(paidPlanId)?.type !== '2') return false;
  return orders.some(
    (order) =>
      order.subscriptionId === subscriptionId &&
      order.renewsAt === periodStart &&
      order.orderedAt < periodStart &&
      byId(order.planId)?.type === '2',
  );
}

/**
 * The end of a plan on a month's notice: milliseconds since the epoch; undefined: it ends with its period.
 * @param second of the cancellation, since the epoch
 */
export function findNoticeEnd(
  { membership, orders, second }: { membership: Membership; orders: readonly Order[]; second: number },
  catalogue: Pick<Catalogue, 'byId' | 'afterYear'>,
): number | undefined {
  if (catalogue.afterYear !== 'year-with-refund' || !isFollowingYear(membership, orders, catalogue)) return undefined;
  const endsAt = addMonths(second * 1_000, 1);
  return membership.periodEnd !== null && endsAt < membership.periodEnd ? endsAt : undefined;
}

/** An announced end and its amount hold for so long. */
export const quotedMs = 30 * minuteMs;

const toSecond = (ms: number) => Math.floor(ms / 1_000);

/**
 * The same for an act of now, with the end that its page has announced: an invented one does not count.
 * @param of.announcedEndsAt undefined: no page has announced any
 */
export function findNoticeEndNow(
  {
    nowMs,
    announcedEndsAt,
    ...of
  }: { membership: Membership; orders: readonly Order[]; nowMs: number; announcedEndsAt?: number | undefined },
  catalogue: Pick<Catalogue, 'byId' | 'afterYear'>,
): number | undefined {
  const endsAt = findNoticeEnd({ ...of, second: toSecond(nowMs) }, catalogue);
  if (endsAt === undefined || announcedEndsAt === undefined) return endsAt;
  const earliest = addMonths(toSecond(nowMs - quotedMs) * 1_000, 1);
  return announcedEndsAt >= earliest && announcedEndsAt < endsAt ? announcedEndsAt : endsAt;
}

/** The sums of several payments. */
export function toRefundAmounts(parts: readonly RefundPart[], currency: string): RefundAmounts {
  const sum = (key: 'refundCents' | 'creditCents') => parts.reduce((total, part) => total + part[key], 0);
  return { refundCents: sum('refundCents'), creditCents: sum('creditCents'), currency };
}

/** The end on a month's notice that Stripe has not confirmed. */
const listNotices = (tasks: readonly BillingTask[]) =>
  tasks.flatMap(({ kind, detail }) => {
    const notice = kind === 'cancel-later' ? parseColumn(storedValues.endOnNotice, detail) : null;
    return notice ? [notice] : [];
  });

/** The refunds that wait for the end of their subscription. */
const listRefunds = (tasks: readonly BillingTask[]) =>
  tasks.flatMap(({ kind, detail }) => {
    const refund = kind === 'refund' ? parseColumn(storedValues.refund, detail) : null;
    return refund?.after ? [{ ...refund, after: refund.after }] : [];
  });

/** Tests for a refund that waits for the end of its subscription. */
export const waitsForEnd = (task: BillingTask): boolean => listRefunds([task]).length > 0;

/** The refund that a user was told of, for the end of their plan; undefined: there is none. */
function findRefundAtEnd(tasks: readonly BillingTask[]): RefundAtEnd | undefined {
  const notice = listNotices(tasks).at(-1);
  if (notice) {
    const { endsAt, parts, currency } = notice;
    return { endsAt, amounts: parts && toRefundAmounts(parts, currency) };
  }
  const refunds = listRefunds(tasks);
  const { endsAt, currency } = refunds.at(-1)?.after ?? {};
  if (endsAt === undefined || currency === undefined) return undefined;
  const parts = refunds
    .filter(({ after }) => after.endsAt === endsAt)
    .map(({ invoiceId, amountCents, creditCents = 0 }) => ({ invoiceId, refundCents: amountCents, creditCents }));
  return { endsAt, amounts: toRefundAmounts(parts, currency) };
}

/** The membership with the end and the refund that its user was told of. */
export function withRefundAtEnd<M extends Membership>(membership: M, tasks: readonly BillingTask[]): M {
  const refundAtEnd = membership.cancelAtPeriodEnd ? findRefundAtEnd(tasks) : undefined;
  if (!refundAtEnd) return membership;
  const { endsAt } = refundAtEnd;
  const isNoted = membership.noted === 'cancel';
  if (!isNoted && membership.periodEnd !== endsAt) return membership;
  return { ...membership, periodEnd: endsAt, refundAtEnd };
}

/** The tasks of a user in the order of an act that settles them: a refund that an operator has asked for may end the plan. */
export const settlingOrder: readonly ((task: BillingTask) => boolean)[] = [
  (task) => task.kind === 'refund' && !waitsForEnd(task),
  ({ kind }) => kind !== 'refund' && kind !== 'ensure-customer',
];

/** Tests whether a task is a refund that ends nothing: it may wait for a bank, or for Stripe. */
export const isRefundAlone = ({ kind, detail }: BillingTask): boolean =>
  kind === 'refund' && parseColumn(storedValues.refund, detail)?.end === 'keep';
