import type { Transaction } from 'kysely';
import type { PlanId, UserId } from '../../shared/index.ts';
import { type Db, type Row, type Schema, uuidv7 } from '../../store/index.ts';
import type { BillingDeps } from '../deps.ts';
import type { ChosenPromotion } from '../results.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import type { Charge, QuotedDate } from './charge.ts';

type JsonColumn = 'promotion' | 'charge' | 'quoted';

export type StoredPurchase = Omit<Row<'purchases'>, JsonColumn | 'openFor' | 'createdAt'> & {
  promotion: ChosenPromotion | null;
  charge: Charge | null;
  quoted: QuotedDate | null;
};

const toStoredPurchase = ({ openFor: _, createdAt: __, ...row }: Row<'purchases'>): StoredPurchase => ({
  ...row,
  promotion: parseColumn(storedValues.promotion, row.promotion),
  charge: parseColumn(storedValues.charge, row.charge),
  quoted: parseColumn(storedValues.quoted, row.quoted),
});

/** The open purchase. */
export async function findOpenPurchase(db: Db, userId: UserId): Promise<StoredPurchase | undefined> {
  const row = await db.selectFrom('purchases').selectAll().where('openFor', '=', userId).executeTakeFirst();
  return row && toStoredPurchase(row);
}

/** The last paid purchase. */
export async function findLastPaid(db: Db, userId: UserId): Promise<StoredPurchase | undefined> {
  const row = await db
    .selectFrom('purchases')
    .selectAll()
    .where('userId', '=', userId)
    .where('state', '=', 'paid')
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && toStoredPurchase(row);
}

/** Starts one, unless one is open. */
export async function insertPurchase(
  db: Db,
  { userId, planId }: { userId: UserId; planId: PlanId },
  nowMs: number,
): Promise<StoredPurchase> {
  await db
    .insertInto('purchases')
    .values({
      id: uuidv7(nowMs),
      userId,
      openFor: userId,
      planId,
      state: 'open',
      attempt: 0,
      createdAt: nowMs,
      updatedAt: nowMs,
    })
    .onConflict((conflict) => conflict.column('openFor').doNothing())
    .execute();
  const found = await findOpenPurchase(db, userId);
  if (!found) throw new Error('a purchase that was just begun is not there');
  return found;
}

export type PurchaseChange = Partial<
  Pick<StoredPurchase, 'planId' | 'promotion' | 'state' | 'charge' | 'invoiceId'>
> & {
  nextAttempt?: boolean;
};

/**
 * Changes a purchase if it is still as it was read: of several parallel calls, one wins.
 * @returns whether it was this call
 */
export async function changePurchase(
  { database, now }: Pick<BillingDeps, 'database' | 'now'>,
  { id, state, attempt, planId }: StoredPurchase,
  change: PurchaseChange,
): Promise<boolean> {
  const over = change.state === 'paid' || change.state === 'abandoned';
  const { numUpdatedRows } = await database.db
    .updateTable('purchases')
    // Kysely omits undefined values.
    .set({
      planId: change.planId,
      promotion: change.promotion === undefined ? undefined : change.promotion && JSON.stringify(change.promotion),
      state: change.state,
      openFor: over ? null : undefined,
      attempt: change.nextAttempt ? attempt + 1 : undefined,
      charge: change.charge === undefined ? undefined : change.charge && JSON.stringify(change.charge),
      invoiceId: change.invoiceId,
      updatedAt: now(),
    })
    .where('id', '=', id)
    .where('state', '=', state)
    .where('attempt', '=', attempt)
    .where('planId', '=', planId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Keeps what was announced, unless the purchase has become another one. */
export async function recordQuotedDate(
  db: Db,
  { id, planId }: Pick<StoredPurchase, 'id' | 'planId'>,
  quoted: QuotedDate,
): Promise<void> {
  await db
    .updateTable('purchases')
    .set({ quoted: JSON.stringify(quoted) })
    .where('id', '=', id)
    .where('planId', '=', planId)
    .where('state', '=', 'open')
    .execute();
}

/** Payments that were abandoned. */
export async function listStuckCharges(db: Db, beforeMs: number, max: number): Promise<StoredPurchase[]> {
  const rows = await db
    .selectFrom('purchases')
    .selectAll()
    .where('state', '=', 'charging')
    .where('updatedAt', '<=', beforeMs)
    .orderBy('updatedAt')
    .limit(max)
    .execute();
  return rows.map(toStoredPurchase);
}

export async function erasePurchases(trx: Transaction<Schema>, userId: UserId): Promise<void> {
  await trx.deleteFrom('purchases').where('userId', '=', userId).execute();
}
