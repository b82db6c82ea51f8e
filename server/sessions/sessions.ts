import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import { type HostCookies, HttpError, type HttpExchange } from '../http/index.ts';
import type { Metrics } from '../metrics/index.ts';
import { type ProviderId, type SessionIdHash, toSessionId, type UserId } from '../shared/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import { findCurrentUser, type User } from '../users/index.ts';
import { sessionIdHash, sessionKey } from './embedded-session-store.ts';
import { createEndings, type EndedBy } from './endings.ts';
import { endsAtMs, type Lifetimes } from './lifetime.ts';
import type { SessionLinks } from './links.ts';
import { type CurrentSession, getCurrentSession, type UpstreamSession } from './session.ts';
import { sessionCookie } from './session-middleware.ts';
import {
  findSession,
  goingOnKey,
  goingOnMs,
  indexUpstreamSession,
  type ListedSession,
  listSessionHashes,
  listSessions,
  readClientInfo,
  readSessionFacts,
  recordSessionUse,
  recordUseEveryMs,
  userSessionsKey,
  writeSessionFacts,
} from './user-sessions.ts';

/** How a user has authenticated. */
export interface AuthenticationInfo {
  /** RFC 8176; contains 'mfa' if two factors were presented. */
  amr: string[];
  remember: boolean;
  /** The second factor was skipped because the device is remembered. */
  onRememberedDevice?: boolean;
  /** The original time of authentication, if a session only continues under a new id. Milliseconds since the epoch. */
  authTimeMs?: number;
  /** Time of the authentication at the provider, which may be earlier than the response. Undefined: now. */
  shownAtMs?: number | undefined;
  /** Continue only if the session still exists: this request did not end it, so another one did. */
  onlyIfLive?: true;
  /** Undefined: no provider was used; a session that continues keeps its own. */
  upstream?: UpstreamSession | undefined;
}

/** Tests whether a session may start: for every caller, a user with a second factor must have presented it. */
function hasAllFactors({ mfaPreference }: User, { amr, onRememberedDevice, authTimeMs }: AuthenticationInfo): boolean {
  return mfaPreference === 'none' || amr.includes('mfa') || onRememberedDevice === true || authTimeMs !== undefined;
}

export interface Sessions {
  /** Signs in: always creates a new session id. @throws {HttpError} unauthorized if a factor is missing */
  createSession(exchange: HttpExchange, user: User, how: AuthenticationInfo): Promise<CurrentSession>;
  /** Signs this browser out and ends all data that depends on its session. */
  end(req: Request, res: Response): Promise<void>;
  /** Ends every session of a user, or those that a change of the password invalidates. Returns the number. */
  endAll(userId: UserId, which?: EndedBy): Promise<number>;
  /** The browsers in which a user is signed in, the most recently used first. */
  list(userId: UserId): Promise<ListedSession[]>;
  /** One of them; undefined if the user has no such session (any more). */
  find(userId: UserId, idHash: SessionIdHash): Promise<ListedSession | undefined>;
  /** How many of them the session limit has ended recently. */
  endedByLimit(userId: UserId): Promise<number>;
  /** Ends one of them with all dependent data; false if the user has no such session (any more). */
  endSession(userId: UserId, idHash: SessionIdHash): Promise<boolean>;
  /** Ends all of them but one. Returns the number. */
  endOtherSessions(userId: UserId, keepIdHash: SessionIdHash): Promise<number>;
  /**
   * Ends the sessions of a user whom a provider has signed out, by the provider's names. Returns the number.
   * @param indexes the session indexes; empty: all sessions of the user
   */
  endUpstreamSessions(provider: ProviderId, nameId: string, indexes: readonly string[]): Promise<number>;
  /** Tests whether the session still exists. */
  isSessionLive(idHash: SessionIdHash): Promise<boolean>;
  /**
   * The signed-in user of this request, or undefined if there is none, or if they are disabled or deleted. Read once
   * per request.
   */
  getCurrentUser(req: Request): Promise<{ user: User; session: CurrentSession } | undefined>;
}

