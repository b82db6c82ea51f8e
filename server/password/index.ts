/**
 * The module of passwords: the policy, hashing off the event loop behind a bounded queue (argon2id, RFC 9106), limits
 * on attempts (NIST SP 800-63B, section 3.2.2), and how a forgotten or known password is replaced.
 * Owns how a password is judged, stored, checked and replaced. Does not own the sign-in (sign-in/) nor the user
 * (users/).
 */

export type { ChangePasswordRefusal } from './change-password.ts';
export { createDecoyHashes } from './decoy-hashes.ts';
export type { GuessLimits, PasswordGuess } from './guess-limits.ts';
export { createPasswordHasher, type HashCost, minCost, ownProfile, type PasswordHasher } from './hash.ts';
export { isBelowFloor } from './hash-floor.ts';
export { type ImportedHash, type ImportedHashInput, parseImportedHash } from './imported-hash.ts';
export { needsInitialPassword } from './initial-password.ts';
export { passwordErrorText, retryAfterText } from './password-texts.ts';
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
export { type Busy, hashForApi, hashForPage, type QueueFullAnswer } from './queue-full.ts';
export { type Checked, checkPassword } from './rate-limited-check.ts';
export { replacePassword } from './replace-password.ts';
export { createPasswordModule, type PasswordModule } from './room.ts';
export { rotateSessionAfterPasswordChange } from './rotate-session.ts';
export { wrappedProfile } from './wrapped-hash.ts';
