import type { Origin } from '../messages/index.ts';
import { normaliseCode } from '../messages/index.ts';
import type { FlowId, GuessLimit } from '../shared/index.ts';
import { findCurrentUser, type User } from '../users/index.ts';
import type { MfaChallenge } from './challenges.ts';
import type { MfaDeps } from './deps.ts';
import { consumeChallengeGuess, consumeMfaCodeGuess, consumeRecoveryCodeGuess } from './guess-limits.ts';
import { type ChallengeMethod, findChallengeMethods } from './mfa-preference.ts';
import { notifyGuessing } from './notify-guessing.ts';
import { hashRecoveryCode, hasRecoveryCode, normaliseRecoveryCode } from './recovery-code-store.ts';
import { findMatchingStep } from './totp.ts';
import { consumeTotpStep, findTotp } from './totp-store.ts';
import { consumeRecoveryCodeAndNotify } from './use-recovery-code.ts';

export type VerifyChallengeResult =
  /** The challenge is used up: the caller starts the session. */
  | { kind: 'passed'; user: User; challenge: MfaChallenge }
  /** Not a complete code: not checked. */
  | { kind: 'incomplete' }
  | { kind: 'incorrect' }
  /** It was right, but used before: the app soon shows another one. */
  | { kind: 'used' }
  /** The SMS code was replaced, has expired, or has had too many attempts. */
  | { kind: 'invalidated' }
  | { kind: 'too-many'; limit: GuessLimit; retryAfterMs: number }
  /** The challenge has ended: expired, used, too many attempts, or the user has changed. */
  | { kind: 'expired' };

/** The user of a challenge; undefined if it is no longer valid. */
async function findChallengeUser(
  { database }: Pick<MfaDeps, 'database'>,
  challenge: MfaChallenge,
): Promise<User | undefined> {
  const user = await findCurrentUser(database, challenge.userId);
  if (!user || user.disabledAt !== null || user.passwordEpoch !== challenge.passwordEpoch) return undefined;
  // The factor was disabled meanwhile: then the sign-in starts again, with the password alone.
  return user.mfaPreference === 'none' ? undefined : user;
}

/** The user of a challenge, with the possible methods; undefined if it is no longer valid. */
export async function getChallengeState(
  deps: Pick<MfaDeps, 'database' | 'smsOffered'>,
  challenge: MfaChallenge,
): Promise<{ user: User; methods: ChallengeMethod[] } | undefined> {
  const user = await findChallengeUser(deps, challenge);
  return user && { user, methods: await findChallengeMethods(deps, user) };
}

/** An answer to a challenge. */
interface ChallengeAnswer {
  method: ChallengeMethod;
  typed: string;
  from: Origin & { device?: string | undefined };
}

/**
 * Checks an answer to a challenge. Attempts are counted before the check: per challenge, per user over all challenges,
 * per network. The right one uses up itself and the challenge.
 */
export async function verifyChallenge(
  deps: MfaDeps,
  id: FlowId,
  { method, typed, from }: ChallengeAnswer,
): Promise<VerifyChallengeResult> {
  const { kv, limits, challenges } = deps;
  const challenge = await challenges.find(id);
  const user = challenge && (await findChallengeUser(deps, challenge));
  if (!challenge || !user) return { kind: 'expired' };
  const code = method === 'recovery' ? normaliseRecoveryCode(typed) : normaliseCode(typed);
  if (code === undefined) return { kind: 'incomplete' };

  const guess = { userId: user.id, ip: from.ip, device: from.device };
  const decision = await (method === 'recovery' ? consumeRecoveryCodeGuess : consumeMfaCodeGuess)(kv, limits, guess);
  if (!decision.allowed) {
    const { limit, retryAfterMs } = decision;
    if (limit === 'account') await notifyGuessing(deps, user, from);
    return { kind: 'too-many', limit, retryAfterMs };
  }
  const left = await consumeChallengeGuess(kv, id);
  if (left === undefined) {
    await decision.release();
    return { kind: 'expired' };
  }
  const checked = await checkCode(deps, { user, id, method, code });
  if (checked !== 'correct') return { kind: left === 0 ? 'expired' : checked };
  await decision.release();
  // One of several parallel right answers gets the challenge; only that one uses its recovery code up.
  if (!(await challenges.consume(id))) return { kind: 'expired' };
  if (method === 'recovery' && !(await consumeRecoveryCodeAndNotify(deps, user, { code, from })))
    return { kind: 'expired' };
  return { kind: 'passed', user, challenge };
}

async function checkCode(
  deps: MfaDeps,
  { user, id, method, code }: { user: User; id: FlowId; method: ChallengeMethod; code: string },
): Promise<'correct' | 'incorrect' | 'used' | 'invalidated'> {
  const { database, mfaBox, smsCodes, now } = deps;
  if (!(await findChallengeMethods(deps, user)).includes(method)) return 'incorrect';
  switch (method) {
    case 'totp': {
      const totp = await findTotp(database.db, mfaBox, user.id);
      const step = totp && findMatchingStep(totp.secret, code, now());
      if (step === undefined) return 'incorrect';
      return (await consumeTotpStep(database.db, user.id, step)) ? 'correct' : 'used';
    }
    case 'sms': {
      return smsCodes.check(user, id, code);
    }
    case 'recovery':
      return (await hasRecoveryCode(database.db, user.id, hashRecoveryCode(code))) ? 'correct' : 'incorrect';
  }
}
