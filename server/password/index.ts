/**
 * The room of passwords: which may be chosen, and hashing off the event loop behind a bounded queue (argon2id, RFC 9106).
 *
 * Owns how a password is judged, kept and checked. Does not own who may try how often (sign-in/) nor the member (account/).
 */
export { createPasswordHasher, type PasswordHasher } from './hash.ts';
export { mostPasswordCharacters, type PasswordFault, type PersonalData, passwordFaults } from './policy.ts';
export { PasswordQueueFull } from './queue.ts';
