/**
 * The room of passkeys: keys with which members sign in without a password, by what unlocks their device (Web
 * Authentication level 3).
 *
 * Owns the `passkeys` table, what browsers are asked and how their answers are checked. Does not own the pages: those of
 * signing in are sign-in/'s, those of looking after passkeys settings/'s.
 */
export { type PasskeyCheck, type PasskeyRefusal, passkeyAmr } from './authentication.ts';
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
export { maxPasskeys, type PasskeyRegistrant, type Registration, type RegistrationRefusal } from './registration.ts';
export { type RelyingParty, toRelyingParty } from './relying-party.ts';
export { openPasskeys, type Passkeys } from './room.ts';
