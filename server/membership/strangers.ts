import { findUser } from '../account/index.ts';
import type { MembershipDeps } from './deps.ts';
import type { Difference } from './differences.ts';
import { memberKey } from './ensure.ts';
import { findMembership, findMembershipOf } from './membership-store.ts';
import { asking } from './stripe.ts';
import { idOf, ms } from './stripe-objects.ts';
import { deletionWaits } from './task-store.ts';

/** Who is being made known this very moment is no stranger. */
const freshMs = 10 * 60_000;

async function strangerOf(deps: MembershipDeps, customerId: string, userId: string): Promise<Difference | undefined> {
  const { db } = deps.database;
  // What is to be deleted at Stripe is waiting for it.
  if ((await findMembershipOf(db, customerId)) || (await deletionWaits(db, customerId))) return undefined;
  const difference = (kind: Difference['kind']) => ({ kind, userId, customerId, detail: customerId });
  if (!(await findUser(db, userId))) return difference('customer of nobody');
  const known = (await findMembership(db, userId))?.customerId;
  return difference(known == null ? 'customer unknown here' : 'second customer');
}

/** Customers and subscriptions at Stripe that say whose they are, and are not known here. @throws {BillingUnavailable} */
export async function strangersAtStripe(deps: MembershipDeps): Promise<Difference[]> {
  const { database, now } = deps;
  const strangers: Difference[] = [];
  return asking(deps.stripe, async (stripe) => {
    for await (const { id, metadata, created } of stripe.customers.list({ limit: 100 })) {
      const userId = metadata[memberKey];
      if (userId === undefined || now() - ms(created) < freshMs) continue;
      const stranger = await strangerOf(deps, id, userId);
      if (stranger) strangers.push(stranger);
    }
    for await (const { id, metadata, created, customer } of stripe.subscriptions.list({ limit: 100 })) {
      const userId = metadata[memberKey];
      const customerId = idOf(customer);
      if (userId === undefined || now() - ms(created) < freshMs) continue;
      if (strangers.some((one) => one.customerId === customerId)) continue;
      if (await deletionWaits(database.db, customerId)) continue;
      const known = await findMembershipOf(database.db, customerId);
      // Of a known customer every subscription is compared.
      if (!known) strangers.push({ kind: 'subscription unknown here', userId, customerId, detail: id });
    }
    return strangers;
  });
}
