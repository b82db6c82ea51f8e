import type { StripeCustomerId, UserId } from '../../shared/index.ts';
import { findUser } from '../../users/index.ts';
import { findPlan, isNext } from '../catalogue/catalogue.ts';
import { atAnnouncedPrices } from '../catalogue/prices.ts';
import type { BillingDeps } from '../deps.ts';
import { carryOutRefund } from '../orders/refund-task.ts';
import { finishOrDropPayment } from '../purchase/run-charge.ts';
import { StripeUnavailableError } from '../results.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import { callStripe, orNotFound, toStripeRefusal } from '../stripe/stripe-client.ts';
import { toId } from '../stripe/stripe-objects.ts';
import { endOnNotice, noteRefundOfEnd, readEndOnNotice } from '../subscription/end-on-notice.ts';
import { endsTrialLate } from '../subscription/end-trial.ts';
import { ensureCustomer } from '../subscription/ensure-customer.ts';
import { isRefusedResumption } from '../subscription/kept-renewal.ts';
import { isPaused, type Membership, trialPlanKey } from '../subscription/membership.ts';
import { currentPaidPlan } from '../subscription/membership-state.ts';
import { findMembership } from '../subscription/membership-store.ts';
import { isRefundAlone, settlingOrder, waitsForEnd } from '../subscription/notice-rules.ts';
import { isToCome, pauseAsNoted } from '../subscription/schedule-pause.ts';
import { readScheduled, readScheduledPrices, scheduleChange, scheduleEnd } from '../subscription/scheduled-change.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import { withUserLock } from '../user-lock.ts';
import {
  announcedSeats,
  type BillingTask,
  completeTask,
  type FreshTask,
  isWaiting,
  listDueTasks,
  listRefunds,
  listTasks,
  rescheduleTask,
} from './task-store.ts';

const batch = 50;

/**
 * Each running subscription of the customer; one that has ended meanwhile is fine too. Stripe stops collecting then. An
 * open invoice is voided, or its page would accept money for nothing; so is the draft of a renewal, once finalized. A
 * pause leaves the unused time as a pending invoice item: it becomes the customer's credit, or Stripe would remove it.
 */
export async function cancelSubscription(deps: BillingDeps, userId: UserId, customerId: StripeCustomerId) {
  await endSubscriptions(deps, customerId);
  await syncMember(deps, userId);
}

async function endSubscriptions(deps: BillingDeps, customerId: StripeCustomerId): Promise<void> {
  await callStripe(deps.stripe, async (stripe) => {
    const { data } = (await orNotFound(stripe.subscriptions.list({ customer: customerId, limit: 100 }))) ?? {
      data: [],
    };
    const drafts = await orNotFound(stripe.invoices.list({ customer: customerId, status: 'draft', limit: 100 }));
    for (const { id } of drafts?.data ?? []) await stripe.invoices.finalizeInvoice(id, { auto_advance: false });
    for (const { id, status, schedule } of data) {
      // Stripe refuses to end a subscription that a schedule manages: the schedule ends it.
      if (schedule) await stripe.subscriptionSchedules.cancel(toId(schedule), { invoice_now: false, prorate: false });
      else await orNotFound(stripe.subscriptions.cancel(id, status === 'paused' ? { invoice_now: true } : {}));
    }
  });
  const open = await callStripe(deps.stripe, (stripe) =>
    orNotFound(stripe.invoices.list({ customer: customerId, status: 'open', limit: 100 })),
  );
  for (const { id } of open?.data ?? []) {
    try {
      await callStripe(deps.stripe, (stripe) => stripe.invoices.voidInvoice(id));
    } catch (error) {
      // It has just been paid.
      if (!toStripeRefusal(error)) throw error;
    }
  }
}

/** A paid period runs out. An unpaid renewal has no period to wait for, and is not charged again. */
async function endPaidSubscription(deps: BillingDeps, membership: Membership): Promise<void> {
  const { userId, customerId, unpaid } = membership;
  if ((unpaid || isPaused(membership)) && customerId !== null) await cancelSubscription(deps, userId, customerId);
  else await scheduleEnd(deps, membership);
}

/** Cancels a following plan: nothing more is charged. */
async function cancelLater(deps: BillingDeps, userId: UserId, read?: FreshTask['read']): Promise<void> {
  const stored = await findMembership(deps.database.db, userId);
  const membership = read && stored?.version === read.version ? stored : await syncMember(deps, userId);
  if (!membership?.subscriptionId || (membership.cancelAtPeriodEnd && membership.nextPlanId === null)) return;
  // A free plan may continue.
  if (membership.pricedPlanId === trialPlanKey) return;
  await endPaidSubscription(deps, membership);
}

