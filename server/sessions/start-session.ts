import { randomBytes } from 'node:crypto';
import type { Request } from 'express';
import { HttpError, type HttpExchange } from '../http/index.ts';
import { type Metrics, toSessionId, type UserId } from '../shared/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import { findCurrentUser, type User } from '../users/index.ts';
import {
  type CurrentSession,
  type Lifetimes,
  type SessionUser,
  sessionIdHash,
  type UpstreamSession,
} from './session.ts';
import type { SessionHooks } from './session-hooks.ts';
import { indexUpstreamSession } from './upstream-sessions.ts';
import {
  factsLifetimeMs,
  goingOnKey,
  goingOnMs,
  listSessionHashes,
  readClientInfo,
  readSessionFacts,
  type SessionUse,
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

/** One sign-in in progress. */
interface SessionStart extends HttpExchange {
  readonly user: User;
  readonly how: AuthenticationInfo;
  /** The session of this browser until now. */
  readonly before: CurrentSession | undefined;
}

interface SessionStartDeps {
  kv: KeyValueStore;
  database: Database;
  lifetimes: Lifetimes;
  metrics: Metrics;
  now: () => number;
  hooks: SessionHooks;
  use: SessionUse;
  /** Ends the sessions beyond the limit of a user. */
  limit(userId: UserId): Promise<void>;
  /** The signed-in user of each request. */
  users: WeakMap<Request, Promise<User | undefined>>;
}

/** Tests whether a session may start: for every caller, a user with a second factor must have presented it. */
function hasAllFactors({ mfaPreference }: User, { amr, onRememberedDevice, authTimeMs }: AuthenticationInfo): boolean {
  return mfaPreference === 'none' || amr.includes('mfa') || onRememberedDevice === true || authTimeMs !== undefined;
}

export const step = (run: (done: (error?: unknown) => void) => void): Promise<void> =>
  new Promise<void>((resolve, reject) => run((error) => (error ? reject(error) : resolve())));

/**
 * Signs a user in under a new session id. An error leaves no new session behind: a browser that has got an error page
 * must not be signed in.
 * @throws {HttpError} unauthorized if the sign-in is not allowed any more
 */
export async function startSession(deps: SessionStartDeps, start: SessionStart): Promise<CurrentSession> {
  const { req, res, user, before } = start;
  const takeBack = takingBack(deps, start);
  try {
    const after = await writeSession(deps, start);
    await verifyStillAllowed(deps, start, after);
    deps.users.set(req, Promise.resolve(user));
    if (before) await replacePrevious(deps, before, after);
    const started = { req, res, user, session: after };
    await deps.hooks.onSessionStarted(started);
    if (!start.how.onlyIfLive) await deps.hooks.afterSignIn(started);
    return after;
  } catch (error) {
    await takeBack();
    throw error;
  }
}

/** @returns ends the session that has been created since, with all that its answer would give the browser */
function takingBack(
  { hooks, kv, users }: Pick<SessionStartDeps, 'hooks' | 'kv' | 'users'>,
  { req, res, user }: SessionStart,
): () => Promise<void> {
  const { id: idBefore } = req.session;
  const cookiesBefore = res.getHeader('Set-Cookie');
  return async () => {
    // `refuse` has ended it already, or it has not begun.
    if (!req.session || req.session.id === idBefore) return;
    const idHash = sessionIdHash(toSessionId(req.session.id));
    users.delete(req);
    if (cookiesBefore === undefined) res.removeHeader('Set-Cookie');
    else res.setHeader('Set-Cookie', cookiesBefore);
    // It removes the session from the request first, and with it the cookie from the answer, even if the store is away.
    const destroyed = step((done) => req.session.destroy(done));
    await Promise.allSettled([
      destroyed,
      hooks.onSessionsEnded([{ idHash, userId: user.id }]),
      kv.removeFromSet(userSessionsKey(user.id), idHash),
    ]);
  };
}

interface StartTimes {
  /** The session of the same user that continues. */
  own: CurrentSession | undefined;
  authTimeMs: number;
  nowMs: number;
}

function toSessionUser(
  { user, how }: SessionStart,
  { own, authTimeMs, nowMs }: StartTimes,
): SessionUser & { startedAtMs: number } {
  const { amr, remember, onRememberedDevice } = how;
  const upstream = how.upstream ?? own?.upstream;
  return {
    userId: user.id,
    authTimeMs,
    amr,
    remember,
    startedAtMs: how.authTimeMs === undefined ? nowMs : (own?.startedAtMs ?? how.authTimeMs),
    passwordEpoch: user.passwordEpoch,
    browserId: own?.browserId ?? randomBytes(16).toString('base64url'),
    ...(onRememberedDevice && { onRememberedDevice }),
    ...(upstream && { upstream }),
  };
}

/** Replaces the session of this browser by a new one of the user, and adds it to the user's list. */
async function writeSession(deps: SessionStartDeps, start: SessionStart): Promise<CurrentSession> {
  const { kv, hooks, lifetimes, now } = deps;
  const { rememberMs, idleMs } = lifetimes;
  const { req, user, how, before } = start;
  const authTimeMs = how.authTimeMs ?? Math.min(now(), how.shownAtMs ?? Number.POSITIVE_INFINITY);
  // Another user's session first: once its record is gone, its dependent data could not be found.
  if (before && before.userId !== user.id) await hooks.onSessionsEnded([before]);
  const own = before?.userId === user.id ? before : undefined;
  const known = own && (await readSessionFacts(kv, own.idHash));
  if (own) await kv.set(goingOnKey(own.idHash), '1', goingOnMs);
  await step((done) => req.session.regenerate(done));
  const nowMs = now();
  const sessionUser = toSessionUser(start, { own, authTimeMs, nowMs });
  req.session.user = sessionUser;
  if (how.remember) req.session.cookie.maxAge = Math.max(1, sessionUser.startedAtMs + rememberMs - nowMs);
  const after = { ...sessionUser, idHash: sessionIdHash(toSessionId(req.session.id)) };
  const listMs = Math.max(rememberMs, idleMs) * 2;
  const list = () => kv.addToSet(userSessionsKey(user.id), after.idHash, listMs);
  const facts = { ip: '', ...readClientInfo(req), createdAtMs: known?.createdAtMs ?? nowMs, lastUsedAtMs: nowMs };
  const ttlMs = factsLifetimeMs(lifetimes, how.remember);
  // Sent together in this order, so that they share a transaction or a round trip. The list comes before the session,
  // because one outside the list could not be ended from elsewhere; and again after it, because `endAllSessions` may
  // have emptied the list in between.
  await Promise.all([
    writeSessionFacts(kv, after.idHash, { facts, ttlMs }),
    list(),
    step((done) => req.session.save(done)),
    list(),
  ]);
  deps.use.markRecorded(after.idHash, nowMs);
  const isNamedThere = after.upstream?.saml !== undefined || after.upstream?.oidc !== undefined;
  if (isNamedThere) await indexUpstreamSession(kv, after, listMs);
  await deps.limit(user.id);
  return after;
}

async function refuse(req: Request, detail: string): Promise<never> {
  await step((done) => req.session.destroy(done));
  throw new HttpError('unauthorized', { detail });
}

/** The checks after the session is in the list: what changed before that did not find the session. */
async function verifyStillAllowed(
  { kv, database, hooks }: SessionStartDeps,
  { req, user, how, before }: SessionStart,
  after: CurrentSession,
): Promise<void> {
  // The password may have been reset, or the user disabled, while the password was being checked. If the sessions
  // were ended before this one was in the list, this check finds it; if later, the list has it.
  const current = await findCurrentUser(database, user.id);
  if (!current || current.disabledAt !== null || current.passwordEpoch !== user.passwordEpoch) {
    return refuse(req, 'password has changed or user is disabled');
  }
  if (how.onlyIfLive && before && !(await listSessionHashes(kv, user.id)).includes(before.idHash)) {
    await step((done) => req.session.destroy(done));
    await kv.removeFromSet(userSessionsKey(user.id), after.idHash);
    throw new HttpError('unauthorized', { detail: 'session has ended' });
  }
  if (!hasAllFactors(current, how)) return refuse(req, 'second factor required but not presented');
  try {
    if (!(await hooks.beforeSignIn(req, current))) {
      throw new HttpError('unauthorized', { detail: 'user was erased' });
    }
  } catch (error) {
    // Also if the hook failed: no user may be signed in without it.
    await step((done) => req.session.destroy(done));
    throw error;
  }
}

/** The earlier session of this browser leaves its list, and its dependent data are moved or end. */
async function replacePrevious(
  { kv, hooks, metrics }: SessionStartDeps,
  before: CurrentSession,
  after: CurrentSession,
): Promise<void> {
  await kv.removeFromSet(userSessionsKey(before.userId), before.idHash);
  if (before.userId === after.userId) await hooks.onSessionReplaced(before, after);
  else await hooks.onSessionsEnded([before]);
  metrics.sessionEnded('replaced');
}
