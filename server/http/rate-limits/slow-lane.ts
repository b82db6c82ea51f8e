import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyValueStore } from '../../store/index.ts';
import { specialLimits } from './special-limits.ts';

/**
 * A few visitors can fill a limit that all visitors share. While such a limit is full, requests pass slowly instead of
 * being refused.
 */
export interface SlowLane {
  /** Requests per second from networks with few attempts. All other networks together get a fifth of it. */
  perSecond: number;
  /** Called once per window, when a limit that all visitors share is reached. */
  reached(key: string): void;
}

/** A limit that all visitors share and that protects money: while it is full, it refuses and notifies the operator. */
export type FirmLimit = Pick<SlowLane, 'reached'>;

/** The lane of requests that send a mail to an address which any visitor may type. */
export const toMailLane = (lane: SlowLane): SlowLane => ({ ...lane, perSecond: lane.perSecond / 5 });

/** Browsers give up after a much longer wait. */
const laneMs = specialLimits.slowLane.window;
/** Every request waits at least this long, so that an attempt costs a machine more than a person. */
const minWaitMs = 1_000;

type Turn = { came: true } | { came: false; retryAfterMs: number };

type Counters = Pick<KeyValueStore, 'consumeCount'>;

/** Waits for a place in the lane of a limit. One operation of the store gives each place to one request, over all processes. */
export async function waitForTurn(
  kv: Counters,
  { perSecond }: SlowLane,
  { key: limitKey, isFresh }: { key: string; isFresh: boolean },
): Promise<Turn> {
  const key = `${specialLimits.slowLane.key}:${isFresh ? 'fresh' : 'used'}:${limitKey}`;
  const rate = isFresh ? perSecond : perSecond / 5;
  const places = Math.max(1, Math.floor((rate * laneMs) / 1000));
  const { count, expiresInMs } = await kv.consumeCount(key, laneMs);
  if (count > places) {
    await kv.consumeCount(key, laneMs, -1);
    return { came: false, retryAfterMs: expiresInMs };
  }
  const dueMs = ((count - 1) * laneMs) / places - (laneMs - expiresInMs);
  await sleep(Math.max(minWaitMs, dueMs));
  return { came: true };
}

/** Notifies the operator once per window that a shared limit is reached, from the first process that sees it. */
export async function reportReached(
  kv: Pick<KeyValueStore, 'setIfAbsent'>,
  { reached }: FirmLimit,
  { key, window }: { key: string; window: number },
): Promise<void> {
  if (await kv.setIfAbsent(`overall-reached:${key}`, '1', window)) reached(key);
}
