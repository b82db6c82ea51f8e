import type { UserId } from '../../shared/index.ts';
import type { BillingDeps } from '../deps.ts';
import { addBillingTask, type BillingTask, completeTask, saveDetail } from '../jobs/task-store.ts';
import type { EarlyEnd, EndOnNotice, RefundPart, RefundTask } from '../orders/order.ts';
import { listOrders } from '../orders/order-store.ts';
import { StripeUnavailableError } from '../results.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import { findPendingRenewal } from './changeable-subscription.ts';
import { isPaused, type Membership, trialPlanKey } from './membership.ts';
import { findNoticeEnd } from './notice-rules.ts';
import { scheduleEnd } from './scheduled-change.ts';
import { syncMember } from './sync-from-stripe.ts';
import { quoteUnusedTime } from './unused-time.ts';

/** The end on a month's notice that a task asks for; undefined: it ends with its period. */
export const readEndOnNotice = ({ kind, detail }: BillingTask): EndOnNotice | undefined =>
  (kind === 'cancel-later' && parseColumn(storedValues.endOnNotice, detail)) || undefined;

const readNotice = ({ detail }: BillingTask): EndOnNotice | undefined =>
  parseColumn(storedValues.endOnNotice, detail) ?? undefined;

/** Tests for a renewal that is not paid yet: Stripe has not charged it, or a bank has its debit. @throws {StripeUnavailableError} */
export const isRenewalUnderWay = async (deps: BillingDeps, membership: Membership): Promise<boolean> =>
  membership.pending?.debit === 'renewal' || (await findPendingRenewal(deps, membership)) !== undefined;

/** Tests for a period whose unused time is given back: any, or a following year alone. */
async function isGivenBack(deps: BillingDeps, membership: Membership): Promise<boolean> {
  if (deps.catalogue.cancel === 'prorated') return true;
  const orders = await listOrders(deps.database.db, membership.userId);
  // A payment that was completed meanwhile may have begun another year.
  const second = Math.floor(deps.now() / 1_000);
  return findNoticeEnd({ membership, orders, second }, deps.catalogue) !== undefined;
}

/** The notice with the amounts that Stripe has computed meanwhile. @throws {StripeUnavailableError} */
async function withParts(
  deps: BillingDeps,
  { task, membership, notice }: { task: BillingTask; membership: Membership; notice: EndOnNotice },
): Promise<EndOnNotice & { parts: NonNullable<EndOnNotice['parts']> }> {
  if (notice.parts !== null) return { ...notice, parts: notice.parts };
  // Its time is given back when it is paid.
  if (await isRenewalUnderWay(deps, membership)) throw new StripeUnavailableError('the renewal is being charged');
  const unused = (await isGivenBack(deps, membership))
    ? // A renewal that was paid meanwhile is given back whole.
      await quoteUnusedTime(deps, membership, Math.floor(Math.max(notice.endsAt, membership.periodStart ?? 0) / 1_000))
    : undefined;
  const { parts = [], amounts = { currency: notice.currency } } = unused ?? {};
  const computed = { ...notice, parts, currency: amounts.currency };
  await saveDetail(deps.database.db, task, JSON.stringify(computed satisfies EndOnNotice));
  return computed;
}

/** The refunds of an end, which are made when the subscription has ended. */
async function addRefunds(
  trx: Parameters<typeof addBillingTask>[0],
  {
    userId,
    customerId,
    parts,
    after,
  }: Pick<Membership, 'userId' | 'customerId'> & { parts: readonly RefundPart[]; after: EarlyEnd },
  { dueAt, nowMs }: { dueAt: number; nowMs: number },
): Promise<void> {
  for (const { invoiceId, refundCents: amountCents, creditCents } of parts) {
    const refund: RefundTask = { invoiceId, amountCents, creditCents, operator: 'cancellation', end: 'keep', after };
    await addBillingTask(trx, { kind: 'refund', userId, customerId, dueAt, detail: JSON.stringify(refund) }, nowMs);
  }
}

/** Tests whether the paid plan runs, and can end later than now. */
const runsOn = ({ subscriptionId, pricedPlanId, unpaid }: Membership): boolean =>
  subscriptionId !== null && pricedPlanId !== trialPlanKey && unpaid === null;

/**
 * Ends the plan on the announced day. The refund is written down before Stripe is asked for the end, and made when the
 * subscription has ended (`orders/refund-task.ts`). The caller holds the user's lock.
 * @returns false: there is nothing that could end on that day
 * @throws {StripeUnavailableError}
 */
export async function endOnNotice(
  deps: BillingDeps,
  { task, userId }: { task: BillingTask; userId: UserId },
  notice: EndOnNotice,
): Promise<boolean> {
  const { database, now } = deps;
  const membership = await syncMember(deps, userId);
  if (!membership?.subscriptionId || !runsOn(membership) || isPaused(membership)) return false;
  const { subscriptionId, customerId } = membership;
  const { parts, endsAt, currency } = await withParts(deps, { task, membership, notice });
  if (parts.length === 0 || endsAt <= now()) return false;
  await scheduleEnd(deps, membership, endsAt);
  await database.transaction(async (trx) => {
    const after = { subscriptionId, endsAt, currency };
    await addRefunds(trx, { userId, customerId, parts, after }, { dueAt: endsAt, nowMs: now() });
    await completeTask(trx, task.id);
  });
  return true;
}

/**
 * Before an end at once: writes down the refund of what is paid after a month's notice, or of all unused time, if the task
 * asks for one. The caller holds the user's lock, and ends the subscription.
 * @throws {StripeUnavailableError}
 */
export async function noteRefundOfEnd(
  deps: BillingDeps,
  { task, userId }: { task: BillingTask; userId: UserId },
): Promise<void> {
  const { database, now } = deps;
  const notice = readNotice(task);
  if (!notice) return;
  const membership = await syncMember(deps, userId);
  if (!membership?.subscriptionId || !runsOn(membership) || isPaused(membership)) return;
  // The year that begins with it is not paid, and is not charged.
  if (await isRenewalUnderWay(deps, membership)) return;
  const { subscriptionId, customerId } = membership;
  const { parts, endsAt, currency } = await withParts(deps, { task, membership, notice });
  await database.transaction(async (trx) => {
    const [after, nowMs] = [{ subscriptionId, endsAt, currency, atOnce: true }, now()];
    await addRefunds(trx, { userId, customerId, parts, after }, { dueAt: nowMs, nowMs });
    await saveDetail(trx, task, null);
  });
}
