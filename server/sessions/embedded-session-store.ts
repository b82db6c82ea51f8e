import type { Request } from 'express';
import { type Session, type SessionData, Store } from 'express-session';
import { toSessionId } from '../shared/index.ts';
import { type KeyValueStore, parseStored } from '../store/index.ts';
import { type Lifetimes, sessionDataSchema, sessionFactsKey, sessionIdHash, sessionKey } from './session.ts';
import { SessionWriteRules } from './session-write-rules.ts';

/**
 * express-session over the key-value contract: the store without REDIS_URL. A session is written once, at sign-in, and
 * later only renewed or deleted, so a parallel request cannot restore an ended session. redis-session-store.ts follows
 * the same rules.
 */
export class EmbeddedSessionStore extends Store {
  readonly #kv: KeyValueStore;
  readonly #rules: SessionWriteRules;

  constructor(kv: KeyValueStore, lifetimes: Lifetimes) {
    super();
    this.#kv = kv;
    this.#rules = new SessionWriteRules(lifetimes);
  }

  override createSession(req: Request, stored: SessionData): Session & SessionData {
    const session = super.createSession(req, stored);
    this.#rules.markWritten(session);
    return session;
  }

  override get(sessionId: string, callback: (error: unknown, session?: SessionData | null) => void): void {
    this.#read(sessionId).then((session) => callback(null, session), callback);
  }

  async #read(sessionId: string): Promise<SessionData | null> {
    const value = await this.#kv.get(sessionKey(sessionIdHash(toSessionId(sessionId))));
    return value === null ? null : parseStored(sessionDataSchema, value);
  }

  override set(sessionId: string, session: SessionData, callback: (error?: unknown) => void = () => {}): void {
    const key = sessionKey(sessionIdHash(toSessionId(sessionId)));
    const value = JSON.stringify(session);
    const write = this.#rules.isFirstSave(session)
      ? this.#kv.set(key, value, this.#rules.ttlMs(session))
      : this.#kv.update(key, value);
    write.then(() => callback(), callback);
  }

  override destroy(sessionId: string, callback: (error?: unknown) => void = () => {}): void {
    const idHash = sessionIdHash(toSessionId(sessionId));
    this.#kv.delete(sessionKey(idHash), sessionFactsKey(idHash)).then(() => callback(), callback);
  }

  /** Only idle timeouts move, never past the maximum lifetime. A remembered session ends at its fixed time. */
  override touch(sessionId: string, session: SessionData, callback: () => void = () => {}): void {
    const idHash = sessionIdHash(toSessionId(sessionId));
    if (!this.#rules.isRenewalDue(idHash, session)) {
      callback();
      return;
    }
    this.#kv.expire(sessionKey(idHash), this.#rules.ttlMs(session)).then(
      () => callback(),
      () => callback(),
    );
  }
}
