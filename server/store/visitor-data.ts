import { minuteMs } from '../shared/index.ts';
import type { KeyValueStore } from './key-value.ts';

/**
 * The kinds of records that a visitor can add without signing in, by the prefix of their keys. Records that live longer
 * than {@link horizonMs} are not counted: limits for each address bound those (sessions, sign-ups).
 */
const countedKinds: ReadonlySet<string> = new Set([
  'oidc:Interaction',
  'oidc:PushedAuthorizationRequest',
  'oidc:DeviceCode',
  'oidc:user-code',
  'oidc:Session',
  'oidc:uid',
  'oidc:ReplayDetection',
  'authorization-request',
  'posted-fields',
  'federation-attempt',
  'federation-leaving',
  'federation-ticket',
  'reset-flow',
  'code:confirm-email',
  'code:reset-password',
]);

const bucketMs = 5 * minuteMs;
const horizonMs = 2 * 60 * minuteMs;
/** A record's share of indexes and pages, besides its key and value. */
const rowBytes = 100;
/** One reading of the counters serves all requests of this time. */
const readEveryMs = 1_000;

/** How much of the configured size the records use; each level has stricter rules than the one before. */
type VisitorDataLevel = 'normal' | 'high' | 'full' | 'over';

export interface VisitorData {
  /** The store, which counts these records as they are written. */
  kv: KeyValueStore;
  readonly maxBytes: number;
  /** The approximate bytes of all live records. */
  bytes(): Promise<number>;
  level(): Promise<VisitorDataLevel>;
}

const isCounted = (key: string, ttlMs: number) =>
  ttlMs <= horizonMs && countedKinds.has(key.slice(0, key.lastIndexOf(':')));

const bucketKey = (bucket: number) => `visitor-data:${bucket}`;

/** The buckets that contain records which are live at `nowMs`. */
function liveBuckets(nowMs: number): number[] {
  const first = Math.floor(nowMs / bucketMs);
  return Array.from({ length: horizonMs / bucketMs + 1 }, (_, at) => first + at);
}

/** The bytes of all counted live records; also for `foyer doctor`, which only reads. */
export async function visitorBytes(kv: Pick<KeyValueStore, 'count'>): Promise<number> {
  const counts = await Promise.all(liveBuckets(Date.now()).map((bucket) => kv.count(bucketKey(bucket))));
  return counts.reduce((sum, count) => sum + count, 0);
}

export function visitorDataLevel(bytes: number, maxBytes: number): VisitorDataLevel {
  if (bytes >= maxBytes * 1.25) return 'over';
  if (bytes >= maxBytes) return 'full';
  return bytes >= maxBytes / 2 ? 'high' : 'normal';
}

/**
 * Counts the data of visitors in the key-value store, over all processes: one counter for each five minutes in which
 * records expire, so that the sum of the future counters is the live size. A record that is deleted early stays counted
 * until its expiry. The time is the store's own, which tests cannot move.
 */
export function countVisitorData(kv: KeyValueStore, maxBytes: number): VisitorData {
  let read = { atMs: Number.NEGATIVE_INFINITY, bytes: Promise.resolve(0) };

  async function count(key: string, valueLength: number, ttlMs: number): Promise<void> {
    if (!isCounted(key, ttlMs)) return;
    const nowMs = Date.now();
    const bucket = Math.floor((nowMs + ttlMs) / bucketMs);
    const bytes = Math.ceil(key.length + valueLength + rowBytes);
    await kv.consumeCount(bucketKey(bucket), (bucket + 1) * bucketMs - nowMs, bytes);
  }

  const data: VisitorData = {
    maxBytes,
    // All other operations are the store's own.
    kv: Object.assign(Object.create(kv) as KeyValueStore, {
      async set(key: string, value: string, ttlMs: number) {
        await Promise.all([kv.set(key, value, ttlMs), count(key, value.length, ttlMs)]);
      },
      async setIfAbsent(key: string, value: string, ttlMs: number) {
        const written = await kv.setIfAbsent(key, value, ttlMs);
        if (written) await count(key, value.length, ttlMs);
        return written;
      },
      async expire(key: string, ttlMs: number) {
        const value = isCounted(key, ttlMs) ? await kv.get(key) : null;
        const [prolonged] = await Promise.all([
          kv.expire(key, ttlMs),
          value === null ? undefined : count(key, value.length, ttlMs),
        ]);
        return prolonged;
      },
    }),
    bytes() {
      const nowMs = Date.now();
      // A clock that was set back must not stop the reading.
      if (Math.abs(nowMs - read.atMs) >= readEveryMs) read = { atMs: nowMs, bytes: visitorBytes(kv) };
      return read.bytes;
    },
    level: async () => visitorDataLevel(await data.bytes(), maxBytes),
  };
  return data;
}
