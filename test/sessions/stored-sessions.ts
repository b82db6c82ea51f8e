import { Cookie, type SessionData } from 'express-session';
import type { createSessionStore } from '../../server/sessions/session-stores.ts';
import type { KeyValueStore } from '../../server/store/index.ts';

/** Calls of express-session to its store as promises. */

type SessionStore = ReturnType<typeof createSessionStore>;
type Done<T> = (error: unknown, value?: T) => void;

const call = <T>(run: (done: Done<T>) => void) =>
  new Promise<T | undefined>((resolve, reject) => run((error, value) => (error ? reject(error) : resolve(value))));

export const get = (store: SessionStore, id: string) => call<SessionData | null>((done) => void store.get(id, done));
/** As express-session reads a session for a request. */
export const load = (store: SessionStore, id: string) => call<SessionData>((done) => store.load(id, done));
export const set = (store: SessionStore, id: string, session: SessionData) =>
  call((done) => void store.set(id, session, done));
export const destroy = (store: SessionStore, id: string) => call((done) => void store.destroy(id, done));
export const touch = (store: SessionStore, id: string, session: SessionData) =>
  new Promise<void>((resolve) => void store.touch(id, session, resolve));

export const newSession = (): SessionData => ({ cookie: new Cookie() });

/** A session whose cookie says when it ends. */
export function remembered(ms: number): SessionData {
  const session = newSession();
  session.cookie.maxAge = ms;
  return session;
}

/** The times to live that reach the store: on Redis as commands of the connection, else as calls of the key-value contract. */
export function watchTimesToLive(kv: KeyValueStore): { created(): number[]; renewed(): number[] } {
  if (kv.redis) {
    const [created, renewed] = [jest.spyOn(kv.redis, 'set'), jest.spyOn(kv.redis, 'pexpire')];
    return {
      created: () => created.mock.calls.flatMap(([, , option, ttlMs]) => (option === 'PX' ? [ttlMs] : [])),
      renewed: () => renewed.mock.calls.map(([, ttlMs]) => ttlMs),
    };
  }
  const [created, renewed] = [jest.spyOn(kv, 'set'), jest.spyOn(kv, 'expire')];
  return {
    created: () => created.mock.calls.map(([, , ttlMs]) => ttlMs),
    renewed: () => renewed.mock.calls.map(([, ttlMs]) => ttlMs),
  };
}

/** Does `work`, and `act` just before the first session of it is written, on either store. */
export async function beforeSessionWrite(
  kv: KeyValueStore,
  act: () => Promise<void>,
  work: () => Promise<unknown>,
): Promise<void> {
  let acted = false;
  const beforeWrite = async (key: string) => {
    if (acted || !key.startsWith('session:')) return;
    acted = true;
    await act();
  };
  const { set, redis } = kv;
  const redisSet = redis?.set;
  kv.set = async (key, ...rest) => {
    await beforeWrite(key);
    return set.call(kv, key, ...rest);
  };
  if (redis && redisSet) {
    redis.set = async (key, ...rest) => {
      await beforeWrite(key);
      return redisSet.call(redis, key, ...rest);
    };
  }
  try {
    await work();
  } finally {
    kv.set = set;
    if (redis && redisSet) redis.set = redisSet;
  }
}
