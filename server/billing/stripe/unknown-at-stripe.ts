import { type StripeCustomerId, toStripeCustomerId, toUserId, type UserId } from '../../shared/index.ts';
import { findUser } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import { hasPendingDeletion } from '../jobs/task-store.ts';
import { memberKey } from '../subscription/ensure-customer.ts';
import { findMembership, findMembershipByCustomer } from '../subscription/membership-store.ts';
import { callStripe } from './stripe-client.ts';
import type { Difference } from './stripe-differences.ts';
import { toId, toMs } from './stripe-objects.ts';

/** A customer this new may still be about to be stored here. */
const freshMs = 10 * 60_000;

async function toUnknown(
  deps: BillingDeps,
  customerId: StripeCustomerId,
  userId: UserId,
): Promise<Difference | undefined> {
  const { db } = deps.database;
  // A customer that waits for its deletion at Stripe.
  if ((await findMembershipByCustomer(db, customerId)) || (await hasPendingDeletion(db, customerId))) return undefined;
  const difference = (kind: Difference['kind']) => ({ kind, userId, customerId, detail: customerId });
  if (!(await findUser(db, userId))) return difference('customer of nobody');
  const known = (await findMembership(db, userId))?.customerId;
  return difference(known == null ? 'customer unknown here' : 'second customer');
}

/** Customers and subscriptions at Stripe that name a user, but are unknown here. @throws {StripeUnavailableError} */
export async function listUnknownAtStripe(deps: BillingDeps): Promise<Difference[]> {
  const { database, now } = deps;
  const unknowns: Difference[] = [];
  return callStripe(deps.stripe, async (stripe) => {
    for await (const { id, metadata, created } of stripe.customers.list({ limit: 100 })) {
      const userId = metadata[memberKey];
      if (userId === undefined || now() - toMs(created) < freshMs) continue;
      const unknown = await toUnknown(deps, toStripeCustomerId(id), toUserId(userId));
      if (unknown) unknowns.push(unknown);
    }
    for await (const { id, metadata, created, customer } of stripe.subscriptions.list({ limit: 100 })) {
      const userId = metadata[memberKey];
      const customerId = toStripeCustomerId(toId(customer));
      if (userId === undefined || now() - toMs(created) < freshMs) continue;
      if (unknowns.some((one) => one.customerId === customerId)) continue;
      if (await hasPendingDeletion(database.db, customerId)) continue;
      const known = await findMembershipByCustomer(database.db, customerId);
      // Every subscription of a known customer is compared.
      if (!known)
        unknowns.push({ kind: 'subscription unknown here', userId: toUserId(userId), customerId, detail: id });
    }
    return unknowns;
  });
}
