import type { Transaction } from 'kysely';
import type { UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import type { User } from './user.ts';

/** Profile data of users, besides their credentials. */
export type ProfileChange = {
  [Name in
    | 'givenName'
    | 'familyName'
    | 'birthdate'
    | 'gender'
    | 'address'
    | 'companyName'
    | 'jobTitle'
    | 'newsletter'
    | 'locale'
    | 'preferredLanguage']?: User[Name] | undefined;
};

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
      given_name: change.givenName,
      family_name: change.familyName,
      birthdate: change.birthdate,
      gender: change.gender,
      address: change.address,
      company_name: change.companyName,
      job_title: change.jobTitle,
      newsletter: change.newsletter === undefined ? undefined : Number(change.newsletter),
      // The column has no null.
      locale: change.locale === null ? '' : change.locale,
      preferred_language: change.preferredLanguage,
      updated_at: nowMs,
    })
    .where('id', '=', userId)
    .execute();
}
