import type { IncomingMessage } from 'node:http';
import type { KeyValueStore, VisitorData } from '../store/index.ts';
import { countedAddress } from './counted-address.ts';
import { HttpError } from './errors.ts';

const minuteMs = 60_000;
/** So long a row of a visitor lives while there is room. */
export const visitorRowMs = 60 * minuteMs;
/** And so long when there is little: the browser's own copy begins a request again (oauth/begin-again.ts). */
export const shortVisitorRowMs = 10 * minuteMs;
const windowMs = 10 * minuteMs;
/** Rows expire all the time: a minute later there may be room. */
const fullRetrySeconds = 60;
/** One address, or one member, may fill this part of the whole. */
const shareOfOne = 1 / 20;

/** Reports to the operator's metrics. */
export interface VisitorRefusals {
  visitorRefused(reason: 'store-full' | 'share'): void;
}

export interface VisitorGate {
  /**
   * Counts what a visitor's request is about to have kept, before it is kept.
   * @returns for how long a row of this request may live, as {@link lifetimeOf} says later
   * @throws {HttpError} busy (503): the store is full, and the browser has no cookie of an earlier sign-in; tooMany (429):
   * this address has had its share
   */
  admit(req: IncomingMessage, address: string, bytes: number): Promise<number>;
  /** The same for what a member's request has kept. @returns undefined: it is refused */
  admitMember(req: IncomingMessage, member: string, bytes: number): Promise<number | undefined>;
  /** @throws {HttpError} busy: the store is full, and nothing shows that this browser belongs to a member */
  refuseWhenFull(req: IncomingMessage): Promise<void>;
}

const lifetimes = new WeakMap<object, number>();

/** For how long what this request has kept may live, in milliseconds. */
export const lifetimeOf = (req: object | undefined): number => (req && lifetimes.get(req)) ?? visitorRowMs;

export interface VisitorGateSettings {
  kv: KeyValueStore;
  data: VisitorData;
  /** Whether a member has signed in with this browser before, by a signed cookie. */
  isReturning(req: IncomingMessage): boolean;
  metrics: VisitorRefusals;
}

/**
 * Stands before everything that a visitor can have kept in the key-value store. Each address has a share, so that a few
 * of them cannot fill the whole; and the whole has a mark, so that many of them cannot fill the store. Half way to either,
 * rows live ten minutes rather than an hour. At the mark visitors are refused whose browser no member has signed in with;
 * a quarter above it all visitors are. Members who are signed in never come here.
 */
export function createVisitorGate({ kv, data, isReturning, metrics }: VisitorGateSettings): VisitorGate {
  const share = data.maxBytes * shareOfOne;

  async function refuseWhenFull(req: IncomingMessage): Promise<void> {
    const level = await data.level();
    if (level !== 'over' && (level !== 'full' || isReturning(req))) return;
    metrics.visitorRefused('store-full');
    throw new HttpError('busy', { detail: 'too much is kept for visitors', retryAfterSeconds: fullRetrySeconds });
  }

  /** Bytes weigh by the time for which they are kept: a share is what may lie there at once, on average. */
  async function take(req: object, whose: string, bytes: number) {
    const key = `visitor-share:${whose}`;
    const weightOf = (ttlMs: number) => Math.ceil((bytes * ttlMs) / windowMs);
    const [level, long] = await Promise.all([data.level(), kv.increment(key, windowMs, weightOf(visitorRowMs))]);
    if (level === 'normal' && long.count <= share / 2) return { ttlMs: visitorRowMs };
    const less = weightOf(shortVisitorRowMs) - weightOf(visitorRowMs);
    const short = await kv.increment(key, windowMs, less);
    if (short.count > share) {
      await kv.increment(key, windowMs, -weightOf(shortVisitorRowMs));
      return { retryAfterMs: short.expiresInMs };
    }
    lifetimes.set(req, shortVisitorRowMs);
    return { ttlMs: shortVisitorRowMs };
  }

  return {
    refuseWhenFull,
    async admit(req, address, bytes) {
      await refuseWhenFull(req);
      const taken = await take(req, countedAddress(address), bytes);
      if (taken.ttlMs !== undefined) return taken.ttlMs;
      metrics.visitorRefused('share');
      const retryAfterSeconds = Math.max(1, Math.ceil(taken.retryAfterMs / 1000));
      throw new HttpError('tooMany', { detail: 'what is kept for one address', retryAfterSeconds });
    },
    async admitMember(req, member, bytes) {
      const taken = await take(req, `member:${member}`, bytes);
      return taken.ttlMs;
    },
  };
}
