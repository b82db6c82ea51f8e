import { isIPv6 } from 'node:net';
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

/** Some proxies hand an address on with its port. */
function withoutPort(ip: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(ip)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(ip)?.[1] ?? ip;
}

/** Eight groups of an IPv6 address, in the URL parser's canonical form (RFC 5952), without a zone. */
function groupsOf(ip: string): string[] {
  const canonical = new URL(`http://[${ip.split('%')[0]}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(gap).fill('0'), ...right];
}

/** An address as it is counted: IPv4 whole (also when mapped into IPv6), IPv6 by its first 64 bits. */
export function countedAddress(address: string): string {
  const ip = withoutPort(address);
  if (!isIPv6(ip)) return ip;
  const groups = groupsOf(ip);
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') {
    const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/**
 * Counts a guess before the password is looked at, so that parallel guesses cannot slip past. A known device is counted
 * alone: whatever strangers do elsewhere, the member still signs in from their own browser. A guess that one limit
 * refuses is counted neither there nor by the next, so that one account under attack does not fill everybody's, and many
 * sign-ins with the right password at once leave nothing behind.
 */
export async function admitGuess(kv: KeyValueStore, limits: GuessLimits, guess: Guess): Promise<Admission> {
  const account = sha256(guess.identifier);
  const counters: [limit: GuessLimit, key: string][] =
    guess.device !== undefined
      ? [['device', `guess:device:${guess.device}:${account}`]]
      : [
          ['address', `guess:address:${countedAddress(guess.ip)}`],
          ['account', `guess:account:${account}`],
          ['overall', 'guess:overall'],
        ];
  const counted: string[] = [];
  for (const [limit, key] of counters) {
    const { count, expiresInMs } = await kv.increment(key, limits.windowMs);
    if (count > limits[limit]) {
      await kv.increment(key, limits.windowMs, -1);
      return { admitted: false, limit, retryAfterMs: expiresInMs };
    }
    counted.push(key);
  }
  return {
    admitted: true,
    async uncount() {
      await Promise.all(counted.map((key) => kv.increment(key, limits.windowMs, -1)));
    },
  };
}
