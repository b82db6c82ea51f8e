import type { UserId } from '../../shared/index.ts';
import type { Db } from '../../store/index.ts';
import { isEnabledUser } from '../../users/index.ts';
import type { Membership } from './membership.ts';
import { toMembership } from './membership-store.ts';

// Memberships that are due: the look-ups of the jobs.

/** Users with a customer, in the order of their ids, after the given one. */
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

/** Users with a change of plan that is due before this time and not yet set at Stripe. */
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

/** Users whose renewal has been unpaid since before this time. */
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

/** Users without a plan whose trial ends in this time. */
export async function listTrialsEnding(db: Db, fromMs: number, untilMs: number): Promise<Membership[]> {
  const rows = await db
    .selectFrom('memberships')
    .selectAll()
    .where('status', '=', 'trialing')
    .where('trial_end', '>', fromMs)
    .where('trial_end', '<=', untilMs)
    .where(({ ref }) => isEnabledUser(ref('memberships.user_id'), { withoutPlan: true }))
    .orderBy('trial_end')
    .execute();
  return rows.map(toMembership);
}
