import { createSecretKey } from 'node:crypto';
import { RedisStore } from 'connect-redis';
import type { Request, RequestHandler, Response } from 'express';
import session, { type Session, type SessionData, Store } from 'express-session';
import type { HostCookies } from '../http/index.ts';
import { randomToken, type SessionIdHash, sha256, toSessionId } from '../shared/index.ts';
import { type KeyValueStore, parseStored, type RedisClient } from '../store/index.ts';
import {
  endsAtMs,
  getCurrentSession,
  type Lifetimes,
  sessionCookie,
  sessionDataSchema,
  sessionFactsKey,
  sessionIdHash,
  sessionKey,
} from './session.ts';

/**
 * How often the time to live of a used session is renewed at most, per process, so that not every page costs a write.
 */
const renewEveryMs = 60_000;

/** All but the end of the cookie, which each request moves. */
const readContent = ({ cookie, ...content }: SessionData): string =>
  JSON.stringify([content, cookie.originalMaxAge ?? null]);

/** The rules of writing for the session store on Redis and the embedded one. */
class SessionWriteRules {
  readonly #lifetimes: Lifetimes;
  readonly #renewedAt = new Map<string, number>();
  readonly #written = new WeakSet<object>();
  readonly #stored = new WeakMap<SessionData, string>();

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

  /**
   * Writes a session unless it is stored as it is: express-session saves a new one again while it sends the answer of the
   * sign-in, and cuts that answer if the store has gone away meanwhile.
   */
  async save(session: SessionData, write: () => Promise<unknown>): Promise<void> {
    const content = readContent(session);
    if (this.#stored.get(session) === content) return;
    await write();
    this.#stored.set(session, content);
  }

  /** A session that was read from the store is not new. */
  markWritten(session: SessionData): void {
    this.#written.add(session);
  }

  /** A session that express-session has just made for a visitor has a new id: there is nothing to `replace`. */
  regenerate(req: Request, callback: () => unknown, replace: () => void): void {
    if (this.#written.has(req.session)) return void replace();
    req.sessionStore.generate(req);
    callback();
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

/**
 * express-session over the key-value contract: the store without REDIS_URL. A session is written once, at sign-in, and
 * later only renewed or deleted, so a parallel request cannot restore an ended session.
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

  override regenerate(req: Request, callback: (error?: unknown) => unknown): void {
    this.#rules.regenerate(req, callback, () => super.regenerate(req, callback));
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
    const write = () => {
      const value = JSON.stringify(session);
      return this.#rules.isFirstSave(session)
        ? this.#kv.set(key, value, this.#rules.ttlMs(session))
        : this.#kv.update(key, value);
    };
    this.#rules.save(session, write).then(() => callback(), callback);
  }

  override destroy(sessionId: string, callback: (error?: unknown) => void = () => {}): void {
    const idHash = sessionIdHash(toSessionId(sessionId));
    this.#kv.delete(sessionKey(idHash), sessionFactsKey(idHash)).then(() => callback(), callback);
  }

  /** Only idle timeouts move, never past the maximum lifetime. A remembered session ends at its fixed time. */
  override touch(sessionId: string, session: SessionData, callback: () => void = () => {}): void {
    const idHash = sessionIdHash(toSessionId(sessionId));
    if (!this.#rules.isRenewalDue(idHash, session)) return void callback();
    this.#kv.expire(sessionKey(idHash), this.#rules.ttlMs(session)).then(
      () => callback(),
      () => callback(),
    );
  }
}

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

  override regenerate(req: Request, callback: (error?: unknown) => unknown): void {
    this.#rules.regenerate(req, callback, () => super.regenerate(req, callback));
  }

  override get(sessionId: string, callback?: Callback<SessionData | null>): Promise<unknown> {
    return settle(super.get(sessionId), callback);
  }

  override set(sessionId: string, session: SessionData, callback?: Callback<unknown>): Promise<unknown> {
    const write = () =>
      this.#rules.isFirstSave(session)
        ? super.set(sessionId, session)
        : this.#client.update(sessionId, this.serializer.stringify(session));
    return settle(this.#rules.save(session, write), callback);
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

export function createSessionStore(kv: KeyValueStore, lifetimes: Lifetimes): RedisSessionStore | EmbeddedSessionStore {
  return kv.redis ? new RedisSessionStore(kv.redis, lifetimes) : new EmbeddedSessionStore(kv, lifetimes);
}

/** Loads the session of a request. Visitors get one only when they sign in. */
export function sessionMiddleware(settings: {
  store: Store;
  cookies: HostCookies;
  cookieKeys: string[];
}): RequestHandler {
  const { httpOnly, sameSite, path, secure } = settings.cookies.options;
  return session({
    name: settings.cookies.name(sessionCookie),
    // As key objects: Node would import the text again for every signature.
    secret: settings.cookieKeys.map((key) => createSecretKey(key, 'utf8')),
    store: settings.store,
    genid: () => randomToken(),
    // http/request-guards.ts has set the scheme. Without this option the cookie would silently be omitted behind a proxy.
    proxy: true,
    resave: false,
    saveUninitialized: false,
    // Not 'destroy': that would delete a session that could not be read, so a short outage of the store would sign
    // users out.
    unset: 'keep',
    cookie: {
      ...(httpOnly !== undefined && { httpOnly }),
      ...(sameSite !== undefined && { sameSite }),
      ...(path !== undefined && { path }),
      secure: secure ?? false,
    },
  });
}

/** The hash of the ended session about which the user has been notified. */
const toldCookie = 'foyer_signed_out';
const markCharacters = 16;

/**
 * Tests whether this browser has a session that has ended elsewhere or expired, and has not been notified yet. The
 * session cookie stays: another tab may be setting it for a new sign-in at this moment, and a later deletion would sign
 * the user out again.
 */
export function isSignedOutElsewhere(cookies: HostCookies, req: Request, res: Response): boolean {
  const held = cookies.read(req, sessionCookie);
  if (held === undefined || req.method !== 'GET' || getCurrentSession(req)) return false;
  const mark = sha256(held).slice(0, markCharacters);
  if (cookies.read(req, toldCookie) === mark) return false;
  cookies.set(res, toldCookie, { value: mark });
  return true;
}
