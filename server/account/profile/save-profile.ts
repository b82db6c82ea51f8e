import type { Transaction } from 'kysely';
import { notifySecurityChange, type Origin, type Outbox, type SecurityChange } from '../../messages/index.ts';
import { consumeLimits, rateLimits } from '../../rate-limits/index.ts';
import type { Database, KeyValueStore, Schema } from '../../store/index.ts';
import { type ProfileChange, setProfile, type User } from '../../users/index.ts';

export interface SaveProfileDeps {
  database: Database;
  kv: KeyValueStore;
  outbox: Outbox;
  now: () => number;
}

/** The mail for each field; the language can also be changed in every page's footer, without a mail. */
const changeFieldMails = {
  givenName: 'name',
  familyName: 'name',
  birthdate: 'profile',
  gender: 'profile',
  address: 'profile',
  companyName: 'profile',
  jobTitle: 'profile',
  newsletter: 'profile',
  locale: undefined,
  preferredLanguage: undefined,
} as const satisfies Record<keyof ProfileChange, SecurityChange | undefined>;

export interface ProfileToSave {
  change: ProfileChange;
  from: Origin;
  /** Other writes of the same transaction, also if the profile is unchanged. */
  alongside?: ((trx: Transaction<Schema>) => Promise<void>) | undefined;
}

export type SaveProfileResult = { kind: 'saved' } | { kind: 'too-many'; retryAfterMs: number };

/** Saves the changed fields, and notifies the user by mail; without a change it does nothing. */
export async function saveProfile(
  { database, kv, outbox, now }: SaveProfileDeps,
  user: User,
  { change, from, alongside }: ProfileToSave,
): Promise<SaveProfileResult> {
  const names = (Object.keys(changeFieldMails) as (keyof ProfileChange)[]).filter(
    (name) => change[name] !== undefined && change[name] !== user[name],
  );
  if (names.length === 0) {
    if (alongside) await database.transaction(alongside);
    return { kind: 'saved' };
  }
  const different = Object.fromEntries(names.map((name) => [name, change[name]])) as ProfileChange;
  const notified = new Set(names.flatMap((name) => changeFieldMails[name] ?? []));
  if (notified.size > 0) {
    const decision = await consumeLimits(kv, rateLimits.profileChange, { account: user.id });
    if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
  }
  await database.transaction(async (trx) => {
    await setProfile(trx, user.id, { change: different, nowMs: now() });
    await alongside?.(trx);
    for (const what of notified)
      await notifySecurityChange(
        trx,
        { outbox, now },
        { user: { ...user, ...toLocaleChange(different) }, change: what, from },
      );
  });
  outbox.wake();
  return { kind: 'saved' };
}

/** The mail has the newly chosen language. */
const toLocaleChange = ({ locale }: ProfileChange) => (locale === undefined ? {} : { locale });
