import type { Request, Response } from 'express';
import { currentUser, type User } from '../account/index.ts';
import { type HostCookies, HttpError } from '../http/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import { sessionCookie } from './middleware.ts';
import { type CurrentSession, currentSession, type UpstreamSession } from './session.ts';
import {
  endSessions,
  factsOf,
  findUpstream,
  type ListedSession,
  listSessions,
  listUpstream,
  noteEveryMs,
  noteUse,
  putFacts,
  seenIn,
  sessionsOf,
} from './session-list.ts';
import { sessionIdHash, sessionKey } from './session-store.ts';

/**
 * What hangs on a session elsewhere: the OpenID Provider's session and the client apps' grants. `app.ts` connects
 * them, because this room does not know that one.
 */
export interface SessionLinks {
  /** After a sign-in: the provider's session is replaced in the same answer (`security.md`, rule 4). */
  began(req: Request, res: Response, session: CurrentSession): Promise<void>;
  /** The same member signed in again in the same browser: what hung on the old session now hangs on the new one. */
  replaced(before: CurrentSession, after: CurrentSession): Promise<void>;
  /** Everything that hung on the session ends. */
  ended(session: { idHash: string; userId: string }): Promise<void>;
  /** Everything of the member ends, also what no session's record names any more. */
  allEnded(userId: string): Promise<void>;
  /** What the member gave in other sessions than this one, and that outlives them, ends. */
  othersEnded(userId: string, keepIdHash: string): Promise<void>;
  /** The browser's own provider cookie goes. */
  cleared(req: Request, res: Response): Promise<void>;
}

