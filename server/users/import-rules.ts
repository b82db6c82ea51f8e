import type { E164, NormalisedEmail, UserId } from '../shared/index.ts';
import type { User } from './user.ts';

/** A user as another service knew them. Times in milliseconds since the epoch. */
export type ImportedUser = Pick<
  User,
  | 'id'
  | 'email'
  | 'emailVerified'
  | 'phone'
  | 'phoneVerified'
  | 'passwordHash'
  | 'passwordProfile'
  | 'givenName'
  | 'familyName'
  | 'locale'
  | 'acceptedTosVersion'
  | 'picture'
  | 'birthdate'
  | 'address'
  | 'companyName'
  | 'jobTitle'
  | 'preferredLanguage'
  | 'preferredUsername'
  | 'zoneinfo'
  | 'nickname'
  | 'middleName'
  | 'website'
  | 'profileUrl'
  | 'gender'
  | 'newsletter'
  | 'mfaPreference'
  | 'disabledAt'
  | 'createdAt'
>;

/** Why a user is not imported. */
export type ImportRefusal =
  /** A user here has this id with another address. */
  | 'other-email'
  /** The address belongs to another user, or is reserved for one. */
  | 'email-taken'
  /** The second factor's number belongs to another user. */
  | 'phone-taken'
  /** They were a user here and deleted their account. */
  | 'left';

export type ImportOutcome =
  | { kind: 'added'; withoutPhone?: true; withoutUsername?: true }
  /** The same id with the same address: nothing is changed. */
  | { kind: 'there' }
  | { kind: 'refused'; why: ImportRefusal };

/** Existing data about the ids, addresses and numbers of the imported users. */
export interface ExistingUsers {
  /** Id → address; null: another one than that of each imported user with this id. */
  members: Map<UserId, NormalisedEmail | null>;
  /** Address → id of its user, or of the user for whom it is reserved. */
  emails: Map<NormalisedEmail, UserId>;
  phones: Map<E164, { id: UserId; verified: boolean }>;
  usernames: Set<string>;
  /** Ids of deleted users. */
  left: Set<UserId>;
}

export const noExistingUsers = (): ExistingUsers => ({
  members: new Map(),
  emails: new Map(),
  phones: new Map(),
  usernames: new Set(),
  left: new Set(),
});

interface ImportDecision {
  /** In the order of the imported users. */
  outcomes: ImportOutcome[];
  /** The users to add; one whose number or username belongs to another user has none. */
  add: ImportedUser[];
  /** Existing users with an unproven number, who lose it to an imported user who had proven it. */
  release: UserId[];
}

type OneDecision =
  | { kind: 'refused'; why: ImportRefusal }
  | { kind: 'there' }
  /** `from`: the existing user with the same number, unproven, who loses it. */
  | { kind: 'add'; phone: 'own' | 'none'; from: UserId | undefined };

function decideOne(user: ImportedUser, known: ExistingUsers): OneDecision {
  const { id, email, phone } = user;
  const existing = known.members.get(id);
  if (existing !== undefined) return existing === email ? { kind: 'there' } : { kind: 'refused', why: 'other-email' };
  if (known.left.has(id)) return { kind: 'refused', why: 'left' };
  if ((known.emails.get(email) ?? id) !== id) return { kind: 'refused', why: 'email-taken' };
  const holder = phone === null ? undefined : known.phones.get(phone);
  if (holder === undefined) return { kind: 'add', phone: 'own', from: undefined };
  if (user.phoneVerified && !holder.verified) return { kind: 'add', phone: 'own', from: holder.id };
  if (user.mfaPreference === 'sms') return { kind: 'refused', why: 'phone-taken' };
  return { kind: 'add', phone: 'none', from: undefined };
}

/**
 * Decides which imported users are added. An import never takes over an account, address or number: existing data stay,
 * and earlier lines of the file have precedence over later ones.
 * @param known existing data; added users are added to it
 */
export function decideImport(coming: readonly ImportedUser[], known: ExistingUsers): ImportDecision {
  const added = new Map<UserId, ImportedUser>();
  const release: UserId[] = [];
  const releaseNumber = (id: UserId) => {
    const among = added.get(id);
    if (among) added.set(id, { ...among, phone: null });
    else release.push(id);
  };
  const outcomes = coming.map((user): ImportOutcome => {
    const decision = decideOne(user, known);
    if (decision.kind !== 'add') return decision;
    if (decision.from !== undefined) releaseNumber(decision.from);
    const { id, email, phone, phoneVerified } = user;
    const withoutPhone = decision.phone === 'none';
    known.members.set(id, email);
    known.emails.set(email, id);
    if (phone !== null && !withoutPhone) known.phones.set(phone, { id, verified: phoneVerified });
    const withoutUsername = user.preferredUsername !== null && known.usernames.has(user.preferredUsername);
    if (user.preferredUsername !== null) known.usernames.add(user.preferredUsername);
    added.set(id, {
      ...user,
      ...(withoutPhone && { phone: null, phoneVerified: false }),
      ...(withoutUsername && { preferredUsername: null }),
    });
    return { kind: 'added', ...(withoutPhone && { withoutPhone }), ...(withoutUsername && { withoutUsername }) };
  });
  return { outcomes, add: [...added.values()], release };
}
