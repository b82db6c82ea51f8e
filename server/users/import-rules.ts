import type { User } from './user.ts';

/** A member as another service knew them. Times in milliseconds since the epoch. */
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

/** Why a member is not taken over. */
export type ImportRefusal =
  /** The id is a member's here, who has another address. */
  | 'other-email'
  /** The address is another member's, or is kept for another one. */
  | 'email-taken'
  /** The second factor's number is another member's. */
  | 'phone-taken'
  /** They were a member here, and had themselves erased. */
  | 'left';

export type ImportOutcome =
  | { kind: 'added'; withoutPhone?: true }
  /** The same id with the same address: nothing is changed. */
  | { kind: 'there' }
  | { kind: 'refused'; why: ImportRefusal };

/** What is known here of the ids, addresses and numbers of those who come. */
export interface ExistingUsers {
  /** Id → address. */
  members: Map<string, string>;
  /** Address → id of whose it is, or for whom it is kept. */
  emails: Map<string, string>;
  phones: Map<string, { id: string; verified: boolean }>;
  /** Ids of members who are gone. */
  left: Set<string>;
}

export const noExistingUsers = (): ExistingUsers => ({
  members: new Map(),
  emails: new Map(),
  phones: new Map(),
  left: new Set(),
});

export interface ImportDecision {
  /** In the order of those who come. */
  outcomes: ImportOutcome[];
  /** As they are to be added: one whose number is another's has none. */
  add: ImportedUser[];
  /** Members here who had given a number without showing that it is theirs, and lose it to one who had. */
  release: string[];
}

/**
 * Decides who of those who come is added. Nobody gets a member's account, address or number by standing in a file: what is
 * here stays, and whoever comes first is here for the next.
 * @param known what is known here; those who are added are added to it
 */
export function decideImport(coming: readonly ImportedUser[], known: ExistingUsers): ImportDecision {
  const added = new Map<string, ImportedUser>();
  const release: string[] = [];
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
