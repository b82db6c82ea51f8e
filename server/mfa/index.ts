/**
 * The module of second factors: authenticator apps (TOTP, RFC 6238), codes by SMS, recovery codes, remembered devices,
 * and the user's preference (NIST SP 800-63B, sections 3.1.3 to 3.1.6).
 * Owns how a second factor is enrolled, checked and removed. Does not own the pages: sign-in/ and account/ have them.
 */

export type { MfaChallenge } from './challenges.ts';
export { createMfa, type Mfa } from './create-mfa.ts';
export type { MfaDeps } from './deps.ts';
export {
  type ChallengeMethod,
  changeMfaPreference,
  findChallengeMethods,
  listAuthenticators,
  methodAmr,
  methods,
  mfaPreferenceRefusals,
  reissueRecoveryCodes,
  removeAllFactors,
  removeFactorsAddedSince,
} from './mfa-preference.ts';
export { mfaOperations } from './operations.ts';
export {
  countRecoveryCodes,
  hashRecoveryCode,
  makeRecoveryCodes,
  normaliseRecoveryCode,
  replaceRecoveryCodes,
} from './recovery-code-store.ts';
export { forgetEveryDevice, forgetRememberedDevices, listRememberedDevices } from './remembered-device-store.ts';
export type { SmsSent } from './sms-codes.ts';
export {
  activateTotpAction,
  beginTotp,
  findMatchingStep,
  findTotpSetup,
  newTotpSecret,
  setupMinutes,
  totpUri,
} from './totp.ts';
export { findTotp, hasTotp, totpCreatedAt, upsertTotp } from './totp-store.ts';
export { getChallengeState, type VerifyChallengeResult, verifyChallenge } from './verify-challenge.ts';
