import { consumeLimits, type LimitStore } from '../rate-limits/index.ts';
import type { GuessDecision, GuessLimits } from './guess-limits.ts';

/**
 * Counts a request for a code, or an attempt with one, in addition to the limits of `codes` per flow and account. A
 * known device is counted separately, as at the sign-in.
 */
export function consumeResetLimit(
  { kv, limits }: { kv: LimitStore; limits: GuessLimits },
  what: 'ask' | 'guess',
  { ip, device }: { ip: string; device?: string | undefined },
): Promise<GuessDecision> {
  if (device !== undefined) {
    return consumeLimits(kv, what === 'ask' ? limits.knownDeviceResetCode : limits.knownDeviceResetCodeGuess, {
      device,
    });
  }
  return consumeLimits(kv, what === 'ask' ? limits.resetCode : limits.resetCodeGuess, { address: ip });
}
