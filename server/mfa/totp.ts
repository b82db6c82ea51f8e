import { Secret, TOTP } from 'otpauth';
import { z } from 'zod';
import { codeForm, defineAction, expiredCode, type RefusalRules, wrongCode } from '../http/index.ts';
import { normaliseCode, notifySecurityChange, type Origin } from '../messages/index.ts';
import { type FlowId, minuteMs, userIdSchema } from '../shared/index.ts';
import { browserRecords, type KeyValueStore, type SecretBox } from '../store/index.ts';
import { lockUser, setMfaPreference, type User } from '../users/index.ts';
import { issueRecoveryCodesIfMissing, type PreferenceDeps } from './mfa-preference.ts';
import { forgetRememberedDevices } from './remembered-device-store.ts';
import { hasTotp, upsertTotp } from './totp-store.ts';

/** The parameters that every authenticator app supports (RFC 6238, section 4; the Key URI format's defaults). */
const algorithm = 'SHA1';
const totpDigits = 6;
const totpStepSeconds = 30;
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

export interface TotpEnrolmentDeps extends PreferenceDeps {
  kv: KeyValueStore;
  /** Seals the secrets of authenticator apps. */
  mfaBox: SecretBox;
  /** The issuer in the authenticator app. */
  brandName: string;
}

/** An authenticator app that has its secret but has not proven it with a code yet. */
interface TotpSetup {
  /** Base32 (RFC 4648). */
  secret: string;
  /** `otpauth://…`, the content of the QR code (the Key URI format). */
  uri: string;
}

type ActivateTotpResult =
  /** `recoveryCodes`: in plain text, only this once; undefined if the user has some already. */
  | { kind: 'activated'; recoveryCodes?: string[] }
  /** Not a complete code, or not one of this time. */
  | { kind: 'incomplete' | 'incorrect' }
  /** Never started, started by another user, expired, or already activated. */
  | { kind: 'not-found' };

/** The refusals of a code that activates an app. */
const totpRefusals: RefusalRules<Exclude<ActivateTotpResult, { kind: 'activated' }>> = {
  incomplete: { ...wrongCode('codes.incomplete', 'code'), apiText: 'codes.wrong' },
  incorrect: wrongCode('codes.wrong', 'code'),
  'not-found': expiredCode('mfaSettings.totp.expired'),
};

/** Enough time to find and install an app and enter the secret. */
export const setupMinutes = 15;
const setupMs = setupMinutes * minuteMs;

const schema = z.object({
  userId: userIdSchema,
  passwordEpoch: z.number(),
  secret: z.string(),
  expiresAtMs: z.number(),
});
type StoredSetup = z.infer<typeof schema>;

/** The setup's id is a secret of the browser, or of the caller, that started it. */
const setupRecords = ({ kv, mfaBox: seal }: TotpEnrolmentDeps) =>
  browserRecords({ kv, kind: 'totp-setup', schema, ttlMs: setupMs, seal });

/** First step: a new secret, and the id of the setup. The sign-in does not ask for it yet. */
export async function beginTotp(deps: TotpEnrolmentDeps, user: User): Promise<TotpSetup & { setupId: FlowId }> {
  const { id: userId, passwordEpoch } = user;
  const setup = { userId, passwordEpoch, secret: newTotpSecret(), expiresAtMs: deps.now() + setupMs };
  const setupId = await setupRecords(deps).create(setup);
  return { setupId, ...toTotpSetup(setup, deps.brandName, user) };
}

function toTotpSetup({ secret }: StoredSetup, issuer: string, { email }: User): TotpSetup {
  return { secret, uri: totpUri(secret, { issuer, account: email }) };
}

async function findStoredSetup(deps: TotpEnrolmentDeps, setupId: FlowId, user: User): Promise<StoredSetup | undefined> {
  const setup = await setupRecords(deps).find(setupId);
  const belongsToUser = setup?.userId === user.id && setup.passwordEpoch === user.passwordEpoch;
  return belongsToUser && deps.now() < setup.expiresAtMs ? setup : undefined;
}

/** The setup that this user has started, for the pages between. */
export async function findTotpSetup(
  deps: TotpEnrolmentDeps,
  setupId: FlowId,
  user: User,
): Promise<TotpSetup | undefined> {
  const found = await findStoredSetup(deps, setupId, user);
  return found && toTotpSetup(found, deps.brandName, user);
}

/**
 * Last step: a code proves that the app has the secret, and from now on the sign-in asks for one. The code is used up.
 * The app replaces an earlier one, and remembered devices are forgotten. Notifies by mail.
 */
async function activateTotp(
  deps: TotpEnrolmentDeps,
  user: User,
  { setupId, typed, from }: { setupId: FlowId; typed: string; from: Origin },
): Promise<ActivateTotpResult> {
  const { mfaBox, database, outbox, now } = deps;
  const code = normaliseCode(typed);
  if (code === undefined) return { kind: 'incomplete' };
  const setup = await findStoredSetup(deps, setupId, user);
  if (!setup) return { kind: 'not-found' };
  const { secret } = setup;
  const step = findMatchingStep(secret, code, now());
  if (step === undefined) return { kind: 'incorrect' };
  // Only one of several parallel calls continues.
  if (!(await setupRecords(deps).delete(setupId))) return { kind: 'not-found' };
  const activated = await database.transaction(async (trx): Promise<ActivateTotpResult> => {
    const current = await lockUser(trx, user);
    if (!current) return { kind: 'not-found' };
    const nowMs = now();
    await setMfaPreference(trx, user.id, { preference: 'totp', nowMs });
    const replaced = current.mfaPreference === 'totp' && (await hasTotp(trx, user.id));
    await upsertTotp(trx, mfaBox, { userId: user.id, secret, lastStep: step, createdAt: nowMs });
    await forgetRememberedDevices(trx, user.id);
    await notifySecurityChange(trx, deps, { user: current, change: replaced ? 'totp-replaced' : 'mfa-totp', from });
    return { kind: 'activated', ...(await issueRecoveryCodesIfMissing(trx, user.id, nowMs)) };
  });
  if (activated.kind === 'activated') outbox.wake();
  return activated;
}

/** The code that activates an app. `setupId`: the set-up that the caller has started. */
export const activateTotpAction = defineAction({
  id: 'totp-activate',
  form: codeForm,
  async run(
    mfa: TotpEnrolmentDeps,
    { user, from, setupId }: { user: User; from: Origin; setupId: FlowId },
    { code: typed },
  ) {
    const activated = await activateTotp(mfa, user, { setupId, typed, from });
    return activated.kind === 'activated' ? activated : { kind: 'refused' as const, refusal: activated };
  },
  refusals: totpRefusals,
});
