import type { Kysely, Transaction } from 'kysely';
import type { Schema } from '../store/index.ts';
import { toCognitoAttributes } from './cognito-attributes.ts';
import { listTermsAcceptances } from './terms-ledger-store.ts';
import type { User } from './user.ts';
import { toUserRecordJson } from './user-record-json.ts';
import { findUserRecord } from './user-record-store.ts';

/** The data of this module about a user, for their export. Times in milliseconds since the epoch. */
export async function exportUserData(db: Kysely<Schema>, user: User): Promise<Record<string, unknown>> {
  const [record, acceptances, deals, changes] = await Promise.all([
    findUserRecord(db, user.id),
    listTermsAcceptances(db, user.id),
    db
      .selectFrom('partner_deals')
      .select(['email', 'tier', 'imported_at', 'used_at'])
      .where(({ or, eb }) => or([eb('user_id', '=', user.id), eb('email', '=', user.email)]))
      .execute(),
    db.selectFrom('email_changes').selectAll().where('user_id', '=', user.id).orderBy('changed_at').execute(),
  ]);
  return {
    attributes: toCognitoAttributes(user),
    hasPassword: user.passwordHash !== null,
    planId: user.planId,
    source: user.source,
    acceptedTosAt: user.acceptedTosAt,
    importedAt: user.importedAt,
    createdAt: user.createdAt,
    updatedAt: user.updatedAt,
    // Its attributes are those above.
    record: record ? { ...toUserRecordJson(user, record), userAttributes: undefined } : null,
    termsAccepted: acceptances.map(({ userId: _, ...acceptance }) => acceptance),
    partnerDeals: deals.map(({ email, tier, imported_at, used_at }) => ({
      email,
      tier,
      importedAt: imported_at,
      usedAt: used_at,
    })),
    emailChanges: changes.map((change) => ({
      oldEmail: change.old_email,
      newEmail: change.new_email,
      changedAt: change.changed_at,
      undoUntil: change.undo_until,
      undoneAt: change.undone_at,
    })),
  };
}

/**
 * Deletes the user. The ledger of terms keeps the fact, time and text of the acceptance, under an id that no longer
 * refers to a user, and forgets the place.
 */
export async function eraseUserData(
  trx: Transaction<Schema>,
  { id, email }: Pick<User, 'id' | 'email'>,
): Promise<void> {
  await trx
    .updateTable('terms_acceptances')
    .set({ ip: null, user_agent: null, client_id: null })
    .where('user_id', '=', id)
    .execute();
  await trx
    .deleteFrom('partner_deals')
    .where(({ or, eb }) => or([eb('user_id', '=', id), eb('email', '=', email)]))
    .execute();
  await trx.deleteFrom('email_changes').where('user_id', '=', id).execute();
  await trx.deleteFrom('user_records').where('user_id', '=', id).execute();
  await trx.deleteFrom('users').where('id', '=', id).execute();
}
