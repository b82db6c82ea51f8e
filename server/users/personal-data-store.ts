import type { Kysely, Transaction } from 'kysely';
import type { Schema } from '../store/index.ts';
import { toCognitoAttributes } from './cognito-attributes.ts';
import { listTermsAcceptances } from './terms-ledger-store.ts';
import type { User } from './user.ts';
import { toUserRecordJson } from './user-record-json.ts';
import { findUserRecord } from './user-record-store.ts';

/** The data of this module about a user, for their export. Times in milliseconds since the epoch. */
export async function exportUserData(db: Kysely<Schema>, user: User): Promise<Record<string, unknown>> {
  const [record, acceptances, deals, changes, picture] = await Promise.all([
    findUserRecord(db, user.id),
    listTermsAcceptances(db, user.id),
    db
      .selectFrom('partnerDeals')
      .select(['email', 'tier', 'importedAt', 'usedAt'])
      .where(({ or, eb }) => or([eb('userId', '=', user.id), eb('email', '=', user.email)]))
      .execute(),
    db
      .selectFrom('emailChanges')
      .select(['oldEmail', 'newEmail', 'changedAt', 'undoUntil', 'undoneAt'])
      .where('userId', '=', user.id)
      .orderBy('changedAt')
      .execute(),
    db
      .selectFrom('uploadedPictures')
      .select(['type', 'content', 'createdAt'])
      .where('userId', '=', user.id)
      .executeTakeFirst(),
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
    termsAccepted: acceptances,
    partnerDeals: deals,
    emailChanges: changes,
    // The content is base64.
    uploadedPicture: picture ?? null,
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
    .updateTable('termsAcceptances')
    .set({ ip: null, userAgent: null, clientId: null })
    .where('userId', '=', id)
    .execute();
  await trx
    .deleteFrom('partnerDeals')
    .where(({ or, eb }) => or([eb('userId', '=', id), eb('email', '=', email)]))
    .execute();
  await trx.deleteFrom('emailChanges').where('userId', '=', id).execute();
  await trx.deleteFrom('uploadedPictures').where('userId', '=', id).execute();
  await trx.deleteFrom('userRecords').where('userId', '=', id).execute();
  await trx.deleteFrom('users').where('id', '=', id).execute();
}
