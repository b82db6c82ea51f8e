import { createHmac } from 'node:crypto';

// Mailboxes and cards that have had a trial, as keyed hashes, which survive the user.

/** A trial of every user, or of a paid plan (`plan-…`): one does not use the other up. */
type ClaimKind = 'email' | 'card' | 'plan-email' | 'plan-card';

/** The stored form of an address or card that has had its trial: it cannot be reversed without the key. */
export const trialHash = (key: Buffer, kind: ClaimKind, value: string): string =>
  createHmac('sha256', key).update(`${kind}:${value}`).digest('base64url');

/** A plus suffix does not make another mailbox: all such addresses count as one. */
const withoutTag = (email: string): string => email.replace(/^([^+@]+)\+[^@]*@/, '$1@');

/** Google delivers to one mailbox under both of its domains, and ignores dots. */
const googleAddress = /^(?<name>[^@]+)@(?:gmail|googlemail)\.com$/;

/** All spellings of an address whose claim counts: that of its mailbox, and the one of claims by earlier releases. */
function mailboxSpellings(email: string): string[] {
  const plain = withoutTag(email);
  const { name } = googleAddress.exec(plain)?.groups ?? {};
  return name === undefined ? [plain] : [...new Set([`${name.replaceAll('.', '')}@gmail.com`, plain])];
}

/** The stored forms of the mailbox of an address. */
export const mailboxHashes = (key: Buffer, kind: 'email' | 'plan-email', email: string): string[] =>
  mailboxSpellings(email).map((spelling) => trialHash(key, kind, spelling));
