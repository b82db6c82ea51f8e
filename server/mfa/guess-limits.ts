import {
  consumeLimits,
  type LimitDecision,
  type LimitStore,
  type RateLimits,
  rateLimits,
} from '../rate-limits/index.ts';
import { sha256 } from '../shared/index.ts';

export type MfaLimits = Pick<RateLimits, 'mfaCodeGuess' | 'knownDeviceMfaCodeGuess' | 'recoveryCodeGuess'>;

export interface CodeGuess {
  userId: string;
  ip: string;
  /** The known device's id, when this browser has signed in to this account before. */
  device?: string | undefined;
}

type GuessDecision = LimitDecision<'address' | 'account' | 'device' | 'overall'>;

/**
 * Counts a guess at a code of six digits, before it is looked at. Known devices are counted apart, so that strangers who have
 * the password lock nobody out of their own browser.
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

/** A recovery code has 80 bits: nobody guesses one, and whoever tries must not keep the member from using theirs. */
export function consumeRecoveryCodeGuess(
  kv: LimitStore,
  limits: MfaLimits,
  { ip }: Pick<CodeGuess, 'ip'>,
): Promise<GuessDecision> {
  return consumeLimits(kv, limits.recoveryCodeGuess, { address: ip });
}

/** Counts a guess at a challenge. @returns how many are left after it; undefined: it must not be looked at */
export async function consumeChallengeGuess(kv: LimitStore, id: string): Promise<number | undefined> {
  const decision = await consumeLimits(kv, rateLimits.mfaChallengeGuess, { flow: sha256(id) });
  return decision.allowed ? decision.remaining : undefined;
}
