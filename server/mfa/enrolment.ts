import { holdMember, setMfaPreference, type User } from '../account/index.ts';
import { wholeCode } from '../codes/index.ts';
import { type Origin, tellOfChange } from '../messages/index.ts';
import { randomToken, sha256 } from '../shared/index.ts';
import type { KeyValueStore, SecretBox } from '../store/index.ts';
import { type PreferenceDeps, recoveryCodesIfNone } from './preference.ts';
import { forgetRememberedDevices } from './remembered-device-store.ts';
import { matchingStep, newTotpSecret, totpUri } from './totp.ts';
import { hasTotp, putTotp } from './totp-store.ts';

export interface EnrolmentDeps extends PreferenceDeps {
  kv: KeyValueStore;
  /** Seals the secrets of authenticator apps. */
  mfaBox: SecretBox;
  /** Stands in the authenticator app as who the code is for. */
  brandName: string;
}

/** An authenticator app that has been given its secret, and has not shown a code yet. */
export interface TotpSetup {
  /** Base32 (RFC 4648). */
  secret: string;
  /** `otpauth://…`, what the QR code says (the Key URI format). */
  uri: string;
}

export type Activated =
  /** `recoveryCodes`: as the member sees them, this once; undefined where they have some already. */
  | { kind: 'activated'; recoveryCodes?: string[] }
  /** Not a whole code, or not one of this moment. */
  | { kind: 'incomplete' | 'wrong' }
  /** Never begun, by somebody else, too long ago, or activated already. */
  | { kind: 'gone' };

/** As long as an app takes to be found, installed and given the secret. */
export const setupMinutes = 15;
const setupMs = setupMinutes * 60_000;

interface Kept {
  userId: string;
  passwordEpoch: number;
  secret: string;
  expiresAtMs: number;
}

/** The setup's id is a secret of the browser, or of the caller, that began it. */
const keyOf = (flow: string) => `totp-setup:${sha256(flow)}`;

/** First step: a new secret, and the id of the setup. Nothing is asked for at the sign-in yet. */
export async function beginTotp(
  { kv, mfaBox, brandName, now }: EnrolmentDeps,
  user: User,
): Promise<TotpSetup & { flow: string }> {
  const flow = randomToken();
  const { id: userId, passwordEpoch } = user;
  const kept: Kept = { userId, passwordEpoch, secret: newTotpSecret(), expiresAtMs: now() + setupMs };
  const key = keyOf(flow);
  await kv.set(key, mfaBox.seal(JSON.stringify(kept), key), setupMs);
  return { flow, ...setupOf(kept, brandName, user) };
}

function setupOf({ secret }: Kept, issuer: string, { email }: User): TotpSetup {
  return { secret, uri: totpUri(secret, { issuer, account: email }) };
}

async function find({ kv, mfaBox, now }: EnrolmentDeps, flow: string, user: User) {
  const key = keyOf(flow);
  const sealed = flow === '' ? null : await kv.get(key);
  if (sealed === null) return undefined;
  const kept: Kept = JSON.parse(mfaBox.open(sealed, key));
  const theirs = kept.userId === user.id && kept.passwordEpoch === user.passwordEpoch;
  return theirs && now() < kept.expiresAtMs ? { key, sealed, kept } : undefined;
}

/** The setup that this member has begun, for the pages between. */
export async function findTotpSetup(deps: EnrolmentDeps, flow: string, user: User): Promise<TotpSetup | undefined> {
  const found = await find(deps, flow, user);
  return found && setupOf(found.kept, deps.brandName, user);
}

/**
 * Last step: a code shows that the app has the secret, and from now on the sign-in asks for one. The code is used up by it.
 * It takes the place of an earlier app, and remembered devices are forgotten. Told by mail.
 */
export async function activateTotp(
  deps: EnrolmentDeps,
  flow: string,
  user: User,
  typed: string,
  from: Origin,
): Promise<Activated> {
  const { kv, mfaBox, database, outbox, now } = deps;
  const code = wholeCode(typed);
  if (code === undefined) return { kind: 'incomplete' };
  const setup = await find(deps, flow, user);
  if (!setup) return { kind: 'gone' };
  const { secret } = setup.kept;
  const step = matchingStep(secret, code, now());
  if (step === undefined) return { kind: 'wrong' };
  // Of many at once one goes on.
  if (!(await kv.compareAndDelete(setup.key, setup.sealed))) return { kind: 'gone' };
  const activated = await database.transaction(async (trx): Promise<Activated> => {
    const current = await holdMember(trx, user);
    if (!current) return { kind: 'gone' };
    const nowMs = now();
    await setMfaPreference(trx, user.id, 'totp', nowMs);
    const replaced = current.mfaPreference === 'totp' && (await hasTotp(trx, user.id));
    await putTotp(trx, mfaBox, { userId: user.id, secret, lastStep: step, createdAt: nowMs });
    await forgetRememberedDevices(trx, user.id);
    await tellOfChange(trx, deps, { user: current, change: replaced ? 'totp-replaced' : 'mfa-totp', from });
    return { kind: 'activated', ...(await recoveryCodesIfNone(trx, user.id, nowMs)) };
  });
  if (activated.kind === 'activated') outbox.wake();
  return activated;
}
