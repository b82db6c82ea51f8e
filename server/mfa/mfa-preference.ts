import type { Transaction } from 'kysely';
import type { TextKey } from '../../locales/index.ts';
import type { RefusalRules } from '../http/index.ts';
import { notifySecurityChange, type Origin, type Outbox, type SecurityChange } from '../messages/index.ts';
import type { UserId } from '../shared/index.ts';
import type { Database, Schema } from '../store/index.ts';
import { findUser, lockUser, type MfaPreference, setMfaPreference, type User } from '../users/index.ts';
import {
  countRecoveryCodes,
  hashRecoveryCode,
  makeRecoveryCodes,
  normaliseRecoveryCode,
  replaceRecoveryCodes,
} from './recovery-code-store.ts';
import { forgetRememberedDevices } from './remembered-device-store.ts';
import { hasTotp, removeTotp, totpCreatedAt } from './totp-store.ts';

export interface PreferenceDeps {
  database: Database;
  outbox: Outbox;
  /** Whether text messages can be sent. */
  smsOffered: boolean;
  now: () => number;
}

/** The specification's names of the preferences. */
export const preferredMfaNames = {
  none: 'NOMFA',
  sms: 'SMS_MFA',
  totp: 'SOFTWARE_TOKEN_MFA',
} as const satisfies Record<MfaPreference, string>;

/**
 * `no-authenticator`: no app is active; `no-phone`: no verified number, or SMS is off; `required`: a provider of the
 * user requires a second factor.
 */
type MfaPreferenceRefusal = 'no-authenticator' | 'no-phone' | 'required';

const conflict = (text: TextKey) => ({ problem: 'notPossibleNow', pageStatus: 400, text }) as const;
export const mfaPreferenceRefusals: RefusalRules<{ kind: MfaPreferenceRefusal }> = {
  'no-phone': conflict('mfaSettings.errors.noPhone'),
  'no-authenticator': conflict('mfaSettings.errors.noAuthenticator'),
  required: conflict('federation.required.cannotTurnOff'),
};

type SetMfaPreferenceResult =
  | { kind: 'unchanged' }
  /** `recoveryCodes`: in plain text, only this once; undefined if the user has some already, or needs none. */
  | { kind: 'set'; recoveryCodes?: string[] }
  | { kind: 'refused'; why: MfaPreferenceRefusal }
  /** The user is deleted, or has another password by now. */
  | { kind: 'not-found' };

const changeByMethod = { none: 'mfa-off', sms: 'mfa-sms', totp: 'mfa-totp' } as const satisfies Record<
  MfaPreference,
  SecurityChange
>;

/** Creates codes that replace all earlier ones. Returns them in plain text; only their hashes are stored. */
async function issueRecoveryCodes(trx: Transaction<Schema>, userId: UserId, nowMs: number): Promise<string[]> {
  const codes = makeRecoveryCodes();
  const hashes = codes.map((code) => hashRecoveryCode(normaliseRecoveryCode(code) ?? code));
  await replaceRecoveryCodes(trx, userId, { hashes, nowMs });
  return codes;
}

/** Creates recovery codes for a user who has none left. */
export async function issueRecoveryCodesIfMissing(
  trx: Transaction<Schema>,
  userId: UserId,
  nowMs: number,
): Promise<{ recoveryCodes?: string[] }> {
  const { left } = await countRecoveryCodes(trx, userId);
  return left > 0 ? {} : { recoveryCodes: await issueRecoveryCodes(trx, userId, nowMs) };
}

/**
 * Disables the second factor. The authenticator app, the recovery codes and the remembered devices are removed with it,
 * so that a forgotten phone cannot be used later.
 */
export async function removeAllFactors(trx: Transaction<Schema>, userId: UserId, nowMs: number): Promise<void> {
  await setMfaPreference(trx, userId, { preference: 'none', nowMs });
  await removeTotp(trx, userId);
  await replaceRecoveryCodes(trx, userId, { hashes: [], nowMs });
  await forgetRememberedDevices(trx, userId);
}

/** Sets the second factor of the sign-in; `none` removes all of them. Notifies by mail. */
export async function changeMfaPreference(
  deps: PreferenceDeps,
  user: User,
  { preference, from }: { preference: MfaPreference; from: Origin },
): Promise<SetMfaPreferenceResult> {
  const { database, outbox, smsOffered, now } = deps;
  const preferred = await database.transaction(async (trx): Promise<SetMfaPreferenceResult> => {
    const current = await lockUser(trx, user);
    if (!current) return { kind: 'not-found' };
    if (current.mfaPreference === preference) return { kind: 'unchanged' };
    if (preference === 'totp' && !(await hasTotp(trx, user.id))) return { kind: 'refused', why: 'no-authenticator' };
    if (preference === 'none' && current.secondFactorRequired) return { kind: 'refused', why: 'required' };
    if (preference === 'none') {
      await removeAllFactors(trx, user.id, now());
    } else {
      if (preference === 'sms' && !smsOffered) return { kind: 'refused', why: 'no-phone' };
      // The row itself decides: the number may be removed at this moment.
      if (!(await setMfaPreference(trx, user.id, { preference, nowMs: now() })))
        return { kind: 'refused', why: 'no-phone' };
      await forgetRememberedDevices(trx, user.id);
    }
    const codes = preference === 'none' ? {} : await issueRecoveryCodesIfMissing(trx, user.id, now());
    await notifySecurityChange(trx, deps, { user: current, change: changeByMethod[preference], from });
    return { kind: 'set', ...codes };
  });
  if (preferred.kind === 'set') outbox.wake();
  return preferred;
}

