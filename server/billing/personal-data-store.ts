import type { Kysely, Transaction } from 'kysely';
import { parseUnknownJson, toUserId, type UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';

/** Data that are only read for the user's own export, and deleted with the user. */

export async function listPurchases(db: Kysely<Schema>, userId: UserId): Promise<Record<string, unknown>[]> {
  const rows = await db.selectFrom('purchases').selectAll().where('user_id', '=', userId).orderBy('id').execute();
  return rows.map((row) => ({
    planId: row.plan_id,
    // As it is stored: a user gets the data even if a schema no longer fits them.
    promotion: row.promotion === null ? null : parseUnknownJson(row.promotion),
    state: row.state,
    attempts: row.attempt,
    invoiceId: row.invoice_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}

export async function listNotifications(db: Kysely<Schema>, userId: UserId): Promise<Record<string, unknown>[]> {
  const rows = await db
    .selectFrom('told_members')
    .select(['about', 'told_at'])
    .where('user_id', '=', userId)
    .orderBy('told_at')
    .execute();
  return rows.map(({ about, told_at }) => ({ about, toldAt: told_at }));
}

export async function listTrialClaims(db: Kysely<Schema>, userId: UserId): Promise<Record<string, unknown>[]> {
  const rows = await db
    .selectFrom('trial_claims')
    .select(['kind', 'claimed_at'])
    .where('user_id', '=', userId)
    .orderBy('claimed_at')
    .execute();
  return rows.map(({ kind, claimed_at }) => ({ of: kind, claimedAt: claimed_at }));
}

/** An address or card stays marked as having had its trial; the user is forgotten. */
export async function eraseTrialClaims(trx: Transaction<Schema>, userId: UserId): Promise<void> {
  await trx
    .updateTable('trial_claims')
    .set({ user_id: toUserId('') })
    .where('user_id', '=', userId)
    .execute();
}
