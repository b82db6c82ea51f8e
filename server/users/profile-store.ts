import type { Transaction } from 'kysely';
import type { UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import { type ProfileField, profileFieldNames } from './profile-fields.ts';
import type { User } from './user.ts';

/** Profile data of users, besides their credentials. */
export type ProfileChange = { [Name in ProfileField | 'preferredLanguage']?: User[Name] | undefined };

/** Only the fields of the profile, whatever else the object has. */
function pickProfile(change: ProfileChange): ProfileChange {
  const picked: ProfileChange = {};
  const copy = <Name extends keyof ProfileChange>(name: Name): void => {
    picked[name] = change[name];
  };
  for (const name of profileFieldNames) copy(name);
  copy('preferredLanguage');
  return picked;
}

/** Each field has a column of its name. Kysely omits undefined values. */
function toColumns(change: ProfileChange) {
  const { newsletter, locale, ...columns } = pickProfile(change);
  return {
    ...columns,
    newsletter: newsletter === undefined ? undefined : Number(newsletter),
    // The column has no null.
    locale: locale === null ? '' : locale,
  };
}

/** Changes the named fields and leaves the others. */
export async function setProfile(
  trx: Transaction<Schema>,
  userId: UserId,
  { change, nowMs }: { change: ProfileChange; nowMs: number },
): Promise<void> {
  await trx
    .updateTable('users')
    .set({ ...toColumns(change), updatedAt: nowMs })
    .where('id', '=', userId)
    .execute();
}
