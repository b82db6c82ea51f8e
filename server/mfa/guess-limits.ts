import { consumeLimits, type LimitDecision, type LimitStore, type RateLimits, rateLimits } from '../http/index.ts';
import { sha256, type UserId } from '../shared/index.ts';

export type MfaLimits = Pick<RateLimits, 'mfaCodeGuess' | 'knownDeviceMfaCodeGuess' | 'recoveryCodeGuess'>;

interface CodeGuess {
  userId: UserId;
  ip: string;
  /** The known device's id, if this browser has signed in to this account before. */
  device?: string | undefined;
}

type GuessDecision = LimitDecision<'address' | 'account' | 'device' | 'overall'>;

/**
 * Counts an attempt with a six-digit code before it is checked. Known devices are counted separately, so that strangers
 * who know the password cannot lock users out of their own browsers.
 */
export function consumeMfaCodeGuess(
  kv: LimitStore,
  limits: MfaLimits,
  { userId, ip, device }: CodeGuess,
): Promise<GuessDecision> {
  return device === undefined
    ? consumeLimits(kv, limits.mfaCodeGuess, { address: ip, account: userId })
    : consumeLimits(kv, limits.knownDeviceMfaCodeGuess, { device: `${device}:${userId}`, account: userId });
}

/**
 * A recovery code has 80 bits and cannot be guessed. The limit is per network, so that an attacker cannot keep the user
 * from using a code.
 */
export function consumeRecoveryCodeGuess(
  kv: LimitStore,
  limits: MfaLimits,
  { ip }: Pick<CodeGuess, 'ip'>,
): Promise<GuessDecision> {
  return consumeLimits(kv, limits.recoveryCodeGuess, { address: ip });
}

/** Counts an attempt at a challenge. @returns the remaining attempts; undefined: it must not be checked */
export async function consumeChallengeGuess(kv: LimitStore, id: string): Promise<number | undefined> {
  const decision = await consumeLimits(kv, rateLimits.mfaChallengeGuess, { flow: sha256(id) });
  return decision.allowed ? decision.remaining : undefined;
}
