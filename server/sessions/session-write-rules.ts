import type { SessionData } from 'express-session';
import type { SessionIdHash } from '../shared/index.ts';
import { endsAtMs, type Lifetimes } from './session.ts';

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
