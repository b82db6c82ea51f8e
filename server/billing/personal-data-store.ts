import type { Kysely, Transaction } from 'kysely';
import { parseUnknownJson, toUserId, type UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';

/** Data that are only read for the user's own export, and deleted with the user. */

export async function listPurchases(db: Kysely<Schema>, userId: UserId): Promise<Record<string, unknown>[]> {
  const rows = await db
    .selectFrom('purchases')
    .select(['planId', 'promotion', 'state', 'attempt as attempts', 'invoiceId', 'createdAt', 'updatedAt'])
    .where('userId', '=', userId)
    .orderBy('id')
    .execute();
  // As it is stored: a user gets the data even if a schema no longer fits them.
  return rows.map((row) => ({ ...row, promotion: row.promotion && parseUnknownJson(row.promotion) }));
}

export async function listNotifications(db: Kysely<Schema>, userId: UserId): Promise<Record<string, unknown>[]> {
  return db
    .selectFrom('toldMembers')
    .select(['about', 'toldAt'])
    .where('userId', '=', userId)
    .orderBy('toldAt')
    .execute();
}

export async function listTrialClaims(db: Kysely<Schema>, userId: UserId): Promise<Record<string, unknown>[]> {
  return db
    .selectFrom('trialClaims')
    .select(['kind as of', 'claimedAt'])
    .where('userId', '=', userId)
    .orderBy('claimedAt')
    .execute();
}

/** An address or card stays marked as having had its trial; the user is forgotten. */
export async function eraseTrialClaims(trx: Transaction<Schema>, userId: UserId): Promise<void> {
  await trx
    .updateTable('trialClaims')
    .set({ userId: toUserId('') })
    .where('userId', '=', userId)
    .execute();
}
