/**
 * The module of passwords: the policy, hashing off the event loop behind a bounded queue (argon2id, RFC 9106), limits
 * on attempts (NIST SP 800-63B, section 3.2.2), and how a forgotten or known password is replaced.
 * Owns how a password is judged, stored, checked and replaced. Does not own the sign-in (sign-in/) nor the user
 * (users/).
 */

export {
  type ChangePasswordRefusal,
  changePassword,
  rotateSessionAfterPasswordChange,
  setInitialPassword,
} from './change-password.ts';
export { createDecoyHashes } from './decoy-hashes.ts';
export { createPasswordDeps, type PasswordDeps } from './deps.ts';
export { checkPassword, forgetGuesses, type GuessLimits } from './guess-limits.ts';
export { createPasswordHasher, ownProfile, type PasswordHasher } from './hash.ts';
export { type ImportedHashInput, isBelowFloor, parseImportedHash } from './imported-hash.ts';
export { mailInitialPasswordHint, needsInitialPassword, startInitialPassword } from './initial-password.ts';
export { createPepper, type HashCost, pepperedText, wrappedProfile } from './keyed-hashes.ts';
export { passwordOperations } from './operations.ts';
export { changePasswordRefusals, limitRefusals, passwordErrorText, strengthErrorText } from './password-texts.ts';
export {
  createPasswordPolicy,
  maxPasswordLength,
  type PasswordFault,
  type PasswordPolicy,
  passwordFaults,
} from './policy.ts';
export {
  type Busy,
  hashForApi,
  hashForPage,
  PasswordQueueFullError,
  type PasswordWork,
  type QueueFullAnswer,
} from './queue.ts';
export { passwordResetNotice, recentFactorsUrl } from './recent-factors-handlers.ts';
export { replacePassword } from './replace-password.ts';
export { passwordRoutes } from './routes.ts';
