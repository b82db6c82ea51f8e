/**
 * The module of second factors: authenticator apps (TOTP, RFC 6238), codes by SMS, recovery codes, remembered devices,
 * and the user's preference (NIST SP 800-63B, sections 3.1.3 to 3.1.6).
 * Owns how a second factor is enrolled, checked and removed. Does not own the pages: sign-in/ and account/ have them.
 */

export { listAuthenticators, type UserAuthenticators } from './authenticators.ts';
export { type ChallengeMethod, findChallengeMethods, methodAmr, methods } from './challenge-methods.ts';
export type { MfaChallenge, MfaChallenges, NewChallenge } from './challenges.ts';
export { createMfa, type Mfa } from './create-mfa.ts';
export type { MfaDeps } from './deps.ts';
export {
  changeMfaPreference,
  type MfaPreferenceRefusal,
  reissueRecoveryCodes,
  removeAllFactors,
  removeFactorsAddedSince,
  type SetMfaPreferenceResult,
} from './mfa-preference.ts';
export { mfaOperations } from './operations.ts';
export { consumeRecoveryCode, countRecoveryCodes, replaceRecoveryCodes } from './recovery-code-store.ts';
export { hashRecoveryCode, makeRecoveryCodes, normaliseRecoveryCode } from './recovery-codes.ts';
export {
  forgetRememberedDevices,
  listRememberedDevices,
  type RememberedDevice,
} from './remembered-device-store.ts';
export type { RememberedDevices } from './remembered-devices.ts';
export type { SmsCodes, SmsSent } from './sms-codes.ts';
export { findMatchingStep, newTotpSecret, totpUri } from './totp.ts';
export {
  type ActivateTotpResult,
  activateTotp,
  beginTotp,
  findTotpSetup,
  setupMinutes,
  type TotpSetup,
} from './totp-enrolment.ts';
export {
  consumeTotpStep,
  findTotp,
  hasTotp,
  removeTotp,
  type TotpAuthenticator,
  totpCreatedAt,
  upsertTotp,
} from './totp-store.ts';
export { getChallengeState, type VerifyChallengeResult, verifyChallenge } from './verify-challenge.ts';
