import { endPayment } from './charge.ts';
import type { MembershipDeps } from './deps.ts';
import { oneAtATime } from './member-lock.ts';
import { findMembership } from './membership-store.ts';
import { endLater, schedule } from './scheduled.ts';
import { type Membership, trialPlan } from './standing.ts';
import { asking, found, refusalOf } from './stripe.ts';
import { syncMember } from './sync.ts';
import { type BillingTask, dueTasks, finishTask, postponeTask } from './task-store.ts';

const batch = 50;

/**
 * Each subscription of the customer that goes on; one that has ended meanwhile is as well. Stripe stops collecting then; an
 * invoice that is open still is void, or its page would take money for nothing.
 */
export async function cancelNow(deps: MembershipDeps, userId: string, customerId: string): Promise<void> {
  await asking(deps.stripe, async (stripe) => {
    const { data } = (await found(stripe.subscriptions.list({ customer: customerId, limit: 100 }))) ?? { data: [] };
    for (const { id } of data) await found(stripe.subscriptions.cancel(id));
  });
  const open = await asking(deps.stripe, (stripe) =>
    found(stripe.invoices.list({ customer: customerId, status: 'open', limit: 100 })),
  );
  for (const { id } of open?.data ?? []) {
    try {
      await asking(deps.stripe, (stripe) => stripe.invoices.voidInvoice(id));
    } catch (error) {
      // Paid in this very moment.
      if (!refusalOf(error)) throw error;
    }
  }
  await syncMember(deps, userId);
}

/** What is paid ends with its period; a renewal that is not paid has none that could be waited for, and is not charged again. */
export async function endPaid(deps: MembershipDeps, membership: Membership): Promise<void> {
  const { userId, customerId, unpaid } = membership;
  if (unpaid && customerId !== null) await cancelNow(deps, userId, customerId);
  else await endLater(deps, membership);
}

/** Whatever was to follow does not: whoever leaves is charged for nothing more. */
async function cancelLater(deps: MembershipDeps, userId: string): Promise<void> {
  const membership = await syncMember(deps, userId);
  if (!membership?.subscriptionId || (membership.cancelAtPeriodEnd && membership.nextPlanId === null)) return;
  // What costs nothing may go on.
  if (membership.pricedPlanId === trialPlan) return;
  await endPaid(deps, membership);
}

/** As before the member wanted to leave: it goes on, or a change that was settled then still comes. */
async function keep(deps: MembershipDeps, userId: string, planId: string | null): Promise<void> {
  const membership = await syncMember(deps, userId);
  if (!membership?.subscriptionId || !membership.cancelAtPeriodEnd || membership.nextPlanId !== null) return;
  await schedule(deps, membership, deps.catalogue.byId(planId) ?? null);
}

async function carryOut(deps: MembershipDeps, { kind, userId, customerId, planId }: BillingTask): Promise<void> {
  if (kind === 'delete-customer') {
    if (customerId !== null) await asking(deps.stripe, (stripe) => found(stripe.customers.del(customerId)));
    return;
  }
  if (userId === null) return;
  await oneAtATime(deps.database, userId, async () => {
    // Or a payment that is finished late would bring back what ends.
    if (kind !== 'keep') await endPayment(deps, userId);
    if (kind === 'cancel-later') return cancelLater(deps, userId);
    if (kind === 'keep') return keep(deps, userId, planId);
    const customer = (await findMembership(deps.database.db, userId))?.customerId ?? customerId;
    if (customer !== null) await cancelNow(deps, userId, customer);
  });
}

/** Does at Stripe what was decided here; what does not work is tried again later. @returns how many are done */
export async function carryOutTasks(deps: MembershipDeps): Promise<number> {
  const { database, log, now } = deps;
  let done = 0;
  for (const task of await dueTasks(database.db, now(), batch)) {
    try {
      await carryOut(deps, task);
      await finishTask(database.db, task.id);
      done += 1;
    } catch (error) {
      const why = refusalOf(error)?.message ?? (error instanceof Error ? error.message : String(error));
      await postponeTask(database.db, task, why, now());
      log.warn({ err: error, act: task.kind }, 'could not do at Stripe what was decided here; it is tried again');
    }
  }
  return done;
}
