import { countedAddress } from '../http/index.ts';
import type { GuessLimit } from '../metrics/index.ts';
import { type KeyValueStore, sha256 } from '../store/index.ts';

/** How many guesses of a password are let through within one window. */
export interface GuessLimits {
  windowMs: number;
  /** At one account, from devices that it does not know. */
  account: number;
  /** At one account from one device that has signed in to it before. */
  device: number;
  /** From one address (IPv6: one /64 network, as one subscriber holds). */
  address: number;
  /** From all unknown devices together. */
  overall: number;
}

export interface Guess {
  /** What was typed, normalised: counted whether or not such a member exists, so that the count tells nothing. */
  identifier: string;
  ip: string;
  /** The known device's id, when this browser has signed in to this account before. */
  device?: string | undefined;
}

export type Admission =
  /** `uncount`: it was no guess after all, because the password was right or was not looked at. */
  { admitted: true; uncount(): Promise<void> } | { admitted: false; limit: GuessLimit; retryAfterMs: number };

/** One of several limits: its name, whom it counts, how many it lets through. */
export type Counter = [limit: GuessLimit, key: string, most: number];

/**
 * Counts a try at each of these limits in turn, before it is looked at, so that parallel tries cannot slip past. One that a
 * limit refuses is counted neither there nor by the next, so that one account under attack does not fill everybody's.
 */
export async function admit(kv: KeyValueStore, windowMs: number, counters: readonly Counter[]): Promise<Admission> {
  const counted: string[] = [];
  for (const [limit, key, most] of counters) {
    const { count, expiresInMs } = await kv.increment(key, windowMs);
    if (count > most) {
      await kv.increment(key, windowMs, -1);
      return { admitted: false, limit, retryAfterMs: expiresInMs };
    }
    counted.push(key);
  }
  return {
    admitted: true,
    async uncount() {
      await Promise.all(counted.map((key) => kv.increment(key, windowMs, -1)));
    },
  };
}

/**
 * Counts a guess at a password. A known device is counted alone: whatever strangers do elsewhere, the member still signs in
 * from their own browser. Many sign-ins with the right password at once leave nothing behind.
 */
export function admitGuess(
  kv: KeyValueStore,
  limits: GuessLimits,
  { identifier, ip, device }: Guess,
): Promise<Admission> {
  const account = sha256(identifier);
  return admit(
    kv,
    limits.windowMs,
    device !== undefined
      ? [['device', `guess:device:${device}:${account}`, limits.device]]
      : [
          ['address', `guess:address:${countedAddress(ip)}`, limits.address],
          ['account', `guess:account:${account}`, limits.account],
          ['overall', 'guess:overall', limits.overall],
        ],
  );
}
