import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import { type HostCookies, HttpError } from '../http/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import { findCurrentUser, type User } from '../users/index.ts';
import { sessionIdHash, sessionKey } from './embedded-session-store.ts';
import { createEndings, type EndedBy } from './endings.ts';
import { endsAtMs, type Lifetimes } from './lifetime.ts';
import type { SessionLinks } from './links.ts';
import { sessionCookie } from './middleware.ts';
import { type CurrentSession, getCurrentSession, type UpstreamSession } from './session.ts';
import {
  findSession,
  goingOnKey,
  goingOnMs,
  indexUpstreamSession,
  type ListedSession,
  listSessions,
  readClientInfo,
  readSessionFacts,
  recordSessionUse,
  recordUseEveryMs,
  userSessionsKey,
  writeSessionFacts,
} from './session-index.ts';

/** How a member has shown who they are. */
export interface AuthenticationInfo {
  /** RFC 8176; with two factors it has 'mfa' in it. */
  amr: string[];
  remember: boolean;
  /** The member's second factor was not asked for, because the device is remembered. */
  onRememberedDevice?: boolean;
  /** When it was shown, where a session only goes on under a new id: nothing was shown anew. Milliseconds since the epoch. */
  authTimeMs?: number;
  /** When a provider was shown who the member is, which may have been before they came from there. Undefined: now. */
  shownAtMs?: number | undefined;
  /** It was not ended by this very request, so where it has ended meanwhile it does not go on. */
  onlyIfLive?: true;
  /** Undefined: not by a provider; a session that goes on keeps the one it had. */
  upstream?: UpstreamSession | undefined;
}

/** Whether a session may begin: whatever room asks, nobody with a second factor gets in without it. */
function hasAllFactors({ mfaPreference }: User, { amr, onRememberedDevice, authTimeMs }: AuthenticationInfo): boolean {
  return mfaPreference === 'none' || amr.includes('mfa') || onRememberedDevice === true || authTimeMs !== undefined;
}

export interface Sessions {
  /** Signs in: a new session id, whatever there was before. @throws {HttpError} unauthorized when a factor is missing */
  createSession(req: Request, res: Response, user: User, how: AuthenticationInfo): Promise<CurrentSession>;
  /** Signs this browser out, with everything that hangs on its session. */
  end(req: Request, res: Response): Promise<void>;
  /** Ends every session of a member, or those that a change of the password voids; answers how many there were. */
  endAll(userId: string, which?: EndedBy): Promise<number>;
  /** The browsers in which a member is signed in, the last used first. */
  list(userId: string): Promise<ListedSession[]>;
  /** One of them; undefined when the member has no such session (any more). */
  find(userId: string, idHash: string): Promise<ListedSession | undefined>;
  /** How many of them lately had to end for newer ones, because there is a limit. */
  endedByLimit(userId: string): Promise<number>;
  /** Signs one of them out, with everything that hangs on it; false when the member has no such session (any more). */
  endSession(userId: string, idHash: string): Promise<boolean>;
  /** Signs all of them out but one; answers how many there were. */
  endOtherSessions(userId: string, keepIdHash: string): Promise<number>;
  /**
   * Ends the sessions of a person whom a provider has signed out, by the names that it calls them; answers how many.
   * @param indexes of its sessions; empty: all of the person
   */
  endUpstreamSessions(provider: string, nameId: string, indexes: readonly string[]): Promise<number>;
  /** Whether the session has not ended since the request began. */
  isSessionLive(idHash: string): Promise<boolean>;
  /** The signed-in member of this request, or undefined: also when disabled or gone. Read once per request. */
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
  /** Every sign-in passes here, whichever way it came, before it counts. @returns false when the member is gone by now */
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
  // A session that is used is renewed about a minute late (embedded-session-store.ts).
  const factsMs = (remember: boolean) => (remember ? rememberMs : idleMs + 2 * recordUseEveryMs);

  /** What the list of devices shows is a help: a session goes on where it cannot be written down. */
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

  /** As {@link Sessions.createSession}; a session that was there before has ended where it does not go on, with all that hung on it. */
  async function createSession(
    req: Request,
    res: Response,
    user: User,
    how: AuthenticationInfo,
  ): Promise<CurrentSession> {
    const before = getCurrentSession(req);
    try {
      return await createSessionAfter(before, req, res, user, how);
    } catch (error) {
      if (before && !(await isSessionLive(before.idHash).catch(() => true)))
        await links.ended([before]).catch(() => {});
      throw error;
    }
  }

  async function createSessionAfter(
    before: CurrentSession | undefined,
    req: Request,
    res: Response,
    user: User,
    how: AuthenticationInfo,
  ): Promise<CurrentSession> {
    const { amr, remember, authTimeMs = Math.min(now(), how.shownAtMs ?? Number.POSITIVE_INFINITY) } = how;
    // Another member's first of all: once their session is gone, nothing could find what hangs on it any more.
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
    const after = { ...req.session.user, idHash: sessionIdHash(req.session.id) };
    // Before, because a session that stands in no list could not be ended from elsewhere; and again after, because
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
    // Set anew, or the member disabled, while the password was being checked: what ended their sessions may have come too
    // early for this one, but then it is seen here; later, it finds this one in the list.
    const current = await findCurrentUser(database, user.id);
    if (!current || current.disabledAt !== null || current.passwordEpoch !== user.passwordEpoch) {
      await step((done) => req.session.destroy(done));
      throw new HttpError('unauthorized', { detail: 'the password was set anew, or the member disabled, meanwhile' });
    }
    if (how.onlyIfLive && before && !(await kv.setMembers(userSessionsKey(user.id))).includes(before.idHash)) {
      await step((done) => req.session.destroy(done));
      await kv.removeFromSet(userSessionsKey(user.id), after.idHash);
      throw new HttpError('unauthorized', { detail: 'the session was ended meanwhile' });
    }
    if (!hasAllFactors(current, how)) {
      await step((done) => req.session.destroy(done));
      throw new HttpError('unauthorized', { detail: 'a second factor is due, and was not shown' });
    }
    try {
      if ((await settings.signedIn?.(req, current)) === false) {
        throw new HttpError('unauthorized', { detail: 'the member was erased meanwhile' });
      }
    } catch (error) {
      // Also where it could not be asked: nobody is signed in whom it does not know of.
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
      // First what hangs on it: where that fails the session is still there, and signing out again ends everything.
      await links.ended([session]);
      await step((done) => req.session.destroy(done));
      // What was given meanwhile. Later still, it finds the session gone and takes itself back (see `isLive`).
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
    // The password has changed: the session is over, also where nothing has come to end it.
    if (found && (session.passwordEpoch ?? found.passwordEpoch) < found.passwordEpoch) return undefined;
    if (found) await note(req, session);
    return found && found.disabledAt === null ? { user: found, session } : undefined;
  }

  const isSessionLive = async (idHash: string) => (await kv.get(sessionKey(idHash))) !== null;

  const list = (userId: string) => listSessions(kv, userId);
  const find = (userId: string, idHash: string) => findSession(kv, userId, idHash);

  return { createSession, end, isSessionLive, list, find, getCurrentUser, ...endings };
}
