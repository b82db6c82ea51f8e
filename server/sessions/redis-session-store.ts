import { RedisStore } from 'connect-redis';
import type { Request } from 'express';
import type { Session, SessionData } from 'express-session';
import { toSessionId } from '../shared/index.ts';
import { parseStored, type RedisClient } from '../store/index.ts';
import { type Lifetimes, sessionDataSchema, sessionFactsKey, sessionIdHash, sessionKey } from './session.ts';
import { SessionWriteRules } from './session-write-rules.ts';

type Callback<T> = (error: unknown, value?: T) => void;
/** connect-redis itself does not check what it reads. */
const serializer = {
  parse: (text: string) => parseStored(sessionDataSchema, text),
  stringify: (session: SessionData) => JSON.stringify(session),
};

type HashingClient = ReturnType<typeof createHashingClient>;

/**
 * The session store with REDIS_URL: connect-redis over the connection of the key-value store. The subclass ensures that
 * a session is created once, at sign-in, and that use renews it at most once a minute and never past its end.
 */
export class RedisSessionStore extends RedisStore {
  readonly #client: HashingClient;
  readonly #rules: SessionWriteRules;

  constructor(redis: RedisClient, lifetimes: Lifetimes) {
    const client = createHashingClient(redis);
    const rules = new SessionWriteRules(lifetimes);
    super({ client, prefix: '', ttl: (session) => rules.ttlMs(session) / 1000, serializer });
    this.#client = client;
    this.#rules = rules;
  }

  override createSession(req: Request, stored: SessionData): Session & SessionData {
    const session = super.createSession(req, stored);
    this.#rules.markWritten(session);
    return session;
  }

  override get(sessionId: string, callback?: Callback<SessionData | null>): Promise<unknown> {
    return settle(super.get(sessionId), callback);
  }

  override set(sessionId: string, session: SessionData, callback?: Callback<unknown>): Promise<unknown> {
    const write = this.#rules.isFirstSave(session)
      ? super.set(sessionId, session)
      : this.#client.update(sessionId, this.serializer.stringify(session));
    return settle(write, callback);
  }

  override destroy(sessionId: string, callback?: Callback<unknown>): Promise<unknown> {
    return settle(super.destroy(sessionId), callback);
  }

  /** A failed renewal must not fail the request: the next one follows within a minute. */
  override touch(sessionId: string, session: SessionData, callback: () => void = () => {}): Promise<void> {
    if (this.#rules.isRenewalDue(sessionIdHash(toSessionId(sessionId)), session)) {
      return super.touch(sessionId, session).then(
        () => callback(),
        () => callback(),
      );
    }
    callback();
    return Promise.resolve();
  }
}

/**
 * The client for connect-redis. connect-redis names entries by session id, but only hashes of the ids reach Redis.
 * There is no SCAN: sessions are listed by user (user-sessions.ts), so nothing scans all keys.
 */
function createHashingClient(redis: RedisClient) {
  const toKey = (sessionId: string) => sessionKey(sessionIdHash(toSessionId(sessionId)));
  // connect-redis passes fractional seconds; the store needs whole milliseconds.
  const toMs = (seconds: number) => Math.round(seconds * 1000);
  return {
    get: (sessionId: string) => redis.get(toKey(sessionId)),
    set: (sessionId: string, value: string, _unit: 'EX', seconds: number) =>
      redis.set(toKey(sessionId), value, 'PX', toMs(seconds)),
    update: (sessionId: string, value: string) => redis.set(toKey(sessionId), value, 'KEEPTTL', 'XX'),
    expire: (sessionId: string, seconds: number) => redis.pexpire(toKey(sessionId), toMs(seconds)),
    del: (sessionIds: readonly string[]) =>
      redis.del(
        ...sessionIds
          .map((sessionId) => sessionIdHash(toSessionId(sessionId)))
          .flatMap((idHash) => [sessionKey(idHash), sessionFactsKey(idHash)]),
      ),
    scan: () => Promise.reject(new Error('Sessions are listed by user, never by a scan of all keys')),
  };
}

/**
 * connect-redis calls back inside its own `try`: if the callback threw, it would be called again with its own error.
 */
function settle<T>(work: Promise<T>, callback: Callback<T> | undefined): Promise<unknown> {
  return callback ? work.then((value) => callback(null, value), callback) : work;
}
