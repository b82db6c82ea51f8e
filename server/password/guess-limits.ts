import { createHmac } from 'node:crypto';
import type { User } from '../account/index.ts';
import { countedNetworks } from '../http/index.ts';
import type { GuessLimit } from '../metrics/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import { type FirmLimit, noteReached, type SlowLane, waitInLane } from './slow-lane.ts';

/** How many guesses of a password are let through within one window. */
export interface GuessLimits {
  windowMs: number;
  /** At one account, from devices that it does not know. */
  account: number;
  /** At one account from one device that has signed in to it before. */
  device: number;
  /** From one address (IPv6: one /64 network, as one subscriber holds); wider networks have more, as `countedNetworks` says. */
  address: number;
  /** From all unknown devices together; more are slowed down. */
  overall: number;
  slow: SlowLane;
  /** Right passwords within an hour: a sign-in costs a hash whether or not its password is right. */
  checks: {
    /** Of one account from one device that has signed in to it before. */
    device: number;
    /** Of one account from all devices. */
    account: number;
  };
  /** Of the HMAC under which accounts are counted: addresses and numbers could be found from any plain hash. */
  key: Buffer;
}

export interface Guess {
  /** What was typed, normalised: counted whether or not such a member exists, so that the count tells nothing. */
  identifier: string;
  ip: string;
  /** The known device's id, when this browser has signed in to this account before. */
  device?: string | undefined;
}

export type Admission =
  /**
   * `slowed`: an overall limit is full, and this one has waited for its turn. `uncount`: it was no guess after all, because the
   * password was right or was not looked at.
   */
  | { admitted: true; slowed: boolean; uncount(): Promise<void> }
  | { admitted: false; limit: GuessLimit; retryAfterMs: number };

/** One of several limits: its name, whom it counts, how many it lets through; of an overall one what happens when it is full. */
export type Counter = [limit: GuessLimit, key: string, most: number, whenFull?: SlowLane | FirmLimit];

/** One limit by address: each of the networks that the address is in has its own. */
export const byNetwork = (key: string, ip: string, most: number): Counter[] =>
  countedNetworks(ip).map(({ network, times }) => ['address', `${key}:${network}`, most * times]);

/** A network that has tried no more often in this window is not the one that has filled an overall limit. */
const hardlyTried = 3;

/**
 * Counts a try at each of these limits in turn, before it is looked at, so that parallel tries cannot slip past. One that a
 * limit refuses is counted neither there nor by the next, so that one account under attack does not fill everybody's.
 */
export async function admit(kv: KeyValueStore, windowMs: number, counters: readonly Counter[]): Promise<Admission> {
  const counted: string[] = [];
  const uncount = async () => {
    await Promise.all(counted.map((key) => kv.increment(key, windowMs, -1)));
  };
  let [slowed, ofNetwork] = [false, 0];
  for (const [limit, key, most, whenFull] of counters) {
    const { count, expiresInMs } = await kv.increment(key, windowMs);
    // The widest comes last.
    if (limit === 'address') ofNetwork = count;
    if (count <= most) {
      counted.push(key);
      continue;
    }
    await kv.increment(key, windowMs, -1);
    if (whenFull) await noteReached(kv, whenFull, { limit: key, windowMs });
    if (!whenFull || !('perSecond' in whenFull)) return { admitted: false, limit, retryAfterMs: expiresInMs };
    const turn = await waitInLane(kv, whenFull, { limit: key, isFresh: ofNetwork <= hardlyTried });
    if (!turn.came) {
      // Nothing was looked at: those who try again later are not refused for it.
      await uncount();
      return { admitted: false, limit, retryAfterMs: turn.retryAfterMs };
    }
    slowed = true;
  }
  return { admitted: true, slowed, uncount };
}

const digestOf = ({ key }: GuessLimits, account: string): string =>
  createHmac('sha256', key).update(account).digest('base64url').slice(0, 32);

const accountKey = (limits: GuessLimits, account: string) => `guess:account:${digestOf(limits, account)}`;

/**
 * Counts a guess at a password. A known device is counted alone: whatever strangers do elsewhere, the member still signs in
 * from their own browser. Many sign-ins with the right password at once leave nothing behind.
 */
export function admitGuess(
  kv: KeyValueStore,
  limits: GuessLimits,
  { identifier, ip, device }: Guess,
): Promise<Admission> {
  return admit(
    kv,
    limits.windowMs,
    device !== undefined
      ? [['device', `guess:device:${device}:${digestOf(limits, identifier)}`, limits.device]]
      : [
          ...byNetwork('guess:address', ip, limits.address),
          ['account', accountKey(limits, identifier), limits.account],
          ['overall', 'guess:overall', limits.overall, limits.slow],
        ],
  );
}

const checksKey = (limits: GuessLimits, account: string) => `checks:account:${digestOf(limits, account)}`;

/**
 * Deletes the counts of guesses and of right passwords of a member: they have proved their mailbox and have a new password,
 * which nobody has tried yet. The right passwords before it may have been those of a thief.
 */
export async function forgetGuesses(
  kv: KeyValueStore,
  limits: GuessLimits,
  { id, email, phone }: Pick<User, 'id' | 'email' | 'phone'>,
): Promise<void> {
  const guesses = [email, ...(phone === null ? [] : [phone])].map((account) => accountKey(limits, account));
  await kv.delete(...guesses, checksKey(limits, id));
}

const hourMs = 60 * 60_000;

/**
 * Counts a check of a password as work, before it is done; a wrong one is counted as a guess alone. Nobody but those who
 * know the password fill these counters, so they tell a stranger nothing.
 */
export function admitCheck(
  kv: KeyValueStore,
  limits: GuessLimits,
  { identifier, userId, device }: Guess & { userId?: string | undefined },
): Promise<Admission> {
  const { checks } = limits;
  const account = userId ?? identifier;
  const ofDevice = `checks:device:${device}:${digestOf(limits, account)}`;
  return admit(kv, hourMs, [
    ...(device === undefined ? [] : [['device', ofDevice, checks.device] satisfies Counter]),
    ['account', checksKey(limits, account), checks.account],
  ]);
}
