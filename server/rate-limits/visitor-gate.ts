import type { IncomingMessage } from 'node:http';
import { HttpError, toRetrySeconds } from '../http/index.ts';
import { minuteMs } from '../shared/index.ts';
import type { KeyValueStore, VisitorData } from '../store/index.ts';
import { ipBuckets } from './ip-bucket.ts';
import { specialLimits } from './special-limits.ts';

/** So long a row of a visitor lives while there is room. */
export const visitorRowMs = 60 * minuteMs;
/** And so long when there is little: the browser's own copy begins a request again (oidc/restart-authorization.ts). */
const shortVisitorRowMs = 10 * minuteMs;
const { window, key: shareKey, part: shareOfOne } = specialLimits.visitorShare;
/** Data that live for a shorter time weigh as if they lived so long: a minute's burst must not weigh next to nothing. */
const minWeighedMs = 5 * minuteMs;
/** Rows expire all the time: a minute later there may be room. */
const fullRetrySeconds = 60;

/** Reports to the operator's metrics. */
export interface VisitorRefusals {
  visitorRefused(reason: 'store-full' | 'share'): void;
}

/** Data that a request is about to have kept; without `ttlMs` as long as there is room for, see {@link toLifetime}. */
export interface ToKeep {
  bytes: number;
  ttlMs?: number;
}

export interface VisitorGate {
  /**
   * Counts what a visitor's request is about to have kept, before it is kept.
   * @throws {HttpError} busy (503): the store is full, and the browser has no cookie of an earlier sign-in (what lives for a
   * minute alone is refused later); tooMany (429): this address, or a network of it, has had its share
   */
  admit(req: IncomingMessage, address: string, stored: ToKeep): Promise<void>;
  /** The same for what a member's request has kept. @returns whether it is admitted */
  admitMember(req: IncomingMessage, member: string, bytes: number): Promise<boolean>;
  /** @throws {HttpError} busy: the store is full, and nothing shows that this browser belongs to a member */
  refuseWhenFull(req: IncomingMessage): Promise<void>;
}

const lifetimes = new WeakMap<object, number>();

/** For how long what this request has kept may live, in milliseconds. */
export const toLifetime = (req: object | undefined): number => (req && lifetimes.get(req)) ?? visitorRowMs;

export interface VisitorGateSettings {
  kv: KeyValueStore;
  data: VisitorData;
  /** Whether a member has signed in with this browser before, by a signed cookie. */
  isReturning(req: IncomingMessage): boolean;
  metrics: VisitorRefusals;
}

/**
 * Stands before everything that a visitor can have kept in the key-value store. Each address and network has a share, so that a few
 * of them cannot fill the whole; and the whole has a mark, so that many of them cannot fill the store. Half way to either,
 * rows live ten minutes rather than an hour. At the mark visitors are refused whose browser no member has signed in with;
 * a quarter above it all visitors are. Members who are signed in never come here.
 */
export function createVisitorGate({ kv, data, isReturning, metrics }: VisitorGateSettings): VisitorGate {
  const share = data.maxBytes * shareOfOne;

  function refuse(): never {
    metrics.visitorRefused('store-full');
    throw new HttpError('busy', { detail: 'too much is kept for visitors', retryAfterSeconds: fullRetrySeconds });
  }
  const isOver = async () => (await data.level()) === 'over';

  async function refuseWhenFull(req: IncomingMessage): Promise<void> {
    const level = await data.level();
    if (level === 'over' || (level === 'full' && !isReturning(req))) refuse();
  }

  type Taken = { ttlMs: number } | { retryAfterMs: number };
  /** A counter, and how many shares it has. */
  type Holder = [key: string, times: number];

  /** Bytes weigh by the time for which they are kept: a share is what may lie there at once, on average. */
  async function weigh(holders: readonly Holder[], bytes: number, ttlMs: number) {
    const weight = Math.ceil((bytes * Math.max(ttlMs, minWeighedMs)) / window);
    const add = (signed: number) =>
      Promise.all(holders.map(([key]) => kv.consumeCount(`${shareKey}:${key}`, window, signed)));
    const counts = await add(weight);
    /** Those that hold more than this part of what they may. */
    const over = (part: number) => counts.filter(({ count }, at) => count > share * part * (holders[at]?.[1] ?? 1));
    return { over, takeBack: () => add(-weight) };
  }

  async function take(holders: readonly Holder[], { bytes, ttlMs }: ToKeep): Promise<Taken> {
    if (ttlMs === undefined) {
      const [level, long] = await Promise.all([data.level(), weigh(holders, bytes, visitorRowMs)]);
      if (level === 'normal' && long.over(1 / 2).length === 0) return { ttlMs: visitorRowMs };
      await long.takeBack();
    }
    const short = await weigh(holders, bytes, ttlMs ?? shortVisitorRowMs);
    const over = short.over(1);
    if (over.length === 0) return { ttlMs: ttlMs ?? shortVisitorRowMs };
    await short.takeBack();
    return { retryAfterMs: Math.max(...over.map(({ expiresInMs }) => expiresInMs)) };
  }

  return {
    refuseWhenFull,
    async admit(req, address, stored) {
      if (stored.ttlMs === undefined) await refuseWhenFull(req);
      else if (await isOver()) refuse();
      const holders = ipBuckets(address).map(({ bucket, factor }): Holder => [bucket, factor]);
      const taken = await take(holders, stored);
      if ('ttlMs' in taken) return void lifetimes.set(req, taken.ttlMs);
      metrics.visitorRefused('share');
      const retryAfterSeconds = toRetrySeconds(taken.retryAfterMs);
      throw new HttpError('tooMany', { detail: 'what is kept for one network', retryAfterSeconds });
    },
    async admitMember(req, member, bytes) {
      const taken = await take([[`member:${member}`, 1]], { bytes });
      if ('ttlMs' in taken) lifetimes.set(req, taken.ttlMs);
      return 'ttlMs' in taken;
    },
  };
}