/**
 * Restores the state from before the request for deletion: the plan continues, or a change that was scheduled then
 * still takes effect, at the price that was announced for it.
 */
async function keep(deps: BillingDeps, userId: UserId, { planId, detail }: BillingTask): Promise<void> {
  const membership = await syncMember(deps, userId);
  if (!membership?.subscriptionId || membership.nextPlanId !== null) return;
  // Stripe did not have the change yet when the deletion was requested.
  const noted = parseColumn(storedValues.laterChange, detail)?.prices;
  const isMissing = noted !== undefined && currentPaidPlan(deps.catalogue, membership) !== undefined;
  const isOn = membership.pricedPlanId === planId && announcedSeats(noted ?? [], planId) === (membership.seats ?? 1);
  if (!membership.cancelAtPeriodEnd && (!isMissing || isOn)) return;
  const prices = noted ?? (await readScheduledPrices(deps, await readScheduled(deps, membership.subscriptionId)));
  const plan = findPlan(deps.catalogue, planId, announcedSeats(prices, planId)) ?? null;
  await atAnnouncedPrices(deps, prices, async (own) => void (await scheduleChange(own, membership, plan)));
}

/** Another paid plan from the period's end on, at the announced price. */
async function changeLater(deps: BillingDeps, userId: UserId, { planId, detail }: BillingTask): Promise<void> {
  const membership = await syncMember(deps, userId);
  const announced = parseColumn(storedValues.laterChange, detail)?.prices ?? [];
  const plan = findPlan(deps.catalogue, planId, announcedSeats(announced, planId));
  if (!membership || plan?.kind !== 'paid' || !currentPaidPlan(deps.catalogue, membership)) return;
  if (isNext(membership, plan) && !membership.cancelAtPeriodEnd) return;
  await atAnnouncedPrices(deps, announced, async (own) => void (await scheduleChange(own, membership, plan)));
}

/** Cancels the scheduled end, change or pause, at the announced prices. */
async function resume(deps: BillingDeps, userId: UserId, { detail }: BillingTask): Promise<void> {
  const membership = await syncMember(deps, userId);
  if (!membership?.subscriptionId || !isToCome(membership, deps.now())) return;
  const { prices = [], laterAmounts } = parseColumn(storedValues.laterChange, detail) ?? {};
  await atAnnouncedPrices(deps, prices, async (own) => {
    if (await isRefusedResumption(own, userId, laterAmounts)) return;
    await scheduleChange(own, membership, null);
  });
}

/** The customer and trial of a new member; a page or call of theirs may have been faster. */
async function createFirst(deps: BillingDeps, userId: UserId): Promise<void> {
  const user = await findUser(deps.database.db, userId);
  if (user) await ensureCustomer(deps, user, deps.catalogue.trial.days);
}

/** At once, or with its period. @returns whether the task has been completed or replaced there */
async function endSubscription(deps: BillingDeps, task: FreshTask, userId: UserId): Promise<boolean> {
  const { kind, customerId } = task;
  // Otherwise a payment that completes later would restore the ended plan.
  const left = await finishOrDropPayment(deps, userId);
  // The bank cannot be called back: a debit that is paid pays one period.
  const waiting = left === 'processing' ? await findMembership(deps.database.db, userId) : undefined;
  if (waiting && kind === 'cancel-later' && !readEndOnNotice(task)) await scheduleEnd(deps, waiting);
  const customer = (await findMembership(deps.database.db, userId))?.customerId ?? customerId;
  const notice = readEndOnNotice(task);
  if (notice && (await endOnNotice(deps, { task, userId }, notice))) return true;
  const isLate = await endsTrialLate(deps, { ...task, userId });
  if (kind === 'cancel-later' && !isLate) await cancelLater(deps, userId, task.read);
  else if (customer !== null) {
    await noteRefundOfEnd(deps, { task, userId });
    await cancelSubscription(deps, userId, customer);
  }
  return false;
}

/** The caller holds the user's lock. */
async function carryOutOfMember(deps: BillingDeps, task: FreshTask, userId: UserId): Promise<void> {
  const { kind } = task;
  // Another action may have replaced or finished it before.
  if (!(await isWaiting(deps.database.db, task.id))) return;
  if (kind === 'refund') return carryOutRefund(deps, task);
  if (kind === 'ensure-customer') await createFirst(deps, userId);
  else if (kind === 'keep') await keep(deps, userId, task);
  else if (kind === 'resume') await resume(deps, userId, task);
  else if (kind === 'change-later') await changeLater(deps, userId, task);
  else if (kind === 'pause') await pauseAsNoted(deps, userId, task);
  else if (await endSubscription(deps, task, userId)) return;
  await completeTask(deps.database.db, task.id);
}

