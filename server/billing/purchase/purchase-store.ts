import type { Transaction } from 'kysely';
import { hourMs, minuteMs, type PlanId, type UserId } from '../../shared/index.ts';
import { type Db, type Row, type Schema, uuidv7 } from '../../store/index.ts';
import { findPlan } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import type { ChosenPromotion, PurchaseView } from '../results.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import { toMs } from '../stripe/stripe-objects.ts';
import type { Membership } from '../subscription/membership.ts';
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

/** A purchase whose plan has left the catalogue is void. */
export function toPurchase(
  { catalogue }: Pick<BillingDeps, 'catalogue'>,
  stored: StoredPurchase | undefined,
): PurchaseView | undefined {
  const plan = findPlan(catalogue, stored?.planId, stored?.seats);
  if (!stored || !plan) return undefined;
  const { id, userId, promotion, state, attempt } = stored;
  return { id, userId, plan, promotion, state, attempt };
}

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
  { userId, planId, seats = null }: { userId: UserId; planId: PlanId; seats?: number | null },
  nowMs: number,
): Promise<StoredPurchase> {
  await db
    .insertInto('purchases')
    .values({
      id: uuidv7(nowMs),
      userId,
      openFor: userId,
      planId,
      seats,
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

type PurchaseChange = Partial<
  Pick<StoredPurchase, 'planId' | 'seats' | 'promotion' | 'state' | 'charge' | 'invoiceId'>
> & {
  nextAttempt?: boolean;
};

/**
 * Changes a purchase if it is still as it was read: of several parallel calls, one wins.
 * @returns whether it was this call
 */
export async function changePurchase(
  { database, now }: Pick<BillingDeps, 'database' | 'now'>,
  { id, state, attempt, planId, seats }: StoredPurchase,
  change: PurchaseChange,
): Promise<boolean> {
  const over = change.state === 'paid' || change.state === 'abandoned';
  const { numUpdatedRows } = await database.db
    .updateTable('purchases')
    // Kysely omits undefined values.
    .set({
      planId: change.planId,
      seats: change.seats,
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
    .where('seats', 'is not distinct from', seats)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Removes the promotion code of a purchase of which nothing is asked of Stripe. */
export async function dropPromotion(deps: Pick<BillingDeps, 'database' | 'now'>, userId: UserId): Promise<void> {
  const open = await findOpenPurchase(deps.database.db, userId);
  if (open?.state === 'open') await changePurchase(deps, open, { promotion: null });
}

/** Keeps what was announced, unless the purchase has become another one. */
async function recordQuotedDate(
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

/** An announced amount holds for so long. */
const quotedMs = 30 * minuteMs;

/** The upgrade that is quoted. */
interface QuotedUpgrade {
  planId: PlanId;
  seats: number | null;
  promotion: ChosenPromotion | null;
  /** Of the running period, in seconds. */
  periodStart: number;
}

/**
 * The date from which an upgrade is prorated: the announced one for half an hour, as long as plan, code, subscription
 * and period are the same. Whole hours, so that a reloaded page shows the same amount.
 */
export async function getQuotedDate(
  { database: { db }, now }: Pick<BillingDeps, 'database' | 'now'>,
  { membership: { userId }, subscriptionId }: { membership: Pick<Membership, 'userId'>; subscriptionId: string },
  { planId, seats, promotion, periodStart }: QuotedUpgrade,
): Promise<number> {
  const nowMs = now();
  const hourBegan = Math.floor(nowMs / hourMs) * (hourMs / toMs(1));
  const fresh: QuotedDate = {
    prorationDate: Math.max(hourBegan, periodStart),
    at: nowMs,
    subscriptionId,
    periodStart,
    couponId: promotion?.couponId ?? null,
  };
  const purchase = (await findOpenPurchase(db, userId)) ?? (await insertPurchase(db, { userId, planId, seats }, nowMs));
  // Another plan was chosen in another tab: this page announces nothing that is kept.
  if (purchase.planId !== planId || purchase.seats !== seats || purchase.state !== 'open') return fresh.prorationDate;
  const { quoted } = purchase;
  const holds =
    quoted !== null &&
    nowMs - quoted.at < quotedMs &&
    quoted.subscriptionId === subscriptionId &&
    quoted.periodStart === periodStart &&
    quoted.couponId === fresh.couponId;
  if (holds && quoted.prorationDate !== fresh.prorationDate) return quoted.prorationDate;
  await recordQuotedDate(db, purchase, fresh);
  return fresh.prorationDate;
}
