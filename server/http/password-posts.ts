/** Forms and calls that have a password hashed, which costs more than all else (docs/decisions/0030-overload.md). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Importance, shares } from './importance.ts';
import { ipBuckets } from './rate-limits/consume.ts';
import { createRequestCounter } from './request-counter.ts';

/** Those of all visitors, and those that hash nothing without a session. */
const paths = {
  anyone:
    /^\/(?:sign-in|signup(?:\/plan\/[^/?]+)?|reset-password|undo-email-change|identity\/(?:signUp|forgotPasswordSubmit))(?:\?|$)/,
  session: /^\/(?:re-authenticate|settings\/password|identity\/changePassword)(?:\?|$)/,
};

export function findPasswordPost({ url = '' }: IncomingMessage): keyof typeof paths | undefined {
  if (paths.anyone.test(url)) return 'anyone';
  return paths.session.test(url) ? 'session' : undefined;
}

/** The queue of passwords. */
interface PasswordQueueState {
  running: number;
  waiting: number;
  /** The time after which the next one leaves the queue. */
  turnMs: number;
}

interface PasswordLimits {
  waiting: number;
  waitMs: number;
  /** Passwords of one address that may wait or run; wider networks have more, as `ipBuckets` defines. */
  address: number;
}

export interface PasswordQueueSettings {
  limits: PasswordLimits;
  state(): PasswordQueueState;
}

/** Passwords that wait, and how long one more would wait. */
interface PasswordLoad {
  waiting: number;
  waitMs: number;
}

/** Fewer are no overload by their wait: a single slow check would look like one. */
const minWaiting = 20;

/** The rule: no further password is taken at this load. */
function isQueueFull(
  importance: Importance,
  load: PasswordLoad,
  limits: Pick<PasswordLimits, 'waiting' | 'waitMs'>,
): boolean {
  const { requests: places, turns } = shares[importance];
  if (load.waiting >= limits.waiting * places) return true;
  return load.waiting >= minWaiting && load.waitMs >= (limits.waitMs * turns) / shares.begun.turns;
}

/**
 * Counts the requests that are on their way to the queue, so that a burst is refused before each of them has cost a
 * part of a sign-in. One network counts for no more than the queue takes of it: what it sends beyond is refused behind.
 */
function countRequests({ address }: PasswordLimits, getAddress: (req: IncomingMessage) => string) {
  const held = new Map<string, number>();
  const counted = new WeakMap<IncomingMessage, string[]>();
  let total = 0;
  const add = (buckets: readonly string[], by: 1 | -1) => {
    total += by;
    for (const bucket of buckets) {
      const count = (held.get(bucket) ?? 0) + by;
      if (count === 0) held.delete(bucket);
      else held.set(bucket, count);
    }
  };
  const counter = createRequestCounter((by, req) => {
    if (by === -1) {
      const buckets = counted.get(req);
      counted.delete(req);
      if (buckets) add(buckets, -1);
      return;
    }
    const networks = ipBuckets(getAddress(req));
    if (networks.some(({ bucket, factor }) => (held.get(bucket) ?? 0) >= address * factor)) return;
    const buckets = networks.map(({ bucket }) => bucket);
    counted.set(req, buckets);
    add(buckets, 1);
  });
  return { ...counter, total: () => total };
}

/** The queue of passwords, with what is on its way there. */
export function watchPasswordQueue(
  { limits, state }: PasswordQueueSettings,
  getAddress: (req: IncomingMessage) => string,
): {
  load(): PasswordLoad;
  isFull(importance: Importance): boolean;
  count(req: IncomingMessage, res: ServerResponse): void;
} {
  const requests = countRequests(limits, getAddress);
  const load = () => {
    const { running, waiting, turnMs } = state();
    const all = Math.max(waiting, requests.total() - running);
    return { waiting: all, waitMs: Math.round(all * turnMs) };
  };
  return {
    load,
    isFull(importance) {
      requests.pauseSlow(performance.now());
      return isQueueFull(importance, load(), limits);
    },
    count: requests.count,
  };
}
