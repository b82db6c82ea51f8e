import { type SessionData, Store } from 'express-session';
import { sha256 } from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import { endsAtMs, type Lifetimes } from './lifetime.ts';

/** How often a used session's time to live is renewed at most, per process: not every page costs a write. */
const renewEveryMs = 60_000;

/** The store's name for a session: the id itself is a bearer secret and is stored nowhere. */
export function sessionIdHash(sessionId: string): string {
  return sha256(sessionId);
}

export function sessionKey(idHash: string): string {
  return `session:${idHash}`;
}

/** What is written down beside it (session-list.ts): it goes with the session, whichever way that ends. */
export function factsKey(idHash: string): string {
  return `session-facts:${idHash}`;
}

/**
 * express-session over the key-value contract, so over Redis and the embedded store alike. A session is written once,
 * at sign-in, and later only renewed or deleted: a request that was under way cannot bring back an ended session.
 */
export class KeyValueSessionStore extends Store {
  readonly #kv: KeyValueStore;
  readonly #lifetimes: Lifetimes;
  readonly #renewedAt = new Map<string, number>();
  readonly #written = new WeakSet<SessionData>();

  constructor(kv: KeyValueStore, lifetimes: Lifetimes) {
    super();
    this.#kv = kv;
    this.#lifetimes = lifetimes;
  }

  #ttlMs(session: SessionData): number {
    const { expires } = session.cookie;
    const { user } = session;
    if (expires) return Math.max(1, new Date(expires).getTime() - Date.now());
    const { idleMs } = this.#lifetimes;
    return user ? Math.max(1, Math.min(idleMs, endsAtMs(user, this.#lifetimes) - Date.now())) : idleMs;
  }

  override get(sessionId: string, callback: (error: unknown, session?: SessionData | null) => void): void {
    this.#kv
      .get(sessionKey(sessionIdHash(sessionId)))
      .then((value) => callback(null, value === null ? null : (JSON.parse(value) as SessionData)), callback);
  }

  override set(sessionId: string, session: SessionData, callback: (error?: unknown) => void = () => {}): void {
    const key = sessionKey(sessionIdHash(sessionId));
    const value = JSON.stringify(session);
    // express-session saves a new session a second time when the answer is sent: by then it may have been ended.
    const write = this.#written.has(session)
      ? this.#kv.update(key, value)
      : this.#kv.set(key, value, this.#ttlMs(session));
    this.#written.add(session);
    write.then(() => callback(), callback);
  }

  override destroy(sessionId: string, callback: (error?: unknown) => void = () => {}): void {
    const idHash = sessionIdHash(sessionId);
    this.#kv.delete(sessionKey(idHash), factsKey(idHash)).then(() => callback(), callback);
  }

  /** Only idle limits move, never past the longest lifetime; a remembered session ends when it was promised to. */
  override touch(sessionId: string, session: SessionData, callback: () => void = () => {}): void {
    const idHash = sessionIdHash(sessionId);
    const now = Date.now();
    const renewedLately = now - (this.#renewedAt.get(idHash) ?? 0) < Math.min(renewEveryMs, this.#lifetimes.idleMs / 4);
    if (session.cookie.expires || renewedLately) {
      callback();
      return;
    }
    if (this.#renewedAt.size > 10_000) this.#renewedAt.clear();
    this.#renewedAt.set(idHash, now);
    this.#kv.expire(sessionKey(idHash), this.#ttlMs(session)).then(
      () => callback(),
      () => callback(),
    );
  }
}
