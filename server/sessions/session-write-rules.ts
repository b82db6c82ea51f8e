import type { Request } from 'express';
import type { SessionData } from 'express-session';
import type { SessionIdHash } from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import { type CurrentSession, endsAtMs, type Lifetimes } from './session.ts';
import { readClientInfo, recordSessionUse, recordUseEveryMs } from './user-sessions.ts';

/**
 * How often the time to live of a used session is renewed at most, per process, so that not every page costs a write.
 */
const renewEveryMs = 60_000;

/** The rules of writing for the session store on Redis and the embedded one. */
export class SessionWriteRules {
  readonly #lifetimes: Lifetimes;
  readonly #renewedAt = new Map<string, number>();
  readonly #written = new WeakSet<SessionData>();

  constructor(lifetimes: Lifetimes) {
    this.#lifetimes = lifetimes;
  }

  ttlMs(session: SessionData): number {
    const { expires } = session.cookie;
    const { user } = session;
    if (expires) return Math.max(1, new Date(expires).getTime() - Date.now());
    const { idleMs } = this.#lifetimes;
    return user ? Math.max(1, Math.min(idleMs, endsAtMs(user, this.#lifetimes) - Date.now())) : idleMs;
  }

  /**
   * True once for each new session: only then may a save create an entry. express-session saves a new session a second
   * time when it sends the answer; by then another request may have ended it.
   */
  isFirstSave(session: SessionData): boolean {
    const first = !this.#written.has(session);
    this.#written.add(session);
    return first;
  }

  /** A session that was read from the store is not new. */
  markWritten(session: SessionData): void {
    this.#written.add(session);
  }

  /**
   * Tests whether this use moves the session's end. A remembered session ends with its cookie, however much it is used.
   */
  isRenewalDue(idHash: SessionIdHash, session: SessionData): boolean {
    if (session.cookie.expires) return false;
    const now = Date.now();
    const sinceMs = now - (this.#renewedAt.get(idHash) ?? 0);
    if (sinceMs < Math.min(renewEveryMs, this.#lifetimes.idleMs / 4)) return false;
    if (this.#renewedAt.size > 10_000) this.#renewedAt.clear();
    this.#renewedAt.set(idHash, now);
    return true;
  }
}

/** The last use of each session, for the list of devices. */
export interface SessionUse {
  /** Records a use, at most once a minute. A failed write does not fail: the list of devices is not essential. */
  record(req: Request, session: CurrentSession): Promise<void>;
  /** Marks a session whose facts have just been written. */
  markRecorded(idHash: SessionIdHash, nowMs: number): void;
}

/** How long the facts of a session live. Its own renewal can be about a minute late (`SessionWriteRules`). */
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
