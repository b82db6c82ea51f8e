import type { Transaction } from 'kysely';
import type { UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import type { ProfileField } from './profile-fields.ts';
import type { User } from './user.ts';

/** Profile data of users, besides their credentials. */
export type ProfileChange = { [Name in ProfileField | 'preferredLanguage']?: User[Name] | undefined };

/** Changes the named fields and leaves the others. */
export async function setProfile(
  trx: Transaction<Schema>,
  userId: UserId,
  { change, nowMs }: { change: ProfileChange; nowMs: number },
): Promise<void> {
  await trx
    .updateTable('users')
    // Kysely omits undefined values.
    .set({
      givenName: change.givenName,
      familyName: change.familyName,
      birthdate: change.birthdate,
      gender: change.gender,
      address: change.address,
      companyName: change.companyName,
      jobTitle: change.jobTitle,
      preferredLanguage: change.preferredLanguage,
      newsletter: change.newsletter === undefined ? undefined : Number(change.newsletter),
      // The column has no null.
      locale: change.locale === null ? '' : change.locale,
      updatedAt: nowMs,
    })
    .where('id', '=', userId)
    .execute();
}
