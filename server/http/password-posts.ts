/** Forms and calls that have a password hashed, which costs more than all else (docs/decisions/0030-overload.md). */
import type { IncomingMessage } from 'node:http';
import type { Load } from './direct-dispatcher.ts';
import { type Importance, shares } from './importance.ts';
import { ipBuckets } from './rate-limits/consume.ts';

const sessionPaths = /^\/(?:re-authenticate|settings\/password|identity\/changePassword)(?:\?|$)/;

/** Strangers cannot have a password hashed by these: they hash nothing without a session. */
export const needsSession = ({ url = '' }: IncomingMessage): boolean => sessionPaths.test(url);

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
export const minWaiting = 20;

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

type InProgress = Pick<Load, 'passwords' | 'passwordChanges'>;

/**
 * Counts the requests that wait, or are on their way to the queue, so that a burst is refused before each of them has
 * cost a part of a sign-in. One network counts for no more than the queue takes of it: what it sends beyond that is
 * refused there.
 */
function countRequests({ address }: PasswordLimits, getAddress: (req: IncomingMessage) => string) {
  const networks = new WeakMap<IncomingMessage, ReturnType<typeof ipBuckets>>();
  const findNetworks = (req: IncomingMessage) => {
    const found = networks.get(req) ?? ipBuckets(getAddress(req));
    networks.set(req, found);
    return found;
  };
  let counted = { changes: -1, total: 0 };
  return ({ passwords, passwordChanges: changes }: InProgress): number => {
    // Most requests of a flood are refused, which changes nothing.
    if (counted.changes === changes) return counted.total;
    const held = new Map<string, number>();
    let total = 0;
    for (const req of passwords) {
      const found = findNetworks(req);
      if (found.some(({ bucket, factor }) => (held.get(bucket) ?? 0) >= address * factor)) continue;
      for (const { bucket } of found) held.set(bucket, (held.get(bucket) ?? 0) + 1);
      total += 1;
    }
    counted = { changes, total };
    return total;
  };
}

interface PasswordQueueWatch {
  measure(requests: InProgress): PasswordLoad;
  isFull(importance: Importance, load: PasswordLoad): boolean;
}

/** The queue of passwords, with what is on its way there. */
export function watchPasswordQueue(
  { limits, state }: PasswordQueueSettings,
  getAddress: (req: IncomingMessage) => string,
): PasswordQueueWatch {
  const count = countRequests(limits, getAddress);
  return {
    measure(requests) {
      const { running, waiting, turnMs } = state();
      const all = Math.max(waiting, count(requests) - running);
      return { waiting: all, waitMs: Math.round(all * turnMs) };
    },
    isFull: (importance, load) => isQueueFull(importance, load, limits),
  };
}
