import type { UserId } from '../shared/index.ts';
import type { Db } from '../store/index.ts';
import type { Membership } from './membership.ts';
import { toMembership } from './membership-store.ts';

// Memberships whose turn it is: what the jobs look for.

/** Members with a customer, in the order of their ids; from after the given one. */
export async function listMembershipsAfter(db: Db, afterUserId: UserId, max: number): Promise<Membership[]> {
  const rows = await db
    .selectFrom('memberships')
    .selectAll()
    .where('customer_id', 'is not', null)
    .where('user_id', '>', afterUserId)
    .orderBy('user_id')
    .limit(max)
    .execute();
  return rows.map(toMembership);
}

/** Whose change of plan falls due before this moment, and is not yet Stripe's business. */
export async function listDueChanges(db: Db, beforeMs: number, max: number): Promise<Membership[]> {
  const rows = await db
    .selectFrom('memberships')
    .selectAll()
    .where('next_plan_id', 'is not', null)
    .where('cancel_at_period_end', '=', 1)
    .where('period_end', '<=', beforeMs)
    .orderBy('period_end')
    .limit(max)
    .execute();
  return rows.map(toMembership);
}

/** Those whose renewal could not be charged since before this moment. */
export async function listUnpaidBefore(db: Db, beforeMs: number, max: number): Promise<UserId[]> {
  const rows = await db
    .selectFrom('memberships')
    .select('user_id')
    .where('status', 'in', ['past_due', 'unpaid'])
    .where('unpaid_since', '<=', beforeMs)
    .orderBy('unpaid_since')
    .limit(max)
    .execute();
  return rows.map(({ user_id }) => user_id);
}

/** Whose trial ends in this time, and who have no plan. */
export async function listTrialsEnding(db: Db, fromMs: number, untilMs: number): Promise<Membership[]> {
  const rows = await db
    .selectFrom('memberships')
    .innerJoin('users', 'users.id', 'memberships.user_id')
    .selectAll('memberships')
    .where('memberships.status', '=', 'trialing')
    .where('trial_end', '>', fromMs)
    .where('trial_end', '<=', untilMs)
    .where('plan_id', 'is', null)
    .where('disabled_at', 'is', null)
    .orderBy('trial_end')
    .execute();
  return rows.map(toMembership);
}
