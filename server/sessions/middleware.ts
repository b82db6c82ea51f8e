import type { RequestHandler } from 'express';
import session from 'express-session';
import type { HostCookies } from '../http/index.ts';
import { randomToken } from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import { EmbeddedSessionStore } from './embedded-session-store.ts';
import type { Lifetimes } from './lifetime.ts';
import { RedisSessionStore } from './redis-session-store.ts';

export const sessionCookie = 'foyer_session';

export function createSessionStore(kv: KeyValueStore, lifetimes: Lifetimes): RedisSessionStore | EmbeddedSessionStore {
  return kv.redis ? new RedisSessionStore(kv.redis, lifetimes) : new EmbeddedSessionStore(kv, lifetimes);
}

/** Loads the session of a request; visitors without one get none until they sign in. */
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
    // http/public-host.ts has settled the scheme; without this a cookie is silently not sent behind a proxy.
    proxy: true,
    resave: false,
    saveUninitialized: false,
    // Not 'destroy': that deletes a session which could not be read, so that a store away for a moment signs members out.
    unset: 'keep',
    cookie: {
      ...(httpOnly !== undefined && { httpOnly }),
      ...(sameSite !== undefined && { sameSite }),
      ...(path !== undefined && { path }),
      secure: secure ?? false,
    },
  });
}
