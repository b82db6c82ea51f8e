import { normaliseCode } from '../codes/index.ts';
import type { Origin } from '../messages/index.ts';
import type { GuessLimit } from '../metrics/index.ts';
import { findCurrentUser, type User } from '../users/index.ts';
import { listAuthenticators } from './authenticators.ts';
import { type ChallengeMethod, listChallengeMethods } from './challenge-methods.ts';
import type { MfaChallenge } from './challenges.ts';
import type { MfaDeps } from './deps.ts';
import { consumeChallengeGuess, consumeMfaCodeGuess, consumeRecoveryCodeGuess } from './guess-limits.ts';
import { notifyGuessing } from './notify-guessing.ts';
import { hasRecoveryCode } from './recovery-code-store.ts';
import { hashRecoveryCode, normaliseRecoveryCode } from './recovery-codes.ts';
import { findMatchingStep } from './totp.ts';
import { consumeTotpStep, findTotp } from './totp-store.ts';
import { consumeRecoveryCodeAndNotify } from './use-recovery-code.ts';

export type VerifyChallengeResult =
  /** The challenge is used up: whoever asked begins the session now. */
  | { kind: 'passed'; user: User; challenge: MfaChallenge }
  /** No whole code: nothing was looked at. */
  | { kind: 'incomplete' }
  | { kind: 'wrong' }
  /** It was right, but was used before: the app shows another one soon. */
  | { kind: 'used' }
  /** The code on the phone is replaced or too old, or was guessed at too often. */
  | { kind: 'void' }
  | { kind: 'too-many'; limit: GuessLimit; retryAfterMs: number }
  /** The challenge has ended: too old, used, guessed at too often, or the member is not the same any more. */
  | { kind: 'over' };

/** Whose challenge it is; undefined when it is void by now. */
async function findChallengeUser(
  { database }: Pick<MfaDeps, 'database'>,
  challenge: MfaChallenge,
): Promise<User | undefined> {
  const user = await findCurrentUser(database, challenge.userId);
  if (!user || user.disabledAt !== null || user.passwordEpoch !== challenge.passwordEpoch) return undefined;
  // Turned off since: then the password alone signs in, from the beginning.
  return user.mfaPreference === 'none' ? undefined : user;
}

/** The member whose challenge it is, with what they may answer it with; undefined when it is void by now. */
export async function getChallengeState(
  deps: Pick<MfaDeps, 'database' | 'smsOffered'>,
  challenge: MfaChallenge,
): Promise<{ user: User; methods: ChallengeMethod[] } | undefined> {
  const user = await findChallengeUser(deps, challenge);
  return (
    user && { user, methods: listChallengeMethods(await listAuthenticators(deps.database, user), deps.smsOffered) }
  );
}

/**
 * Checks an answer to a challenge. Counted before it is looked at: per challenge, per member over all challenges, per
 * network. The right one uses up itself and the challenge.
 */
export async function verifyChallenge(
  deps: MfaDeps,
  id: string,
  { method, typed }: { method: ChallengeMethod; typed: string },
  from: Origin & { device?: string | undefined },
): Promise<VerifyChallengeResult> {
  const { kv, limits, challenges } = deps;
  const challenge = await challenges.find(id);
  const user = challenge && (await findChallengeUser(deps, challenge));
  if (!challenge || !user) return { kind: 'over' };
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
    return { kind: 'over' };
  }
  const checked = await checkCode(deps, { user, id, method, code });
  if (checked !== 'right') return { kind: left === 0 ? 'over' : checked };
  await decision.release();
  // Of several right answers at the same moment one takes the challenge; only that one uses its recovery code up.
  if (!(await challenges.consume(id))) return { kind: 'over' };
  if (method === 'recovery' && !(await consumeRecoveryCodeAndNotify(deps, user, code, from))) return { kind: 'over' };
  return { kind: 'passed', user, challenge };
}

async function checkCode(
  deps: MfaDeps,
  { user, id, method, code }: { user: User; id: string; method: ChallengeMethod; code: string },
): Promise<'right' | 'wrong' | 'used' | 'void'> {
  const { database, mfaBox, smsCodes, smsOffered, now } = deps;
  if (!listChallengeMethods(await listAuthenticators(database, user), smsOffered).includes(method)) return 'wrong';
  switch (method) {
    case 'totp': {
      const totp = await findTotp(database.db, mfaBox, user.id);
      const step = totp && findMatchingStep(totp.secret, code, now());
      if (step === undefined) return 'wrong';
      return (await consumeTotpStep(database.db, user.id, step)) ? 'right' : 'used';
    }
    case 'sms': {
      const checked = await smsCodes.check(user, id, code);
      return checked === 'gone' ? 'void' : checked;
    }
    case 'recovery':
      return (await hasRecoveryCode(database.db, user.id, hashRecoveryCode(code))) ? 'right' : 'wrong';
  }
}
