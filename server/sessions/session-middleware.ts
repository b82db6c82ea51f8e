import type { Request, RequestHandler, Response } from 'express';
import session from 'express-session';
import type { HostCookies } from '../http/index.ts';
import { randomToken, sha256 } from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import { getCurrentSession, type Lifetimes } from './session.ts';
import { EmbeddedSessionStore, RedisSessionStore } from './session-stores.ts';

export const sessionCookie = 'foyer_session';

export function createSessionStore(kv: KeyValueStore, lifetimes: Lifetimes): RedisSessionStore | EmbeddedSessionStore {
  return kv.redis ? new RedisSessionStore(kv.redis, lifetimes) : new EmbeddedSessionStore(kv, lifetimes);
}

/** Loads the session of a request. Visitors get one only when they sign in. */
export function sessionMiddleware(settings: {
  kv: KeyValueStore;
  cookies: HostCookies;
  cookieKeys: string[];
  lifetimes: Lifetimes;
}): RequestHandler {
  const { httpOnly, sameSite, path, secure } = settings.cookies.options;
  return session({
    name: settings.cookies.name(sessionCookie),
    secret: settings.cookieKeys,
    store: createSessionStore(settings.kv, settings.lifetimes),
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
