/**
 * The room of passwords: which may be chosen, hashing off the event loop behind a bounded queue (argon2id, RFC 9106), how
 * often one may be guessed (NIST SP 800-63B, section 3.2.2), and how a forgotten or known one is replaced.
 *
 * Owns how a password is judged, kept, checked and replaced. Does not own signing in (sign-in/) nor the member (account/).
 */
export { type Busy, hashing, type QueueFull, unlessBusy } from './busy.ts';
export type { ChangeRefusal } from './change.ts';
export { type Checked, checkPassword } from './check.ts';
export { createDecoys } from './decoys.ts';
export { awaitsPassword } from './first-reset.ts';
export { type ForeignHash, type ImportedHash, readForeignHash } from './foreign-hash.ts';
export type { Guess, GuessLimits } from './guess-limits.ts';
export { createPasswordHasher, type HashCost, leastCost, ownProfile, type PasswordHasher } from './hash.ts';
export { isBelowFloor } from './hash-floor.ts';
export { keepSignedIn } from './keep-signed-in.ts';
export { passwordFaultText, waitText } from './page-support.ts';
export { createPepper, pepperedText } from './pepper.ts';
export {
  createPasswordPolicy,
  mostPasswordCharacters,
  type PasswordFault,
  type PasswordPolicy,
  type PersonalData,
  passwordFaults,
} from './policy.ts';
export { PasswordQueueFull, type PasswordWork } from './queue.ts';
export { replacePassword } from './replace.ts';
export { openPassword, type PasswordRoom } from './room.ts';
export { wrappedProfile } from './wrapped-hash.ts';
