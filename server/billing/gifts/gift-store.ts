import type { Transaction } from 'kysely';
import { dayMs, type PlanId, type Sha256, type UserId } from '../../shared/index.ts';
import { type Db, type Row, type Schema, uuidv7 } from '../../store/index.ts';
import { isErasedUser } from '../../users/index.ts';

export type Gift = Omit<Row<'gifts'>, 'codeHash'>;

const columns = [
  'id',
  'planId',
  'months',
  'createdAt',
  'expiresAt',
  'revokedAt',
  'userId',
  'redeemedAt',
  'endsAt',
] as const;

type GiftState = 'open' | 'redeemed' | 'revoked' | 'expired';

export function giftState(
  { redeemedAt, revokedAt, expiresAt }: Pick<Gift, 'redeemedAt' | 'revokedAt' | 'expiresAt'>,
  nowMs: number,
): GiftState {
  if (redeemedAt !== null) return 'redeemed';
  if (revokedAt !== null) return 'revoked';
  return expiresAt <= nowMs ? 'expired' : 'open';
}

/** @returns the gift's id */
export async function insertGift(
  trx: Transaction<Schema>,
  gift: { codeHash: Sha256; planId: PlanId; months: number; expiresAt: number },
  nowMs: number,
): Promise<string> {
  const id = uuidv7(nowMs);
  await trx
    .insertInto('gifts')
    .values({ ...gift, id, createdAt: nowMs })
    .execute();
  return id;
}

export async function findGift(db: Db, codeHash: Sha256): Promise<Gift | undefined> {
  return db.selectFrom('gifts').select(columns).where('codeHash', '=', codeHash).executeTakeFirst();
}

export async function findGiftById(db: Db, id: string): Promise<Gift | undefined> {
  return db.selectFrom('gifts').select(columns).where('id', '=', id).executeTakeFirst();
}

/** The newest first. */
export async function listGifts(db: Db, max: number): Promise<Gift[]> {
  return db.selectFrom('gifts').select(columns).orderBy('id', 'desc').limit(max).execute();
}

/** Gives an open gift to a user: one statement, so that a code is used once. @returns false: it is not open any more */
export async function claimGift(
  trx: Transaction<Schema>,
  { id, userId, endsAt }: { id: string; userId: UserId; endsAt: number },
  nowMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('gifts')
    .set({ userId, redeemedAt: nowMs, endsAt })
    .where('id', '=', id)
    .where('redeemedAt', 'is', null)
    .where('revokedAt', 'is', null)
    .where('expiresAt', '>', nowMs)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** @returns false: it is redeemed or revoked already */
export async function revokeGift(trx: Transaction<Schema>, id: string, nowMs: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('gifts')
    .set({ revokedAt: nowMs })
    .where('id', '=', id)
    .where('redeemedAt', 'is', null)
    .where('revokedAt', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The plan that a user has by a gift; null: none. */
export async function setGiftPlan(
  trx: Transaction<Schema>,
  { userId, plan }: { userId: UserId; plan: { id: PlanId; until: number } | null },
  nowMs: number,
): Promise<void> {
  await trx
    .updateTable('memberships')
    .set(({ eb }) => ({
      giftPlanId: plan?.id ?? null,
      giftUntil: plan?.until ?? null,
      version: eb('version', '+', 1),
      updatedAt: nowMs,
    }))
    .where('userId', '=', userId)
    .execute();
}

/** For the user's own export. */
export async function listRedeemedGifts(
  db: Db,
  userId: UserId,
): Promise<Pick<Gift, 'planId' | 'months' | 'redeemedAt' | 'endsAt'>[]> {
  return db
    .selectFrom('gifts')
    .select(['planId', 'months', 'redeemedAt', 'endsAt'])
    .where('userId', '=', userId)
    .orderBy('redeemedAt')
    .execute();
}

/** A used code stays used; the user is forgotten. */
export async function eraseGifts(trx: Transaction<Schema>, userId: UserId): Promise<void> {
  await trx.updateTable('gifts').set({ userId: null }).where('userId', '=', userId).execute();
}

/**
 * Forgets erased users of redeemed codes, among the next `max` ones: the code of a release without gifts, which runs
 * beside this one during an upgrade, erases a user and leaves the row.
 * @returns the id to go on after; null at the end
 */
export async function forgetErasedUsers(db: Db, after: UserId | null, max = 1000): Promise<UserId | null> {
  const owners = await db
    .selectFrom('gifts')
    .select('userId')
    .where((eb) => (after === null ? eb('userId', 'is not', null) : eb('userId', '>', after)))
    .orderBy('userId')
    .limit(max)
    .execute();
  const ids = owners.flatMap(({ userId }) => userId ?? []);
  if (ids.length > 0) {
    await db
      .updateTable('gifts')
      .set({ userId: null })
      .where('userId', 'in', ids)
      .where(({ ref }) => isErasedUser(ref('gifts.userId')))
      .execute();
  }
  return (owners.length < max ? null : owners.at(-1)?.userId) ?? null;
}

const keptMs = 365 * dayMs;

/** Deletes codes that could last be redeemed a year ago, unless their plan has ended less than a year ago. */
export async function sweepGifts(db: Db, nowMs: number): Promise<void> {
  await db
    .deleteFrom('gifts')
    .where('expiresAt', '<', nowMs - keptMs)
    .where(({ or, eb }) => or([eb('endsAt', 'is', null), eb('endsAt', '<', nowMs - keptMs)]))
    .execute();
}
