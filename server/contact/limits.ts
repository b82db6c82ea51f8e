import { consumeLimits, type LimitDecision, type LimitStore, rateLimits } from '../rate-limits/index.ts';
import type { UserId } from '../shared/index.ts';

interface Asking {
  userId: UserId;
  ip: string;
}

/**
 * Counts another code to a new mail address, beside what `codes` counts per address: a member's account is no way to fill
 * strangers' mailboxes. Counted before anything is looked at, so that the count tells nothing of whose address it is.
 */
export function consumeContactCode(kv: LimitStore, { userId, ip }: Asking): Promise<LimitDecision> {
  return consumeLimits(kv, rateLimits.emailChangeCode, { account: userId, address: ip });
}

/** Counts a guess at a code: whoever asks for codes to many addresses, and guesses at each, needs only one of them. */
export function consumeContactGuess(
  kv: LimitStore,
  kind: 'email' | 'phone',
  { userId, ip }: Asking,
): Promise<LimitDecision> {
  const limit = kind === 'email' ? rateLimits.emailChangeGuess : rateLimits.phoneChangeGuess;
  return consumeLimits(kv, limit, { account: userId, address: ip });
}