/**
 * New recovery codes for a user with a second factor; the earlier ones become invalid. Notifies by mail.
 * @returns undefined if there is no second factor that they could replace
 */
export async function reissueRecoveryCodes(
  deps: PreferenceDeps,
  user: User,
  from: Origin,
): Promise<string[] | undefined> {
  const codes = await deps.database.transaction(async (trx) => {
    const current = await lockUser(trx, user);
    if (!current || current.mfaPreference === 'none') return undefined;
    await notifySecurityChange(trx, deps, { user: current, change: 'recovery-codes-new', from });
    return issueRecoveryCodes(trx, user.id, deps.now());
  });
  if (codes) deps.outbox.wake();
  return codes;
}

/**
 * Removes factors that were added since a time, so that a thief who adds a factor to a stolen account does not keep it.
 * Older ones stay.
 * @param sinceMs milliseconds since the epoch
 * @returns whether anything was removed
 */
export async function removeFactorsAddedSince(
  trx: Transaction<Schema>,
  { userId, sinceMs, nowMs }: { userId: UserId; sinceMs: number; nowMs: number },
): Promise<boolean> {
  const user = await findUser(trx, userId);
  if (!user) return false;
  await forgetRememberedDevices(trx, userId);
  const { createdAtMs: codesSinceMs } = await countRecoveryCodes(trx, userId);
  const newCodes = codesSinceMs !== undefined && codesSinceMs >= sinceMs;
  if (newCodes) await replaceRecoveryCodes(trx, userId, { hashes: [], nowMs });
  const totpSinceMs = await totpCreatedAt(trx, userId);
  const newTotp = totpSinceMs !== undefined && totpSinceMs >= sinceMs;
  if (newTotp) await removeTotp(trx, userId);
  // SMS has no date of its own; the recovery codes were created with the first factor.
  const lost = user.mfaPreference === 'totp' ? newTotp : user.mfaPreference === 'sms' && newCodes;
  const older = totpSinceMs !== undefined && !newTotp ? 'totp' : 'none';
  if (lost) await setMfaPreference(trx, userId, { preference: older, nowMs });
  return newCodes || newTotp;
}

/** Methods to answer a challenge. */
export const methods = ['totp', 'sms', 'recovery'] as const;
export type ChallengeMethod = (typeof methods)[number];

/** The authentication methods of RFC 8176; a recovery code counts as a one-time code. */
export const methodAmr: Record<ChallengeMethod, string> = { totp: 'otp', sms: 'sms', recovery: 'otp' };

/**
 * The methods with which a user can answer a challenge, the preferred one first. Empty: no challenge, because the user
 * has no second factor enabled. A user who enabled one but cannot use it any more can still enter a recovery code: the
 * challenge is never skipped.
 */
export function listChallengeMethods(
  { preference, sms, totp }: UserAuthenticators,
  smsOffered: boolean,
): ChallengeMethod[] {
  if (preference === 'none') return [];
  const apps: ChallengeMethod[] = totp ? ['totp'] : [];
  const phones: ChallengeMethod[] = sms && smsOffered ? ['sms'] : [];
  return [...(preference === 'sms' ? [...phones, ...apps] : [...apps, ...phones]), 'recovery'];
}

/** The same for a user, from the stored factors. */
export async function findChallengeMethods(
  { database, smsOffered }: { database: Pick<Database, 'db'>; smsOffered: boolean },
  user: User,
): Promise<ChallengeMethod[]> {
  if (user.mfaPreference === 'none') return [];
  return listChallengeMethods(await listAuthenticators(database, user), smsOffered);
}

/** The second factors of a user. */
interface UserAuthenticators {
  /** The factor that the sign-in asks for; `none`: no factor. */
  preference: User['mfaPreference'];
  /** There is a verified number for codes by SMS. */
  sms: boolean;
  /** An authenticator app is active. */
  totp: boolean;
  recoveryCodesLeft: number;
}

export async function listAuthenticators({ db }: Pick<Database, 'db'>, user: User): Promise<UserAuthenticators> {
  const [totp, { left }] = await Promise.all([hasTotp(db, user.id), countRecoveryCodes(db, user.id)]);
  return {
    preference: user.mfaPreference,
    sms: user.phone !== null && user.phoneVerified,
    totp,
    recoveryCodesLeft: left,
  };
}
