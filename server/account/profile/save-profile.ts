import type { Transaction } from 'kysely';
import { recordContactChange } from '../../billing/index.ts';
import { consumeLimits, type RefusalRules, rateLimits } from '../../http/index.ts';
import {
  type byOperator,
  notifySecurityChange,
  type Origin,
  type Outbox,
  type SecurityChange,
} from '../../messages/index.ts';
import { limitRefusals } from '../../password/index.ts';
import { keysIn } from '../../shared/index.ts';
import { type Database, isUniqueViolation, type KeyValueStore, type Schema } from '../../store/index.ts';
import { isUserDataField, type ProfileChange, type ProfileField, setProfile, type User } from '../../users/index.ts';

export interface SaveProfileDeps {
  database: Database;
  kv: KeyValueStore;
  outbox: Outbox;
  /** They stay as they are. */
  withheldFields: ReadonlySet<ProfileField>;
  now: () => number;
}

/** The mail about a changed field; the language can also be changed in every page's footer, without a mail. */
const mailAbout = (name: keyof ProfileChange): SecurityChange | undefined =>
  name === 'givenName' || name === 'familyName'
    ? 'name'
    : name === 'locale' || name === 'preferredLanguage'
      ? undefined
      : 'profile';

/** Stripe has them for invoices and mails. */
const billedNames: ReadonlySet<keyof ProfileChange> = new Set(['givenName', 'familyName', 'locale'] as const);

interface ProfileToSave {
  change: ProfileChange;
  /** The changes of an operator are not limited. */
  from: Origin | typeof byOperator;
  /** Other writes of the same transaction, also if the profile is unchanged. */
  alongside?: ((trx: Transaction<Schema>) => Promise<void>) | undefined;
}

interface TooManyChanges {
  kind: 'too-many';
  retryAfterMs: number;
}
/** Another member has this username. */
interface UsernameTaken {
  kind: 'username-taken';
}
type SaveProfileResult = { kind: 'saved' } | { kind: 'refused'; refusal: TooManyChanges | UsernameTaken };

export const saveProfileRefusals: RefusalRules<TooManyChanges | UsernameTaken> = {
  'too-many': limitRefusals['too-many'],
  'username-taken': {
    problem: 'alreadyExists',
    pageStatus: 400,
    text: 'settings.errors.usernameTaken',
    field: 'preferredUsername',
  },
};

/** Saves the changed fields, and notifies the user by mail; without a change it does nothing. */
export async function saveProfile(
  deps: SaveProfileDeps,
  user: User,
  profile: ProfileToSave,
): Promise<SaveProfileResult> {
  try {
    return await saveChange(deps, user, profile);
  } catch (error) {
    // The unique column decides, also between two members who choose it at once.
    if (isUniqueViolation(error, 'users.preferred_username'))
      return { kind: 'refused', refusal: { kind: 'username-taken' } };
    throw error;
  }
}

async function saveChange(
  { database, kv, outbox, withheldFields, now }: SaveProfileDeps,
  user: User,
  { change, from, alongside }: ProfileToSave,
): Promise<SaveProfileResult> {
  const names = keysIn(change).filter(
    (name) =>
      change[name] !== undefined &&
      change[name] !== user[name] &&
      (name === 'preferredLanguage' || !withheldFields.has(name)),
  );
  if (names.length === 0) {
    if (alongside) await database.transaction(alongside);
    return { kind: 'saved' };
  }
  const different = Object.fromEntries(names.map((name) => [name, change[name]])) as ProfileChange;
  const notified = new Set(names.flatMap((name) => mailAbout(name) ?? []));
  const labels = names.filter(isUserDataField).map((name) => `settings.userData.fields.${name}` as const);
  if (notified.size > 0 && !('operator' in from)) {
    const decision = await consumeLimits(kv, rateLimits.profileChange, { account: user.id });
    if (!decision.allowed) {
      return { kind: 'refused', refusal: { kind: 'too-many', retryAfterMs: decision.retryAfterMs } };
    }
  }
  await database.transaction(async (trx) => {
    await setProfile(trx, user.id, { change: different, nowMs: now() });
    if (names.some((name) => billedNames.has(name))) await recordContactChange(trx, user.id, now());
    await alongside?.(trx);
    for (const what of notified)
      await notifySecurityChange(
        trx,
        { outbox, now },
        {
          user: { ...user, ...toLocaleChange(different) },
          change: what,
          from,
          labels: what === 'profile' ? labels : undefined,
        },
      );
  });
  outbox.wake();
  return { kind: 'saved' };
}

/** The mail has the newly chosen language. */
const toLocaleChange = ({ locale }: ProfileChange) => (locale === undefined ? {} : { locale });
