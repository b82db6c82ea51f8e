import { Secret, TOTP } from 'otpauth';

/** The parameters that every authenticator app supports (RFC 6238, section 4; the Key URI format's defaults). */
const algorithm = 'SHA1';
export const totpDigits = 6;
export const totpStepSeconds = 30;
/** 160 bits, as RFC 4226, section 4, recommends. */
const secretBytes = 20;
/**
 * Also accepts a code of the previous or next step: phones' clocks are off by some seconds, and typing takes time (RFC
 * 6238, section 5.2).
 */
const driftSteps = 1;

const authenticator = (secret: string, names: { issuer?: string; label?: string } = {}) =>
  new TOTP({ ...names, secret, algorithm, digits: totpDigits, period: totpStepSeconds });

/** A new secret in base32 (RFC 4648). */
export function newTotpSecret(): string {
  return new Secret({ size: secretBytes }).base32;
}

/**
 * The `otpauth://` address that authenticator apps read from a QR code. @param account the name in the app: the e-mail
 * address
 */
export function totpUri(secret: string, { issuer, account }: { issuer: string; account: string }): string {
  return authenticator(secret, { issuer, label: account }).toString();
}

/**
 * The time step of a code, or undefined if it matches none near this time. The caller must use the step up
 * (`consumeTotpStep`), because a code is valid once.
 * @param code six digits, from `normaliseCode`
 */
export function findMatchingStep(secret: string, code: string, nowMs: number): number | undefined {
  const totp = authenticator(secret);
  const delta = totp.validate({ token: code, timestamp: nowMs, window: driftSteps });
  return delta === null ? undefined : totp.counter({ timestamp: nowMs }) + delta;
}
