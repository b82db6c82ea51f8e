import type { Request } from 'express';
import type { SessionIdHash } from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import type { CurrentSession, Lifetimes } from './session.ts';
import { readClientInfo, recordSessionUse, recordUseEveryMs } from './user-sessions.ts';

/** The last use of each session, for the list of devices. */
export interface SessionUse {
  /** Records a use, at most once a minute. A failed write does not fail: the list of devices is not essential. */
  record(req: Request, session: CurrentSession): Promise<void>;
  /** Marks a session whose facts have just been written. */
  markRecorded(idHash: SessionIdHash, nowMs: number): void;
}

/** How long the facts of a session live. Its own renewal can be about a minute late (session-write-rules.ts). */
export const factsLifetimeMs = ({ rememberMs, idleMs }: Lifetimes, remember: boolean): number =>
  remember ? rememberMs : idleMs + 2 * recordUseEveryMs;

interface Settings {
  kv: KeyValueStore;
  lifetimes: Lifetimes;
  now: () => number;
}

export function createSessionUse({ kv, lifetimes, now }: Settings): SessionUse {
  const recordedAt = new Map<string, number>();
  return {
    async record(req, { idHash, remember }) {
      const nowMs = now();
      const before = recordedAt.get(idHash);
      if (before !== undefined && Math.abs(nowMs - before) < recordUseEveryMs) return;
      if (recordedAt.size > 10_000) recordedAt.clear();
      recordedAt.set(idHash, nowMs);
      const use = { ...readClientInfo(req), lastUsedAtMs: nowMs };
      // A remembered session ends at a fixed time.
      const ttlMs = remember ? undefined : factsLifetimeMs(lifetimes, remember);
      await recordSessionUse(kv, idHash, { use, ttlMs }).catch(() => recordedAt.delete(idHash));
    },
    markRecorded: (idHash, nowMs) => void recordedAt.set(idHash, nowMs),
  };
}
