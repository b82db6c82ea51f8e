import type { Transaction } from 'kysely';
import type { Schema } from '../../store/index.ts';
import type { User } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import { addBillingTask } from '../jobs/task-store.ts';
import { claimTrialDays } from './ensure-customer.ts';
import { findPartnerDealPlan } from './free-plans.ts';
import { insertMembership } from './membership-store.ts';

/**
 * In the transaction that makes a user a member: a task for their customer and trial, so that these do not depend on the
 * pages that the user loads. The flow in which the address was confirmed sets the length of the trial, so that no later
 * page can extend it. A partner's deal has no task: it needs no customer.
 */
export async function requestCustomer(
  trx: Transaction<Schema>,
  deps: Pick<BillingDeps, 'catalogue' | 'trialKey' | 'now'>,
  { user, days }: { user: Pick<User, 'id' | 'email' | 'emailVerified'>; days: number },
): Promise<void> {
  const { id: userId } = user;
  const nowMs = deps.now();
  const { customerId, subscriptionId, generation } = await insertMembership(trx, userId, nowMs);
  if (subscriptionId !== null) return;
  await claimTrialDays(trx, deps, { user, generation, days });
  if (await findPartnerDealPlan({ catalogue: deps.catalogue, database: { db: trx } }, user)) return;
  await addBillingTask(trx, { kind: 'ensure-customer', userId, customerId }, nowMs);
}
