/**
 * The room of passwords: which may be chosen, hashing off the event loop behind a bounded queue (argon2id, RFC 9106), how
 * often one may be guessed (NIST SP 800-63B, section 3.2.2), and how a forgotten or known one is replaced.
 *
 * Owns how a password is judged, kept, checked and replaced. Does not own signing in (sign-in/) nor the member (account/).
 */
export { type Busy, hashForApi, hashForPage, type QueueFullAnswer } from './busy.ts';
export type { ChangePasswordRefusal } from './change.ts';
export { type Checked, checkPassword } from './check.ts';
export { createDecoyHashes } from './decoys.ts';
export { needsInitialPassword } from './first-reset.ts';
export { type ImportedHash, type ImportedHashInput, parseImportedHash } from './foreign-hash.ts';
export type { GuessLimits, PasswordGuess } from './guess-limits.ts';
export { createPasswordHasher, type HashCost, minCost, ownProfile, type PasswordHasher } from './hash.ts';
export { isBelowFloor } from './hash-floor.ts';
export { rotateSessionAfterPasswordChange } from './keep-signed-in.ts';
export { passwordErrorText, retryAfterText } from './page-support.ts';
export { createPepper, pepperedText } from './pepper.ts';
export {
  createPasswordPolicy,
  maxPasswordLength,
  type PasswordFault,
  type PasswordPolicy,
  type PersonalData,
  passwordFaults,
} from './policy.ts';
export { PasswordQueueFullError, type PasswordWork } from './queue.ts';
export { replacePassword } from './replace.ts';
export { createPasswordModule, type PasswordModule } from './room.ts';
export { wrappedProfile } from './wrapped-hash.ts';
