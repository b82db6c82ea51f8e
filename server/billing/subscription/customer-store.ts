import type { Transaction } from 'kysely';
import type { StripeCustomerId, StripeSubscriptionId, UserId } from '../../shared/index.ts';
import type { Db, Schema } from '../../store/index.ts';
import type { ContactDue, Membership } from './membership.ts';

/** The columns of a membership that `ensure-customer.ts` writes: its customer and its subscription at Stripe. */

/** Records that Stripe is being asked for a customer; the first time counts. */
export async function recordCustomerRequest(db: Db, userId: UserId, nowMs: number): Promise<void> {
  await db
    .updateTable('memberships')
    .set({ customerAskedAt: nowMs, updatedAt: nowMs })
    .where('userId', '=', userId)
    .where('customerAskedAt', 'is', null)
    .execute();
}

/**
 * After a failure Stripe is asked again, under new keys, which are derived from this time. The first of several
 * parallel failures does it.
 */
export async function resetCustomerRequest(
  db: Db,
  { userId, customerAskedAt }: Pick<Membership, 'userId' | 'customerAskedAt'>,
  nowMs: number,
): Promise<void> {
  await db
    .updateTable('memberships')
    // Later than before, even within the same millisecond.
    .set({ customerAskedAt: Math.max(nowMs, (customerAskedAt ?? 0) + 1), updatedAt: nowMs })
    .where('userId', '=', userId)
    .where('customerAskedAt', customerAskedAt === null ? 'is' : '=', customerAskedAt)
    .execute();
}

/** The first customer stays; also in the specification's user record. Its name and address are still to be written. */
export async function setCustomer(
  trx: Transaction<Schema>,
  { userId, customerId }: { userId: UserId; customerId: StripeCustomerId },
  nowMs: number,
): Promise<void> {
  await trx
    .updateTable('memberships')
    .set(({ eb }) => ({
      customerId,
      contact: JSON.stringify({ state: 'due' } satisfies ContactDue),
      contactAt: nowMs,
      version: eb('version', '+', 1),
      updatedAt: nowMs,
    }))
    .where('userId', '=', userId)
    .where('customerId', 'is', null)
    .execute();
}

/** The length of the next subscription's trial is decided once per generation, before Stripe is asked. */
export async function setTrialDays(
  trx: Transaction<Schema>,
  { userId, days }: { userId: UserId; days: number },
  nowMs: number,
): Promise<void> {
  await trx
    .updateTable('memberships')
    .set({ trialDays: days, updatedAt: nowMs })
    .where('userId', '=', userId)
    .where('trialDays', '=', 0)
    .execute();
}

export async function setSubscription(
  db: Db,
  {
    userId,
    generation,
    subscriptionId,
  }: Pick<Membership, 'userId' | 'generation'> & { subscriptionId: StripeSubscriptionId },
  nowMs: number,
): Promise<void> {
  await db
    .updateTable('memberships')
    .set(({ eb }) => ({ subscriptionId, version: eb('version', '+', 1), updatedAt: nowMs }))
    .where('userId', '=', userId)
    .where('generation', '=', generation)
    .where('subscriptionId', 'is', null)
    .execute();
}
