import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { minuteMs } from '../../shared/index.ts';
import type { KeyValueStore, VisitorData } from '../../store/index.ts';
import { HttpError, toRetrySeconds } from '../errors.ts';
import { beforePosts } from '../page-routes.ts';
import { ipBuckets } from './consume.ts';
import { specialLimits } from './special-limits.ts';

/** Lifetime of a visitor's record while there is space. */
export const visitorRowMs = 60 * minuteMs;
/** Lifetime when space is short: the browser's own copy can start the request again (oidc/restart-authorization.ts). */
const shortVisitorRowMs = 10 * minuteMs;
const { window, key: shareKey, part: shareOfOne } = specialLimits.visitorShare;
/** Minimum lifetime for the weight of a record, so that a minute's burst has weight too. */
const minWeighedMs = 5 * minuteMs;
/** Records expire all the time: a minute later there may be space. */
const fullRetrySeconds = 60;

/** Reports to the operator's metrics. */
interface VisitorRefusals {
  visitorRefused(reason: 'store-full' | 'share'): void;
}

/** Data that a request is about to store; without `ttlMs` for the current lifetime, see {@link toLifetime}. */
interface ToKeep {
  bytes: number;
  ttlMs?: number;
}

export interface VisitorGate {
  /**
   * Counts the data of a visitor's request before they are stored.
   * @throws {HttpError} busy (503): the store is full, and the browser has no cookie of an earlier sign-in (records of
   * one minute are refused later); tooMany (429): this address, or one of its networks, has used its share
   */
  admit(req: IncomingMessage, address: string, stored: ToKeep): Promise<void>;
  /** The same for the data of a user's request. @returns whether it is allowed */
  admitMember(req: IncomingMessage, member: string, bytes: number): Promise<boolean>;
  /** @throws {HttpError} busy: the store is full, and this browser has no proof of an earlier sign-in */
  refuseWhenFull(req: IncomingMessage): Promise<void>;
}

const lifetimes = new WeakMap<object, number>();

/** The lifetime of this request's data, in milliseconds. */
export const toLifetime = (req: object | undefined): number => (req && lifetimes.get(req)) ?? visitorRowMs;

interface VisitorGateSettings {
  kv: KeyValueStore;
  data: VisitorData;
  /** Tests whether a user has signed in with this browser before, by a signed cookie. */
  isReturning(req: IncomingMessage): boolean;
  metrics: VisitorRefusals;
}

/**
 * Guards all data that visitors can store in the key-value store. Each address and network has a share, so that a few
 * of them cannot fill the whole. The whole has a mark, so that many of them cannot fill the store. Half way to either,
 * records live ten minutes instead of an hour. At the mark, visitors are refused unless a user has signed in with their
 * browser; a quarter above it all visitors are. Signed-in users never reach this.
 */
export function createVisitorGate({ kv, data, isReturning, metrics }: VisitorGateSettings): VisitorGate {
  const share = data.maxBytes * shareOfOne;

  function refuse(): never {
    metrics.visitorRefused('store-full');
    throw new HttpError('busy', { detail: 'storage for visitors is full', retryAfterSeconds: fullRetrySeconds });
  }
  const isOver = async () => (await data.level()) === 'over';

  async function refuseWhenFull(req: IncomingMessage): Promise<void> {
    const level = await data.level();
    if (level === 'over' || (level === 'full' && !isReturning(req))) refuse();
  }

  type Taken = { ttlMs: number } | { retryAfterMs: number };
  /** A counter, and the number of its shares. */
  type Holder = [key: string, times: number];

  /** Bytes are weighted by their lifetime: a share is the average stored size. */
  async function weigh(holders: readonly Holder[], bytes: number, ttlMs: number) {
    const weight = Math.ceil((bytes * Math.max(ttlMs, minWeighedMs)) / window);
    const add = (signed: number) =>
      Promise.all(holders.map(([key]) => kv.consumeCount(`${shareKey}:${key}`, window, signed)));
    const counts = await add(weight);
    /** Those above this part of their limit. */
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
      throw new HttpError('tooMany', { detail: 'storage limit of one network', retryAfterSeconds });
    },
    async admitMember(req, member, bytes) {
      const taken = await take([[`member:${member}`, 1]], { bytes });
      if ('ttlMs' in taken) lifetimes.set(req, taken.ttlMs);
      return 'ttlMs' in taken;
    },
  };
}

/** Forms and calls with which a visitor stores data: a sign-up, a reset, a federated sign-in. */
const visitorForms = /^\/(?:signup(?:\/.*)?|forgot-password|federation\/[^/]+|identity\/(?:signUp|forgotPassword))$/;

/** Refuses them before they are read. */
export const guardVisitorForms = ({ refuseWhenFull }: VisitorGate): RequestHandler =>
  beforePosts(visitorForms, refuseWhenFull);
