import type { Selectable, Transaction } from 'kysely';
import type { PlanId, StripeInvoiceId, UserId } from '../../shared/index.ts';
import { type Db, type PurchaseTable, type Schema, uuidv7 } from '../../store/index.ts';
import type { ChosenPromotion } from '../results.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import type { Charge } from './charge.ts';

export interface StoredPurchase {
  id: string;
  userId: UserId;
  planId: PlanId;
  promotion: ChosenPromotion | null;
  state: 'open' | 'charging' | 'paid' | 'abandoned';
  attempt: number;
  charge: Charge | null;
  invoiceId: StripeInvoiceId | null;
  updatedAt: number;
}

function toStoredPurchase(row: Selectable<PurchaseTable>): StoredPurchase {
  return {
    id: row.id,
    userId: row.user_id,
    planId: row.plan_id,
    promotion: parseColumn(storedValues.promotion, row.promotion),
    state: row.state as StoredPurchase['state'],
    attempt: row.attempt,
    charge: parseColumn(storedValues.charge, row.charge),
    invoiceId: row.invoice_id,
    updatedAt: row.updated_at,
  };
}

/** The open purchase. */
export async function findOpenPurchase(db: Db, userId: UserId): Promise<StoredPurchase | undefined> {
  const row = await db.selectFrom('purchases').selectAll().where('open_for', '=', userId).executeTakeFirst();
  return row && toStoredPurchase(row);
}

/** The last paid purchase. */
export async function findLastPaid(db: Db, userId: UserId): Promise<StoredPurchase | undefined> {
  const row = await db
    .selectFrom('purchases')
    .selectAll()
    .where('user_id', '=', userId)
    .where('state', '=', 'paid')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && toStoredPurchase(row);
}

/** Starts one, unless one is open. */
export async function insertPurchase(db: Db, userId: UserId, planId: PlanId, nowMs: number): Promise<StoredPurchase> {
  const row: Selectable<PurchaseTable> = {
    id: uuidv7(nowMs),
    user_id: userId,
    open_for: userId,
    plan_id: planId,
    promotion: null,
    state: 'open',
    attempt: 0,
    charge: null,
    invoice_id: null,
    created_at: nowMs,
    updated_at: nowMs,
  };
  await db
    .insertInto('purchases')
    .values(row)
    .onConflict((conflict) => conflict.column('open_for').doNothing())
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
  db: Db,
  { id, state, attempt, planId }: StoredPurchase,
  change: PurchaseChange,
  nowMs: number,
): Promise<boolean> {
  const over = change.state === 'paid' || change.state === 'abandoned';
  const { numUpdatedRows } = await db
    .updateTable('purchases')
    // Kysely omits undefined values.
    .set({
      plan_id: change.planId,
      promotion: change.promotion === undefined ? undefined : change.promotion && JSON.stringify(change.promotion),
      state: change.state,
      open_for: over ? null : undefined,
      attempt: change.nextAttempt ? attempt + 1 : undefined,
      charge: change.charge === undefined ? undefined : change.charge && JSON.stringify(change.charge),
      invoice_id: change.invoiceId,
      updated_at: nowMs,
    })
    .where('id', '=', id)
    .where('state', '=', state)
    .where('attempt', '=', attempt)
    .where('plan_id', '=', planId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Payments that were abandoned. */
export async function listStuckCharges(db: Db, beforeMs: number, max: number): Promise<StoredPurchase[]> {
  const rows = await db
    .selectFrom('purchases')
    .selectAll()
    .where('state', '=', 'charging')
    .where('updated_at', '<=', beforeMs)
    .orderBy('updated_at')
    .limit(max)
    .execute();
  return rows.map(toStoredPurchase);
}

export async function erasePurchases(trx: Transaction<Schema>, userId: UserId): Promise<void> {
  await trx.deleteFrom('purchases').where('user_id', '=', userId).execute();
}
