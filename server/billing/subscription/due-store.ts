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
    .where('customerId', 'is not', null)
    .where('userId', '>', afterUserId)
    .orderBy('userId')
    .limit(max)
    .execute();
  return rows.map(toMembership);
}

/** Users with a change of plan that an earlier release has scheduled. */
export async function listOldChanges(db: Db, max: number): Promise<Membership[]> {
  const rows = await db
    .selectFrom('memberships')
    .selectAll()
    .where('nextPlanId', 'is not', null)
    .where('cancelAtPeriodEnd', '=', 1)
    .where('status', '=', 'active')
    .orderBy('periodEnd')
    .limit(max)
    .execute();
  return rows.map(toMembership);
}

/** Users whose renewal has been unpaid since before this time. */
export async function listUnpaidBefore(db: Db, beforeMs: number, max: number): Promise<UserId[]> {
  const rows = await db
    .selectFrom('memberships')
    .select('userId')
    .where('status', 'in', ['past_due', 'unpaid'])
    .where('unpaidSince', '<=', beforeMs)
    .orderBy('unpaidSince')
    .limit(max)
    .execute();
  return rows.map(({ userId }) => userId);
}

/** Users without a plan whose trial ends in this time. */
export async function listTrialsEnding(db: Db, fromMs: number, untilMs: number): Promise<Membership[]> {
  const rows = await db
    .selectFrom('memberships')
    .selectAll()
    .where('status', '=', 'trialing')
    .where('trialEnd', '>', fromMs)
    .where('trialEnd', '<=', untilMs)
    .where(({ ref }) => isEnabledUser(ref('memberships.userId'), { withoutPlan: true }))
    .orderBy('trialEnd')
    .execute();
  return rows.map(toMembership);
}