/** How a member has shown who they are. */
export interface SignedInBy {
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
function showedAll({ mfaPreference }: User, { amr, onRememberedDevice, authTimeMs }: SignedInBy): boolean {
  return mfaPreference === 'none' || amr.includes('mfa') || onRememberedDevice === true || authTimeMs !== undefined;
}

export interface Sessions {
  /** Signs in: a new session id, whatever there was before. @throws {HttpError} unauthorized when a factor is missing */
  begin(req: Request, res: Response, user: User, how: SignedInBy): Promise<CurrentSession>;
  /** Signs this browser out, with everything that hangs on its session. */
  end(req: Request, res: Response): Promise<void>;
  /** Ends every session of a member; answers how many there were. */
  endAll(userId: string): Promise<number>;
  /** The browsers in which a member is signed in, the last used first. */
  list(userId: string): Promise<ListedSession[]>;
  /** Signs one of them out, with everything that hangs on it; false when the member has no such session (any more). */
  endOne(userId: string, idHash: string): Promise<boolean>;
  /** Signs all of them out but one; answers how many there were. */
  endOthers(userId: string, keepIdHash: string): Promise<number>;
  /**
   * Ends the sessions of a person whom a provider has signed out, by the names that it calls them; answers how many.
   * @param indexes of its sessions; empty: all of the person
   */
  endUpstream(provider: string, nameId: string, indexes: readonly string[]): Promise<number>;
  /** Whether the session has not ended since the request began. */
  isLive(idHash: string): Promise<boolean>;
  /** The signed-in member of this request, or undefined: also when disabled or gone. Read once per request. */
  member(req: Request): Promise<{ user: User; session: CurrentSession } | undefined>;
}

interface Settings {
  kv: KeyValueStore;
  database: Database;
  cookies: HostCookies;
  rememberMs: number;
  idleMs: number;
  metrics: Metrics;
  now: () => number;
  links: SessionLinks;
  /** Every sign-in passes here, whichever way it came, before it counts. @returns false when the member is gone by now */
  signedIn?(req: Request, user: User): Promise<boolean>;
}

const step = (run: (done: (error?: unknown) => void) => void) =>
  new Promise<void>((resolve, reject) => run((error) => (error ? reject(error) : resolve())));

/** How many sessions of a member are open at this moment. */
export async function countSessions(kv: KeyValueStore, userId: string): Promise<number> {
  return (await listSessions(kv, userId)).length;
}

/**
 * Ends every session of a member with everything that hangs on them, also what no session names any more; answers how
 * many were open. It needs no browser, so the command line ends sessions by the same rule.
 */
export async function endAllSessions(
  kv: KeyValueStore,
  links: Pick<SessionLinks, 'ended' | 'allEnded'>,
  userId: string,
): Promise<number> {
  const open = await endSessions(kv, links, userId, await kv.setMembers(sessionsOf(userId)));
  await links.allEnded(userId);
  return open;
}

export function createSessions(settings: Settings): Sessions {
  const { kv, database, cookies, rememberMs, idleMs, metrics, now, links } = settings;
  const members = new WeakMap<Request, Promise<User | undefined>>();
  const notedAt = new Map<string, number>();
  // A session that is used is renewed about a minute late (session-store.ts).
  const factsMs = (remember: boolean) => (remember ? rememberMs : idleMs + 2 * noteEveryMs);

  /** What the list of devices shows is a help: a session goes on where it cannot be written down. */
  async function note(req: Request, { idHash, remember }: CurrentSession): Promise<void> {
    const nowMs = now();
    const before = notedAt.get(idHash);
    if (before !== undefined && Math.abs(nowMs - before) < noteEveryMs) return;
    if (notedAt.size > 10_000) notedAt.clear();
    notedAt.set(idHash, nowMs);
    const ttlMs = remember ? undefined : factsMs(remember);
    await noteUse(kv, idHash, { ...seenIn(req), lastUsedAtMs: nowMs }, ttlMs).catch(() => notedAt.delete(idHash));
  }

  /** As {@link Sessions.begin}; a session that was there before has ended where it does not go on, with all that hung on it. */
  async function begin(req: Request, res: Response, user: User, how: SignedInBy): Promise<CurrentSession> {
    const before = currentSession(req);
    try {
      return await beginAfter(before, req, res, user, how);
    } catch (error) {
      if (before && !(await isLive(before.idHash).catch(() => true))) await links.ended(before).catch(() => {});
      throw error;
    }
  }

  async function beginAfter(
    before: CurrentSession | undefined,
    req: Request,
    res: Response,
    user: User,
    how: SignedInBy,
  ): Promise<CurrentSession> {
    const { amr, remember, authTimeMs = Math.min(now(), how.shownAtMs ?? Number.POSITIVE_INFINITY) } = how;
    // Another member's first of all: once their session is gone, nothing could find what hangs on it any more.
    if (before && before.userId !== user.id) await links.ended(before);
    const known = before?.userId === user.id ? await factsOf(kv, before.idHash) : undefined;
    await step((done) => req.session.regenerate(done));
    const { onRememberedDevice } = how;
    const upstream = how.upstream ?? (before?.userId === user.id ? before.upstream : undefined);
    req.session.user = {
      userId: user.id,
      authTimeMs,
      amr,
      remember,
      ...(onRememberedDevice && { onRememberedDevice }),
      ...(upstream && { upstream }),
    };
    if (remember) req.session.cookie.maxAge = rememberMs;
    const after = { ...req.session.user, idHash: sessionIdHash(req.session.id) };
    // Before, because a session that stands in no list could not be ended from elsewhere; and again after, because
    // `endAllSessions` may have emptied the list in between.
    const listMs = Math.max(rememberMs, idleMs) * 2;
    const list = () => kv.addToSet(sessionsOf(user.id), after.idHash, listMs);
    await list();
    const nowMs = now();
    const facts = { ip: '', ...seenIn(req), createdAtMs: known?.createdAtMs ?? nowMs, lastUsedAtMs: nowMs };
    await putFacts(kv, after.idHash, facts, factsMs(remember));
    notedAt.set(after.idHash, nowMs);
    await step((done) => req.session.save(done));
    await Promise.all([list(), listUpstream(kv, after, listMs)]);
    // Set anew, or the member disabled, while the password was being checked: what ended their sessions may have come too
    // early for this one, but then it is seen here; later, it finds this one in the list.
    const current = await currentUser(database, user.id);
    if (!current || current.disabledAt !== null || current.passwordEpoch !== user.passwordEpoch) {
      await step((done) => req.session.destroy(done));
      throw new HttpError('unauthorized', { detail: 'the password was set anew, or the member disabled, meanwhile' });
    }
    if (how.onlyIfLive && before && !(await kv.setMembers(sessionsOf(user.id))).includes(before.idHash)) {
      await step((done) => req.session.destroy(done));
      await kv.removeFromSet(sessionsOf(user.id), after.idHash);
      throw new HttpError('unauthorized', { detail: 'the session was ended meanwhile' });
    }
    if (!showedAll(current, how)) {
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
      await kv.removeFromSet(sessionsOf(before.userId), before.idHash);
      if (before.userId === user.id) await links.replaced(before, after);
      else await links.ended(before);
      metrics.sessionEnded('replaced');
    }
    await links.began(req, res, after);
    metrics.sessionBegun();
    return after;
  }

  async function end(req: Request, res: Response): Promise<void> {
    const session = currentSession(req);
    if (session) {
      // First what hangs on it: where that fails the session is still there, and signing out again ends everything.
      await links.ended(session);
      await step((done) => req.session.destroy(done));
      // What was given meanwhile. Later still, it finds the session gone and takes itself back (see `isLive`).
      await links.ended(session);
      await kv.removeFromSet(sessionsOf(session.userId), session.idHash);
      metrics.sessionEnded('sign-out');
    }
    cookies.clear(res, sessionCookie);
    await links.cleared(req, res);
  }

  async function member(req: Request) {
    const session = currentSession(req);
    if (!session) return undefined;
    let user = members.get(req);
    if (!user) {
      user = currentUser(database, session.userId);
      members.set(req, user);
    }
    const found = await user;
    if (found) await note(req, session);
    return found && found.disabledAt === null ? { user: found, session } : undefined;
  }

  const isLive = async (idHash: string) => (await kv.get(sessionKey(idHash))) !== null;

  async function endAll(userId: string): Promise<number> {
    const count = await endAllSessions(kv, links, userId);
    metrics.sessionEnded('revoked', count);
    return count;
  }

  async function endOne(userId: string, idHash: string): Promise<boolean> {
    // What is not in the member's list is not theirs to end.
    if (!(await kv.setMembers(sessionsOf(userId))).includes(idHash)) return false;
    const count = await endSessions(kv, links, userId, [idHash]);
    metrics.sessionEnded('revoked', count);
    return count > 0;
  }

  async function endOthers(userId: string, keepIdHash: string): Promise<number> {
    const others = async () => (await kv.setMembers(sessionsOf(userId))).filter((idHash) => idHash !== keepIdHash);
    const first = await endSessions(kv, links, userId, await others());
    // One that went on under another id at this moment stands in the list by now.
    const count = first + (await endSessions(kv, links, userId, await others()));
    await links.othersEnded(userId, keepIdHash);
    metrics.sessionEnded('revoked', count);
    return count;
  }

  async function endUpstream(provider: string, nameId: string, indexes: readonly string[]): Promise<number> {
    let count = 0;
    for (const { userId, idHash } of await findUpstream(kv, provider, nameId, indexes)) {
      count += await endSessions(kv, links, userId, [idHash]);
    }
    metrics.sessionEnded('revoked', count);
    return count;
  }

  const list = (userId: string) => listSessions(kv, userId);

  return { begin, end, endAll, endOne, endOthers, endUpstream, isLive, list, member };
}
