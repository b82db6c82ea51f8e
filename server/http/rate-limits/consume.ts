import { isIPv4, isIPv6 } from 'node:net';
import type { KeyValueStore } from '../../store/index.ts';
import type { Scope } from './definition.ts';
import { type FirmLimit, reportReached, type SlowLane, waitForTurn } from './slow-lane.ts';

/** One counter of a limit, with the numbers of the configuration. */
export interface LimitCounter<By extends Scope = Scope> {
  /** Each value of this scope is counted separately. */
  by: By;
  /** Prefix of its key in the key-value store. */
  key: string;
  max: number;
  /** In milliseconds; without it the window of the limit. */
  window?: number | undefined;
  /** For counters for all visitors: when full, let requests pass slowly or only notify the operator. */
  whenFull?: SlowLane | FirmLimit | undefined;
}

export interface Limit<By extends Scope = Scope> {
  /** In milliseconds. */
  window: number;
  /** A request is counted at each of them in turn. */
  counters: readonly LimitCounter<By>[];
}

/** The value for each scope: for `address` the IP address of the request. */
export type LimitKeys<By extends Scope> = Record<Exclude<By, 'overall'>, string>;

export type LimitDecision<By extends Scope = Scope> =
  /**
   * `slowed`: a shared limit is full, and this attempt has waited for its turn. `remaining`: attempts left before the
   * first counter is full. `release`: the attempt does not count after all, because it was right or was not checked.
   */
  { allowed: true; slowed: boolean; remaining: number; release(): Promise<void> } | LimitRefusal<By>;

export interface LimitRefusal<By extends Scope = Scope> {
  allowed: false;
  /** The scope of the counter that is full. */
  limit: By;
  retryAfterMs: number;
}

export type LimitStore = Pick<KeyValueStore, 'consumeCount' | 'setIfAbsent'>;

/** A counter of one value: the key is complete. */
type CounterOfValue<By extends Scope = Scope> = LimitCounter<By> & { window: number };

/** The key of one value's counter. */
export const toCounterKey = ({ key }: Pick<LimitCounter, 'key'>, value: string): string => `${key}:${value}`;

function expand<By extends Scope>(limit: Limit<By>, keys: LimitKeys<By>): CounterOfValue<By>[] {
  const values: Partial<Record<Scope, string>> = keys;
  return limit.counters.flatMap((counter) => {
    const ofLimit = { ...counter, window: counter.window ?? limit.window };
    if (counter.by === 'overall') return [ofLimit];
    const value = values[counter.by] ?? '';
    if (counter.by !== 'address') return [{ ...ofLimit, key: toCounterKey(counter, value) }];
    return ipBuckets(value).map(({ bucket, factor }) => ({
      ...ofLimit,
      key: toCounterKey(counter, bucket),
      max: counter.max * factor,
    }));
  });
}

/** A network with at most this many attempts in this window has not filled a shared limit. */
const maxFreshTries = 3;

/**
 * Counts an attempt at each counter of a limit, before it is checked, so that parallel attempts cannot exceed it. An
 * attempt that one counter refuses is counted by none: an account under attack fills neither the limit of its network
 * nor the shared one.
 */
export const consumeLimits = <By extends Scope>(
  kv: LimitStore,
  limit: Limit<By>,
  keys: LimitKeys<By>,
): Promise<LimitDecision<By>> => consumeCounters(kv, expand(limit, keys));

/** The same for counters whose keys are complete. */
export async function consumeCounters<By extends Scope>(
  kv: LimitStore,
  counters: readonly CounterOfValue<By>[],
): Promise<LimitDecision<By>> {
  const counted: CounterOfValue<By>[] = [];
  const release = async () => {
    await Promise.all(counted.splice(0).map(({ key, window }) => kv.consumeCount(key, window, -1)));
  };
  let [slowed, triesOfNetwork, remaining] = [false, 0, Number.POSITIVE_INFINITY];
  for (const counter of counters) {
    const { by, key, max, window, whenFull } = counter;
    const { count, expiresInMs } = await kv.consumeCount(key, window);
    // The widest network comes last.
    if (by === 'address') triesOfNetwork = count;
    if (count <= max) {
      counted.push(counter);
      remaining = Math.min(remaining, max - count);
      continue;
    }
    await kv.consumeCount(key, window, -1);
    if (whenFull) await reportReached(kv, whenFull, { key, window });
    let retryAfterMs = expiresInMs;
    if (whenFull && 'perSecond' in whenFull) {
      const turn = await waitForTurn(kv, whenFull, { key, isFresh: triesOfNetwork <= maxFreshTries });
      if (turn.came) {
        slowed = true;
        continue;
      }
      retryAfterMs = turn.retryAfterMs;
    }
    await release();
    return { allowed: false, limit: by, retryAfterMs };
  }
  return { allowed: true, slowed, remaining, release };
}

/** Some proxies send an address together with its port. */
function stripPort(ip: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(ip)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(ip)?.[1] ?? ip;
}

/** The eight groups of an IPv6 address, in the canonical form of the URL parser (RFC 5952), without a zone. */
function ipv6Groups(ip: string): string[] {
  const canonical = new URL(`http://[${ip.split('%')[0]}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(gap).fill('0'), ...right];
}

/** An IPv4 address as text, also when it is mapped into IPv6; an IPv6 address as its eight groups. */
function parse(address: string): string | string[] {
  const ip = stripPort(address);
  if (!isIPv6(ip)) return ip;
  const groups = ipv6Groups(ip);
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return groups;
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The bucket in which an address is counted: the whole IPv4 address (also when mapped into IPv6), or the IPv6 /64 network. */
export function ipBucket(address: string): string {
  const ip = parse(address);
  return typeof ip === 'string' ? ip : `${ip.slice(0, 4).join(':')}::/64`;
}

interface NetworkBucket {
  bucket: string;
  /** The maximum of this bucket is that of one address times this factor. */
  factor: number;
}

/**
 * All buckets in which an address is counted, the narrowest first. One IPv6 subscriber may hold a /56 or a /48, and one IPv4
 * subscriber a /24. Each of these networks has its own maximum, because addresses within them cost nothing.
 */
export function ipBuckets(address: string): [NetworkBucket, ...NetworkBucket[]] {
  const ip = parse(address);
  const narrowest: NetworkBucket = { bucket: ipBucket(address), factor: 1 };
  if (typeof ip !== 'string') {
    const [a = '0', b = '0', c = '0', d = '0'] = ip;
    const subnet = (Number.parseInt(d, 16) & 0xff00).toString(16);
    return [
      narrowest,
      { bucket: `${a}:${b}:${c}:${subnet}::/56`, factor: 3 },
      { bucket: `${a}:${b}:${c}::/48`, factor: 6 },
    ];
  }
  // The loopback network is this machine alone.
  if (!isIPv4(ip) || ip.startsWith('127.')) return [narrowest];
  return [narrowest, { bucket: `${ip.split('.').slice(0, 3).join('.')}.0/24`, factor: 3 }];
}
