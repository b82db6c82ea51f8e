import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { PlanId, UserId } from '../../shared/index.ts';
import type { Db, Schema } from '../../store/index.ts';
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

/** Users whose paid period has ended since their pause began, also while Foyer was away. */
export async function listPausesBegun(db: Db, nowMs: number, max: number): Promise<UserId[]> {
  const rows = await db
    .selectFrom('memberships')
    .select('userId')
    .where('status', '=', 'paused')
    .where('pause', 'is not', null)
    .where('paidUntil', '<=', nowMs)
    .where(({ ref, eb }) => eb('syncedAt', '<', ref('paidUntil')))
    .orderBy('paidUntil')
    .limit(max)
    .execute();
  return rows.map(({ userId }) => userId);
}

/** Users whose renewal, or end of a pause, has been unpaid since before this time. */
export async function listUnpaidBefore(db: Db, beforeMs: number, max: number): Promise<UserId[]> {
  const rows = await db
    .selectFrom('memberships')
    .select('userId')
    .where('status', 'in', ['past_due', 'unpaid', 'paused'])
    .where((eb) => eb.or([eb('status', '!=', 'paused'), eb('pause', 'is not', null)]))
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
    .where(({ ref }) => isEnabledUser(ref('memberships.userId'), { plan: null }))
    .orderBy('trialEnd')
    .execute();
  return rows.map(toMembership);
}

/** A condition: the user was not told of this time. @param prefix of the notification's name, before the time */
const isUntold =
  (prefix: string, time: 'memberships.periodEnd' | 'memberships.giftUntil' | 'memberships.triedUntil') =>
  ({ not, exists, selectFrom, ref }: ExpressionBuilder<Schema, 'memberships'>): Expression<SqlBool> =>
    not(
      exists(
        selectFrom('toldMembers')
          .select('about')
          .whereRef('toldMembers.userId', '=', 'memberships.userId')
          .where('about', '=', sql<string>`${prefix} || cast(${ref(time)} as text)`),
      ),
    );

const giftPrefix = 'gift-ends:';
export const giftNoticeKey = (until: number): string => `${giftPrefix}${until}`;

/** Users whose gift ends in this time: with `fromMs`, those who have its plan and were not told; without, all. */
export async function listGiftsEnding(
  db: Db,
  { fromMs, untilMs, max }: { fromMs?: number; untilMs: number; max: number },
): Promise<Membership[]> {
  const ending = db.selectFrom('memberships').selectAll().where('giftUntil', '<=', untilMs);
  const due =
    fromMs === undefined
      ? ending
      : ending
          .where('giftUntil', '>', fromMs)
          .where(({ ref }) => isEnabledUser(ref('memberships.userId'), { plan: ref('memberships.giftPlanId') }))
          .where(isUntold(giftPrefix, 'memberships.giftUntil'));
  return (await due.orderBy('giftUntil').limit(max).execute()).map(toMembership);
}

const triedPrefix = 'plan-trial-ends:';
export const triedNoticeKey = (until: number): string => `${triedPrefix}${until}`;

/** A renewal in this time is announced by the notice of so many days. */
export interface RenewalWindow {
  days: number;
  fromMs: number;
  untilMs: number;
}

const noticePrefix = (days: number) => `renewal-notice:${days}:`;
export const renewalNoticeKey = (days: number, periodEnd: number): string => `${noticePrefix(days)}${periodEnd}`;

/** Users whose yearly plan begins or renews in this time, and who were not told of that. */
export async function listYearlyRenewals(
  db: Db,
  { yearly, window, max }: { yearly: PlanId[]; window: RenewalWindow; max: number },
): Promise<Membership[]> {
  const rows = await db
    .selectFrom('memberships')
    .selectAll()
    .where('status', '=', 'active')
    .where('cancelAtPeriodEnd', '=', 0)
    .where('pause', 'is', null)
    .where('periodEnd', '>', window.fromMs)
    .where('periodEnd', '<=', window.untilMs)
    .where((eb) =>
      eb.or([eb('nextPlanId', 'in', yearly), eb.and([eb('nextPlanId', 'is', null), eb('pricedPlanId', 'in', yearly)])]),
    )
    .where(({ ref }) => isEnabledUser(ref('memberships.userId')))
    .where(isUntold(noticePrefix(window.days), 'memberships.periodEnd'))
    .orderBy('periodEnd')
    .limit(max)
    .execute();
  return rows.map(toMembership);
}

/** Users who try one of the plans until a time in this one, and whom no mail has told of its end. */
export async function listTriedEnding(
  db: Db,
  { plans, fromMs, untilMs, max }: { plans: PlanId[]; fromMs: number; untilMs: number; max: number },
): Promise<Membership[]> {
  const rows = await db
    .selectFrom('memberships')
    .selectAll()
    .where('triedUntil', '>', fromMs)
    .where('triedUntil', '<=', untilMs)
    .where('triedPlanId', 'in', plans)
    .where('status', '=', 'trialing')
    .where('cancelAtPeriodEnd', '=', 0)
    .where(({ ref }) => isEnabledUser(ref('memberships.userId')))
    .where(isUntold(triedPrefix, 'memberships.triedUntil'))
    .orderBy('triedUntil')
    .limit(max)
    .execute();
  return rows.map(toMembership);
}

/** Users whose trial of a paid plan has been over since before this time, and who were not read since then. */
export async function listTriedOver(
  db: Db,
  { beforeMs, keptMs, max }: { beforeMs: number; keptMs: number; max: number },
): Promise<Membership[]> {
  const rows = await db
    .selectFrom('memberships')
    .selectAll()
    .where('triedUntil', '<=', beforeMs)
    .where('triedPlanId', 'is not', null)
    .where('status', 'in', ['trialing', 'active'])
    .where('paidPlanId', 'is', null)
    .where(({ eb, ref }) => eb('syncedAt', '<', eb(ref('triedUntil'), '+', keptMs)))
    .orderBy('triedUntil')
    .limit(max)
    .execute();
  return rows.map(toMembership);
}
