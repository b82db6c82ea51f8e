import type { SessionData } from 'express-session';
import { endsAtMs, type Lifetimes } from './lifetime.ts';

/** How often a used session's time to live is renewed at most, per process: not every page costs a write. */
const renewEveryMs = 60_000;

/** The rules of writing that hold for the session store on Redis and for the embedded one. */
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
   * True once for each new session: only then may a save create an entry. express-session saves a new session a second time
   * when it sends the answer, and by then another request may have ended the session.
   */
  isFirstSave(session: SessionData): boolean {
    const first = !this.#written.has(session);
    this.#written.add(session);
    return first;
  }

  /** A session that was read from the store is no new one. */
  markWritten(session: SessionData): void {
    this.#written.add(session);
  }

  /** Whether this use moves the session's end. A remembered session ends when its cookie says, however much it is used. */
  isRenewalDue(idHash: string, session: SessionData): boolean {
    if (session.cookie.expires) return false;
    const now = Date.now();
    const sinceMs = now - (this.#renewedAt.get(idHash) ?? 0);
    if (sinceMs < Math.min(renewEveryMs, this.#lifetimes.idleMs / 4)) return false;
    if (this.#renewedAt.size > 10_000) this.#renewedAt.clear();
    this.#renewedAt.set(idHash, now);
    return true;
  }
}
