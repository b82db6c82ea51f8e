import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyValueStore } from '../store/index.ts';

/** A limit over all visitors together can be filled by a few: while it is full, it slows strangers down instead of refusing them. */
export interface SlowLane {
  /** How many go on in a second, of those whose network has hardly tried; a fifth of it are all others. */
  perSecond: number;
  /** Is told once a window that an overall limit is reached. */
  reached(limit: string): void;
}

/** A lane whose every place sends a mail to an address that anybody may type. */
export const ofMails = (lane: SlowLane): SlowLane => ({ ...lane, perSecond: lane.perSecond / 5 });

/** An overall limit that protects money: while it is full, it refuses, and says so to the operator. */
export type FirmLimit = Pick<SlowLane, 'reached'>;

/** More would wait longer than a browser does. */
const laneMs = 10_000;
/** Everybody waits this long, so that a try costs a machine more than it costs the member. */
const leastWaitMs = 1_000;

export type Turn = { came: true } | { came: false; retryAfterMs: number };

/** Waits for a place in the lane of a limit; one operation of the store gives each place to one request, over all processes. */
export async function waitInLane(
  kv: KeyValueStore,
  { perSecond }: SlowLane,
  { limit, isFresh }: { limit: string; isFresh: boolean },
): Promise<Turn> {
  const key = `lane:${isFresh ? 'fresh' : 'used'}:${limit}`;
  const rate = isFresh ? perSecond : perSecond / 5;
  const places = Math.max(1, Math.floor((rate * laneMs) / 1000));
  const { count, expiresInMs } = await kv.increment(key, laneMs);
  if (count > places) {
    await kv.increment(key, laneMs, -1);
    return { came: false, retryAfterMs: expiresInMs };
  }
  const dueMs = ((count - 1) * laneMs) / places - (laneMs - expiresInMs);
  await sleep(Math.max(leastWaitMs, dueMs));
  return { came: true };
}

/** Tells the operator once a window that an overall limit is reached, whichever process sees it first. */
export async function noteReached(
  kv: KeyValueStore,
  { reached }: FirmLimit,
  { limit, windowMs }: { limit: string; windowMs: number },
): Promise<void> {
  if (await kv.setIfAbsent(`overall-reached:${limit}`, '1', windowMs)) reached(limit);
}
