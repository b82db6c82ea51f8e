/**
 * The module of passkeys: sign-in without a password, with the device's own unlocking (Web Authentication level 3).
 * Owns the `passkeys` table, the options for browsers and the check of their answers. Does not own the pages: sign-in/
 * and account/ have them.
 */
export { checkPasskey, type PasskeyRefusal, requestOptions, requestOptionsForUser } from './authentication.ts';
export { createPasskeys, type PasskeyDeps } from './deps.ts';
export {
  countPasskeys,
  findPasskey,
  listPasskeys,
  type Passkey,
  removeAllPasskeys,
  removePasskey,
  removePasskeysAddedSince,
  renamePasskey,
} from './passkey-store.ts';
export { creationOptions, maxPasskeys, registerPasskey } from './registration.ts';
export { toRelyingParty } from './relying-party.ts';
export { webAuthn } from './webauthn.ts';
