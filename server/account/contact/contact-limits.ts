import { consumeLimits, type LimitDecision, type LimitStore, rateLimits } from '../../http/index.ts';
import type { UserId } from '../../shared/index.ts';

interface Asking {
  userId: UserId;
  ip: string;
}

/**
 * Counts another code to a new mail address, in addition to the limits of `codes` per address, so that an account
 * cannot flood strangers' mailboxes. Counted before any look-up, so that the count reveals nothing about the address.
 */
export function consumeContactCode(kv: LimitStore, { userId, ip }: Asking): Promise<LimitDecision> {
  return consumeLimits(kv, rateLimits.emailChangeCode, { account: userId, address: ip });
}

/**
 * Counts an attempt with a code: an attacker who requests codes for many addresses, and guesses at each, needs only one
 * of them.
 */
export function consumeContactGuess(
  kv: LimitStore,
  kind: 'email' | 'phone',
  { userId, ip }: Asking,
): Promise<LimitDecision> {
  const limit = kind === 'email' ? rateLimits.emailChangeGuess : rateLimits.phoneChangeGuess;
  return consumeLimits(kv, limit, { account: userId, address: ip });
}
