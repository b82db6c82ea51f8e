import type { Request } from 'express';
import type { HostCookies, HttpExchange } from '../http/index.ts';
import type { Metrics, SessionIdHash, UserId } from '../shared/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import { findCurrentUser, type User } from '../users/index.ts';
import { createEndings, type SessionEndings } from './endings.ts';
import {
  type CurrentSession,
  endsAtMs,
  getCurrentSession,
  type Lifetimes,
  type SessionReader,
  sessionCookie,
  sessionKey,
} from './session.ts';
import type { SessionHooks, SignOutRequester } from './session-hooks.ts';
import { limitSessions } from './session-limit.ts';
import { type AuthenticationInfo, startSession, step } from './start-session.ts';
import { createSessionUse, findSession, type ListedSession, listSessions, userSessionsKey } from './user-sessions.ts';

export interface Sessions extends SessionEndings {
  /** Signs in: always creates a new session id. @throws {HttpError} unauthorized if a factor is missing */
  createSession(exchange: HttpExchange, user: User, how: AuthenticationInfo): Promise<CurrentSession>;
  /** Signs this browser out and ends all data that depends on its session. */
  end(exchange: HttpExchange, requestedBy?: SignOutRequester): Promise<void>;
  /** The browsers in which a user is signed in, the most recently used first. */
  list(userId: UserId): Promise<ListedSession[]>;
  /** One of them; undefined if the user has no such session (any more). */
  find(userId: UserId, idHash: SessionIdHash): Promise<ListedSession | undefined>;
  /** Tests whether the session still exists. */
  isSessionLive(idHash: SessionIdHash): Promise<boolean>;
  /**
   * The signed-in user of this request, or undefined if there is none, or if they are disabled or deleted. Read once
   * per request.
   */
  getCurrentUser(req: Request): Promise<{ user: User; session: CurrentSession } | undefined>;
  /** For requests that do not pass express-session. */
  reader: SessionReader;
}

interface Settings {
  kv: KeyValueStore;
  database: Database;
  cookies: HostCookies;
  lifetimes: Lifetimes;
  metrics: Metrics;
  now: () => number;
  hooks: SessionHooks;
  reader: SessionReader;
  /** Prepares the header of every page that answers the request. */
  setPageUser(req: Request, user: User): Promise<void>;
}

export function createSessions(settings: Settings): Sessions {
  const { kv, database, cookies, lifetimes, metrics, now, hooks, reader } = settings;
  const endings = createEndings({ kv, hooks, metrics });
  const limit = async (userId: UserId) => metrics.sessionEnded('limit', await limitSessions({ kv, hooks }, userId));
  const users = new WeakMap<Request, Promise<User | undefined>>();
  const prepared = new WeakMap<Request, { user: User; header: Promise<void> }>();
  const use = createSessionUse({ kv, lifetimes, now });
  const startDeps = { ...settings, limit, users, use };

  /** Like {@link Sessions.createSession}. If the earlier session cannot continue, it ends with all dependent data. */
  async function createSession(
    { req, res }: HttpExchange,
    user: User,
    how: AuthenticationInfo,
  ): Promise<CurrentSession> {
    const before = getCurrentSession(req);
    try {
      return await startSession(startDeps, { req, res, before, user, how });
    } catch (error) {
      if (before && !(await isSessionLive(before.idHash).catch(() => true)))
        await hooks.onSessionsEnded([before]).catch(() => {});
      throw error;
    }
  }

  async function end({ req, res }: HttpExchange, requestedBy: SignOutRequester = {}): Promise<void> {
    const session = getCurrentSession(req);
    if (session) {
      // Dependent data ends first: if that fails, the session still exists, and another sign-out ends everything.
      await hooks.onSessionsEnded([session]);
      await step((done) => req.session.destroy(done));
      // Ends what was given in between. A later grant finds the session gone and removes itself (see `isLive`).
      await hooks.onSessionsEnded([session]);
      await kv.removeFromSet(userSessionsKey(session.userId), session.idHash);
      metrics.sessionEnded('sign-out');
    }
    cookies.clear(res, sessionCookie);
    await hooks.afterSignOut({ req, res, session, requestedBy });
  }

  /** Once per request and user, because it reads the database. */
  function setPageUser(req: Request, user: User): Promise<void> {
    const before = prepared.get(req);
    if (before?.user === user) return before.header;
    const header = settings.setPageUser(req, user);
    prepared.set(req, { user, header });
    return header;
  }

  async function getCurrentUser(req: Request) {
    const session = getCurrentSession(req);
    if (!session || endsAtMs(session, lifetimes) <= now()) return undefined;
    let user = users.get(req);
    if (!user) {
      user = findCurrentUser(database, session.userId, req);
      users.set(req, user);
    }
    const found = await user;
    // The password has changed: the session is invalid, even if nothing has ended it yet.
    if (found && (session.passwordEpoch ?? found.passwordEpoch) < found.passwordEpoch) return undefined;
    if (found) await use.record(req, session);
    if (!found || found.disabledAt !== null) return undefined;
    await setPageUser(req, found);
    return { user: found, session };
  }

  const isSessionLive = async (idHash: SessionIdHash) => (await kv.get(sessionKey(idHash))) !== null;

  const list = (userId: UserId) => listSessions(kv, userId);
  const find = (userId: UserId, idHash: SessionIdHash) => findSession(kv, userId, idHash);

  return { createSession, end, isSessionLive, list, find, getCurrentUser, reader, ...endings };
}
