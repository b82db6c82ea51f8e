/**
 * The room of passwords: hashing off the event loop behind a bounded queue (argon2id, RFC 9106).
 *
 * Owns how a password is kept and checked. Does not own who may try how often (sign-in/) nor the member (account/).
 */
export { createPasswordHasher, type PasswordHasher } from './hash.ts';
export { PasswordQueueFull } from './queue.ts';