/** Its credit is lost with it, and the log names the amount. */
async function deleteCustomer({ stripe, log }: BillingDeps, customerId: StripeCustomerId): Promise<void> {
  await callStripe(stripe, async (client) => {
    const customer = await orNotFound(client.customers.retrieve(customerId));
    if (customer && !customer.deleted && customer.balance < 0) {
      const { balance: balanceCents, currency } = customer;
      log.warn(
        { act: 'delete-customer', customer: customerId, balanceCents, currency },
        'customer deleted with credit',
      );
    }
    await orNotFound(client.customers.del(customerId));
  });
}

/** Stripe refunds no invoice of a deleted customer: what a user was told of is given back before, at the end that comes now. */
async function refundBeforeDeletion(deps: BillingDeps, customerId: StripeCustomerId): Promise<void> {
  const refunds = (await listRefunds(deps.database.db, customerId)).filter(waitsForEnd);
  if (refunds.length === 0) return;
  await endSubscriptions(deps, customerId);
  for (const refund of refunds) await carryOutRefund(deps, refund);
}

async function carryOut(deps: BillingDeps, task: BillingTask): Promise<void> {
  const { id, kind, userId, customerId } = task;
  if (kind !== 'delete-customer' && userId !== null) {
    return withUserLock(deps.database, userId, () => carryOutOfMember(deps, task, userId));
  }
  if (kind === 'refund') return carryOutRefund(deps, task);
  if (customerId !== null) {
    await refundBeforeDeletion(deps, customerId);
    await deleteCustomer(deps, customerId);
  }
  await completeTask(deps.database.db, id);
}

async function postpone(deps: BillingDeps, task: BillingTask, error: unknown): Promise<void> {
  const { database, log, now } = deps;
  const why = toStripeRefusal(error)?.message ?? (error instanceof Error ? error.message : String(error));
  await rescheduleTask(database.db, task, { error: why, nowMs: now() });
  log.warn({ err: error, act: task.kind }, 'Stripe task failed, will be retried');
}

/** @returns the number of completed ones; failures are tried again later */
export async function runEach(deps: BillingDeps, tasks: readonly BillingTask[]): Promise<number> {
  let done = 0;
  for (const task of tasks) {
    try {
      await carryOut(deps, task);
      done += 1;
    } catch (error) {
      await postpone(deps, task, error);
    }
  }
  return done;
}

/** Does the stored tasks at Stripe; failures are tried again later. @returns the number of completed ones */
export async function runTasks(deps: BillingDeps): Promise<number> {
  return runEach(deps, await listDueTasks(deps.database.db, deps.now(), batch));
}

/**
 * Does at once what was just stored, under the user's lock.
 * @returns whether it is done; if not, it is tried again every minute
 * @throws a refusal of Stripe
 */
export async function attemptTask(deps: BillingDeps, task: BillingTask): Promise<boolean> {
  try {
    await carryOut(deps, task);
    return true;
  } catch (error) {
    if (toStripeRefusal(error)) throw error;
    await postpone(deps, task, error);
    return false;
  }
}

/**
 * Does at once what was just stored; the caller holds the user's lock.
 * @param options.keepRefused false: what Stripe refuses is not tried again, but an error of the act
 * @returns whether it is done; if not, it is tried again every minute
 */
export async function carryOutAtOnce(
  deps: BillingDeps,
  task: FreshTask & { userId: UserId },
  { keepRefused = true }: { keepRefused?: boolean } = {},
): Promise<boolean> {
  try {
    await carryOutOfMember(deps, task, task.userId);
    return true;
  } catch (error) {
    if (!keepRefused && toStripeRefusal(error)) {
      await completeTask(deps.database.db, task.id);
      throw error;
    }
    await postpone(deps, task, error);
    return false;
  }
}

/**
 * Before an action that charges: earlier requests of the user are done first, or they would end the new purchase. The
 * caller holds the user's lock.
 * @returns whether there were any
 * @throws {StripeUnavailableError}
 */
export async function settleNoted(deps: BillingDeps, userId: UserId): Promise<boolean> {
  let isAny = false;
  for (const isMeant of settlingOrder) {
    for (const task of (await listTasks(deps.database.db, userId)).filter(isMeant)) {
      isAny = true;
      try {
        await carryOutOfMember(deps, task, userId);
      } catch (error) {
        if (isRefundAlone(task)) {
          await postpone(deps, task, error);
          continue;
        }
        const refusal = toStripeRefusal(error);
        throw refusal ? new StripeUnavailableError(refusal.message, { cause: error }) : error;
      }
    }
  }
  return isAny;
}
