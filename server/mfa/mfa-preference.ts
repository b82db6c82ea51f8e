import type { Transaction } from 'kysely';
import { type Origin, type Outbox, type SecurityChange, tellOfChange } from '../messages/index.ts';
import type { Database, Schema } from '../store/index.ts';
import { findUser, lockUser, type MfaPreference, setMfaPreference, type User } from '../users/index.ts';
import { countRecoveryCodes, replaceRecoveryCodes } from './recovery-code-store.ts';
import { hashRecoveryCode, makeRecoveryCodes, normaliseRecoveryCode } from './recovery-codes.ts';
import { forgetRememberedDevices } from './remembered-device-store.ts';
import { hasTotp, removeTotp, totpCreatedAt } from './totp-store.ts';

export interface PreferenceDeps {
  database: Database;
  outbox: Outbox;
  /** Whether text messages are sent at all. */
  smsOffered: boolean;
  now: () => number;
}

/** The specification's names of what is asked for at the sign-in. */
export const preferredMfaNames = {
  none: 'NOMFA',
  sms: 'SMS_MFA',
  totp: 'SOFTWARE_TOKEN_MFA',
} as const satisfies Record<MfaPreference, string>;

/**
 * `no-authenticator`: no app has been activated; `no-phone`: no verified number, or no text messages are sent here; `required`: a
 * provider of the member demands a second factor.
 */
export type MfaPreferenceRefusal = 'no-authenticator' | 'no-phone' | 'required';

export type SetMfaPreferenceResult =
  | { kind: 'unchanged' }
  /** `recoveryCodes`: as the member sees them, this once; undefined where they have some already, or need none. */
  | { kind: 'set'; recoveryCodes?: string[] }
  | { kind: 'refused'; why: MfaPreferenceRefusal }
  /** The member is gone, or signs in with another password by now. */
  | { kind: 'gone' };

const changeOf = { none: 'mfa-off', sms: 'mfa-sms', totp: 'mfa-totp' } as const satisfies Record<
  MfaPreference,
  SecurityChange
>;

/** New codes in place of all earlier ones; answers them as the member sees them. Only their hashes are kept. */
export async function issueRecoveryCodes(trx: Transaction<Schema>, userId: string, nowMs: number): Promise<string[]> {
  const codes = makeRecoveryCodes();
  const hashes = codes.map((code) => hashRecoveryCode(normaliseRecoveryCode(code) ?? code));
  await replaceRecoveryCodes(trx, userId, hashes, nowMs);
  return codes;
}

/** Recovery codes for a member who has none left. */
export async function issueRecoveryCodesIfMissing(
  trx: Transaction<Schema>,
  userId: string,
  nowMs: number,
): Promise<{ recoveryCodes?: string[] }> {
  const { left } = await countRecoveryCodes(trx, userId);
  return left > 0 ? {} : { recoveryCodes: await issueRecoveryCodes(trx, userId, nowMs) };
}

/**
 * Nothing is asked for beside the password from now on: the authenticator app, the recovery codes and the remembered devices
 * go with it, so that what lies forgotten on an old phone opens nothing later.
 */
export async function removeAllFactors(trx: Transaction<Schema>, userId: string, nowMs: number): Promise<void> {
  await setMfaPreference(trx, userId, 'none', nowMs);
  await removeTotp(trx, userId);
  await replaceRecoveryCodes(trx, userId, [], nowMs);
  await forgetRememberedDevices(trx, userId);
}

/** Which second factor is asked for at the sign-in from now on; `none` takes all of them away. Told by mail. */
export async function changeMfaPreference(
  deps: PreferenceDeps,
  user: User,
  expected: MfaPreference,
  from: Origin,
): Promise<SetMfaPreferenceResult> {
  const { database, outbox, smsOffered, now } = deps;
  const preferred = await database.transaction(async (trx): Promise<SetMfaPreferenceResult> => {
    const current = await lockUser(trx, user);
    if (!current) return { kind: 'gone' };
    if (current.mfaPreference === expected) return { kind: 'unchanged' };
    if (expected === 'totp' && !(await hasTotp(trx, user.id))) return { kind: 'refused', why: 'no-authenticator' };
    if (expected === 'none' && current.secondFactorRequired) return { kind: 'refused', why: 'required' };
    if (expected === 'none') {
      await removeAllFactors(trx, user.id, now());
    } else {
      if (expected === 'sms' && !smsOffered) return { kind: 'refused', why: 'no-phone' };
      // Decided by the row itself: the number may be on its way out at this moment.
      if (!(await setMfaPreference(trx, user.id, expected, now()))) return { kind: 'refused', why: 'no-phone' };
      await forgetRememberedDevices(trx, user.id);
    }
    const codes = expected === 'none' ? {} : await issueRecoveryCodesIfMissing(trx, user.id, now());
    await tellOfChange(trx, deps, { user: current, change: changeOf[expected], from });
    return { kind: 'set', ...codes };
  });
  if (preferred.kind === 'set') outbox.wake();
  return preferred;
}

/**
 * New recovery codes for a member who has a second factor; the earlier ones work no more. Told by mail.
 * @returns undefined when there is nothing that they could stand in for
 */
export async function reissueRecoveryCodes(
  deps: PreferenceDeps,
  user: User,
  from: Origin,
): Promise<string[] | undefined> {
  const codes = await deps.database.transaction(async (trx) => {
    const current = await lockUser(trx, user);
    if (!current || current.mfaPreference === 'none') return undefined;
    await tellOfChange(trx, deps, { user: current, change: 'recovery-codes-new', from });
    return issueRecoveryCodes(trx, user.id, deps.now());
  });
  if (codes) deps.outbox.wake();
  return codes;
}

/**
 * Takes away what was added since a moment: whoever adds a factor to a stolen account must not keep it. What is older stays.
 * @param sinceMs milliseconds since the epoch
 * @returns whether anything was taken away
 */
export async function removeFactorsAddedSince(
  trx: Transaction<Schema>,
  userId: string,
  sinceMs: number,
  nowMs: number,
): Promise<boolean> {
  const user = await findUser(trx, userId);
  if (!user) return false;
  await forgetRememberedDevices(trx, userId);
  const { createdAtMs: codesSinceMs } = await countRecoveryCodes(trx, userId);
  const newCodes = codesSinceMs !== undefined && codesSinceMs >= sinceMs;
  if (newCodes) await replaceRecoveryCodes(trx, userId, [], nowMs);
  const totpSinceMs = await totpCreatedAt(trx, userId);
  const newTotp = totpSinceMs !== undefined && totpSinceMs >= sinceMs;
  if (newTotp) await removeTotp(trx, userId);
  // Codes by SMS have no date of their own: the recovery codes were made when the first factor was.
  const lost = user.mfaPreference === 'totp' ? newTotp : user.mfaPreference === 'sms' && newCodes;
  const older = totpSinceMs !== undefined && !newTotp ? 'totp' : 'none';
  if (lost) await setMfaPreference(trx, userId, older, nowMs);
  return newCodes || newTotp;
}
