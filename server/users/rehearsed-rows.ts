import { type DigestSet, toUserId } from '../shared/index.ts';
import type { ExistingUsers, ImportedUser } from './import-rules.ts';

/** Stands for the id of an earlier row, which is known only not to be that of a later one. */
const otherId = toUserId('');

const toText = (...parts: string[]) => JSON.stringify(parts);
const idText = (id: string) => toText('id', id);
const accountText = (id: string, email: string) => toText('account', id, email);
const emailText = (email: string) => toText('email', email);
const phoneText = (phone: string, verified: boolean) => toText(verified ? 'verified' : 'phone', phone);
const usernameText = (username: string) => toText('username', username);

/** The texts of most users: the texts of their id, account, address and number. */
export const textsPerUser = 4;

/** Adds to the existing users what earlier rows of the file have in common with these rows. */
export function addEarlierRows(known: ExistingUsers, coming: readonly ImportedUser[], earlier: DigestSet): void {
  for (const { id, email, phone, preferredUsername: username } of coming) {
    // Another row of this batch may have the same id with the address of the earlier row.
    if (earlier.has(accountText(id, email))) known.members.set(id, email);
    else if (!known.members.has(id) && earlier.has(idText(id))) known.members.set(id, null);
    if (earlier.has(emailText(email))) known.emails.set(email, otherId);
    if (phone !== null) {
      const verified = earlier.has(phoneText(phone, true));
      if (verified || earlier.has(phoneText(phone, false))) known.phones.set(phone, { id: otherId, verified });
    }
    if (username !== null && earlier.has(usernameText(username))) known.usernames.add(username);
  }
}

/** @param added the users as they would be added */
export function keepRows(added: readonly ImportedUser[], earlier: DigestSet): void {
  for (const { id, email, phone, phoneVerified, preferredUsername: username } of added) {
    earlier.add(idText(id));
    earlier.add(accountText(id, email));
    earlier.add(emailText(email));
    if (phone !== null) earlier.add(phoneText(phone, phoneVerified));
    if (username !== null) earlier.add(usernameText(username));
  }
}
