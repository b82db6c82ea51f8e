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
  | { kind: 'added'; withoutPhone?: true }
  /** The same id with the same address: nothing is changed. */
  | { kind: 'there' }
  | { kind: 'refused'; why: ImportRefusal };

/** Existing data about the ids, addresses and numbers of the imported users. */
export interface ExistingUsers {
  /** Id → address. */
  members: Map<UserId, NormalisedEmail>;
  /** Address → id of its user, or of the user for whom it is reserved. */
  emails: Map<NormalisedEmail, UserId>;
  phones: Map<E164, { id: UserId; verified: boolean }>;
  /** Ids of deleted users. */
  left: Set<UserId>;
}

export const noExistingUsers = (): ExistingUsers => ({
  members: new Map(),
  emails: new Map(),
  phones: new Map(),
  left: new Set(),
});

export interface ImportDecision {
  /** In the order of the imported users. */
  outcomes: ImportOutcome[];
  /** The users to add; one whose number belongs to another user has none. */
  add: ImportedUser[];
  /** Existing users with an unproven number, who lose it to an imported user who had proven it. */
  release: UserId[];
}

/**
 * Decides which imported users are added. An import never takes over an account, address or number: existing data stay,
 * and earlier lines of the file have precedence over later ones.
 * @param known existing data; added users are added to it
 */
export function decideImport(coming: readonly ImportedUser[], known: ExistingUsers): ImportDecision {
  const added = new Map<UserId, ImportedUser>();
  const release: UserId[] = [];
  const decideOne = (member: ImportedUser): ImportOutcome => {
    const { id, email, phone } = member;
    const context = known.members.get(id);
    if (context !== undefined) return context === email ? { kind: 'there' } : { kind: 'refused', why: 'other-email' };
    if (known.left.has(id)) return { kind: 'refused', why: 'left' };
    if ((known.emails.get(email) ?? id) !== id) return { kind: 'refused', why: 'email-taken' };
    const holder = phone === null ? undefined : known.phones.get(phone);
    const takesOver = holder !== undefined && member.phoneVerified && !holder.verified;
    const withoutPhone = holder !== undefined && !takesOver;
    if (withoutPhone && member.mfaPreference === 'sms') return { kind: 'refused', why: 'phone-taken' };
    if (takesOver) {
      const among = added.get(holder.id);
      if (among) added.set(holder.id, { ...among, phone: null });
      else release.push(holder.id);
    }
    known.members.set(id, email);
    known.emails.set(email, id);
    if (phone !== null && !withoutPhone) known.phones.set(phone, { id, verified: member.phoneVerified });
    added.set(id, withoutPhone ? { ...member, phone: null, phoneVerified: false } : member);
    return withoutPhone ? { kind: 'added', withoutPhone } : { kind: 'added' };
  };
  const outcomes = coming.map(decideOne);
  return { outcomes, add: [...added.values()], release };
}