interface Settings {
  kv: KeyValueStore;
  database: Database;
  cookies: HostCookies;
  lifetimes: Lifetimes;
  metrics: Metrics;
  now: () => number;
  links: SessionLinks;
  /**
   * Every sign-in, by any method, calls this before it takes effect. @returns false if the user has been deleted
   * meanwhile
   */
  signedIn?(req: Request, user: User): Promise<boolean>;
}

const step = (run: (done: (error?: unknown) => void) => void) =>
  new Promise<void>((resolve, reject) => run((error) => (error ? reject(error) : resolve())));

export function createSessions(settings: Settings): Sessions {
  const { kv, database, cookies, lifetimes, metrics, now, links } = settings;
  const { rememberMs, idleMs } = lifetimes;
  const endings = createEndings(kv, links, metrics);
  const members = new WeakMap<Request, Promise<User | undefined>>();
  const notedAt = new Map<string, number>();
  // The renewal of a used session can be about a minute late (embedded-session-store.ts).
  const factsMs = (remember: boolean) => (remember ? rememberMs : idleMs + 2 * recordUseEveryMs);

  /** The list of devices is not essential: a failed write must not fail the request. */
  async function note(req: Request, { idHash, remember }: CurrentSession): Promise<void> {
    const nowMs = now();
    const before = notedAt.get(idHash);
    if (before !== undefined && Math.abs(nowMs - before) < recordUseEveryMs) return;
    if (notedAt.size > 10_000) notedAt.clear();
    notedAt.set(idHash, nowMs);
    const ttlMs = remember ? undefined : factsMs(remember);
    await recordSessionUse(kv, idHash, { ...readClientInfo(req), lastUsedAtMs: nowMs }, ttlMs).catch(() =>
      notedAt.delete(idHash),
    );
  }

  /** Like {@link Sessions.createSession}. If the earlier session cannot continue, it ends with all dependent data. */
  async function createSession(exchange: HttpExchange, user: User, how: AuthenticationInfo): Promise<CurrentSession> {
    const before = getCurrentSession(exchange.req);
    try {
      return await createSessionAfter({ req: exchange.req, res: exchange.res, before }, user, how);
    } catch (error) {
      if (before && !(await isSessionLive(before.idHash).catch(() => true)))
        await links.ended([before]).catch(() => {});
      throw error;
    }
  }

  async function createSessionAfter(
    { req, res, before }: HttpExchange & { before: CurrentSession | undefined },
    user: User,
    how: AuthenticationInfo,
  ): Promise<CurrentSession> {
    const { amr, remember, authTimeMs = Math.min(now(), how.shownAtMs ?? Number.POSITIVE_INFINITY) } = how;
    // Another user's session first: once its record is gone, its dependent data could not be found.
    if (before && before.userId !== user.id) await links.ended([before]);
    const own = before?.userId === user.id ? before : undefined;
    const known = own && (await readSessionFacts(kv, own.idHash));
    if (own) await kv.set(goingOnKey(own.idHash), '1', goingOnMs);
    await step((done) => req.session.regenerate(done));
    const { onRememberedDevice } = how;
    const upstream = how.upstream ?? own?.upstream;
    const nowMs = now();
    const startedAtMs = how.authTimeMs === undefined ? nowMs : (own?.startedAtMs ?? how.authTimeMs);
    req.session.user = {
      userId: user.id,
      authTimeMs,
      amr,
      remember,
      startedAtMs,
      passwordEpoch: user.passwordEpoch,
      browserId: own?.browserId ?? randomBytes(16).toString('base64url'),
      ...(onRememberedDevice && { onRememberedDevice }),
      ...(upstream && { upstream }),
    };
    if (remember) req.session.cookie.maxAge = Math.max(1, startedAtMs + rememberMs - nowMs);
    const after = { ...req.session.user, idHash: sessionIdHash(toSessionId(req.session.id)) };
    // Before, because a session outside the list could not be ended from elsewhere; and again after, because
    // `endAllSessions` may have emptied the list in between.
    const listMs = Math.max(rememberMs, idleMs) * 2;
    const list = () => kv.addToSet(userSessionsKey(user.id), after.idHash, listMs);
    const facts = { ip: '', ...readClientInfo(req), createdAtMs: known?.createdAtMs ?? nowMs, lastUsedAtMs: nowMs };
    await writeSessionFacts(kv, after.idHash, facts, factsMs(remember));
    await list();
    notedAt.set(after.idHash, nowMs);
    await step((done) => req.session.save(done));
    await Promise.all([list(), indexUpstreamSession(kv, after, listMs)]);
    await endings.limit(user.id);
    // The password may have been reset, or the user disabled, while the password was being checked. If the sessions
    // were ended before this one was in the list, this check finds it; if later, the list has it.
    const current = await findCurrentUser(database, user.id);
    if (!current || current.disabledAt !== null || current.passwordEpoch !== user.passwordEpoch) {
      await step((done) => req.session.destroy(done));
      throw new HttpError('unauthorized', { detail: 'password has changed or user is disabled' });
    }
    if (how.onlyIfLive && before && !(await listSessionHashes(kv, user.id)).includes(before.idHash)) {
      await step((done) => req.session.destroy(done));
      await kv.removeFromSet(userSessionsKey(user.id), after.idHash);
      throw new HttpError('unauthorized', { detail: 'session has ended' });
    }
    if (!hasAllFactors(current, how)) {
      await step((done) => req.session.destroy(done));
      throw new HttpError('unauthorized', { detail: 'second factor required but not presented' });
    }
    try {
      if ((await settings.signedIn?.(req, current)) === false) {
        throw new HttpError('unauthorized', { detail: 'user was erased' });
      }
    } catch (error) {
      // Also if the hook failed: no user may be signed in without it.
      await step((done) => req.session.destroy(done));
      throw error;
    }
    members.set(req, Promise.resolve(user));
    if (before) {
      await kv.removeFromSet(userSessionsKey(before.userId), before.idHash);
      if (before.userId === user.id) await links.replaced(before, after);
      else await links.ended([before]);
      metrics.sessionEnded('replaced');
    }
    await links.began(req, res, after);
    metrics.sessionStarted();
    return after;
  }

  async function end(req: Request, res: Response): Promise<void> {
    const session = getCurrentSession(req);
    if (session) {
      // Dependent data ends first: if that fails, the session still exists, and another sign-out ends everything.
      await links.ended([session]);
      await step((done) => req.session.destroy(done));
      // Ends what was given in between. A later grant finds the session gone and removes itself (see `isLive`).
      await links.ended([session]);
      await kv.removeFromSet(userSessionsKey(session.userId), session.idHash);
      metrics.sessionEnded('sign-out');
    }
    cookies.clear(res, sessionCookie);
    await links.cleared(req, res);
  }

  async function getCurrentUser(req: Request) {
    const session = getCurrentSession(req);
    if (!session || endsAtMs(session, lifetimes) <= now()) return undefined;
    let user = members.get(req);
    if (!user) {
      user = findCurrentUser(database, session.userId);
      members.set(req, user);
    }
    const found = await user;
    // The password has changed: the session is invalid, even if nothing has ended it yet.
    if (found && (session.passwordEpoch ?? found.passwordEpoch) < found.passwordEpoch) return undefined;
    if (found) await note(req, session);
    return found && found.disabledAt === null ? { user: found, session } : undefined;
  }

  const isSessionLive = async (idHash: SessionIdHash) => (await kv.get(sessionKey(idHash))) !== null;

  const list = (userId: UserId) => listSessions(kv, userId);
  const find = (userId: UserId, idHash: SessionIdHash) => findSession(kv, userId, idHash);

  return { createSession, end, isSessionLive, list, find, getCurrentUser, ...endings };
}
