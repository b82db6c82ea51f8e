import { Cookie, type SessionData } from 'express-session';
import { KeyValueSessionStore, sessionIdHash, sessionKey } from '../../server/session/session-store.ts';
import type { KeyValueStore } from '../../server/store/index.ts';
import { backends, type OpenStores } from '../support/stores.ts';

const idleMs = 60_000;
const id = 'an id that opens a session';

function sessionOf(maxAgeMs?: number): SessionData {
  const cookie = new Cookie();
  if (maxAgeMs !== undefined) cookie.maxAge = maxAgeMs;
  return { cookie, user: { userId: 'ada', authTimeMs: 1, amr: ['pwd'], remember: maxAgeMs !== undefined } };
}

describe.each(backends)('the store of sessions on $name', (backend) => {
  let stores: OpenStores;
  let store: KeyValueSessionStore;
  /** The times to live that were written, in milliseconds. */
  let written: number[];
  beforeAll(async () => {
    stores = await backend.open();
  });
  afterAll(() => stores?.destroy());
  beforeEach(async () => {
    written = [];
    const { kv } = stores;
    const watched: KeyValueStore = {
      ...kv,
      set: (key, value, ttlMs) => {
        written.push(ttlMs);
        return kv.set(key, value, ttlMs);
      },
      expire: (key, ttlMs) => {
        written.push(ttlMs);
        return kv.expire(key, ttlMs);
      },
    };
    store = new KeyValueSessionStore(watched, { idleMs });
    await kv.delete(sessionKey(sessionIdHash(id)));
  });

  const done = (act: (callback: (error?: unknown) => void) => void) =>
    new Promise<void>((resolve, reject) => act((error) => (error ? reject(error) : resolve())));
  const get = () =>
    new Promise<SessionData | null | undefined>((resolve, reject) =>
      store.get(id, (error, session) => (error ? reject(error) : resolve(session))),
    );

  it('keeps a session under the hash of its id: the id itself is stored nowhere', async () => {
    await done((callback) => store.set(id, sessionOf(), callback));
    expect((await get())?.user?.userId).toBe('ada');
    expect(await stores.kv.get(sessionKey(id))).toBeNull();
    expect(await stores.kv.get(sessionKey(sessionIdHash(id)))).not.toContain(id);
  });

  it('lets a session of the browser go after the idle time, which every use begins anew, now and then', async () => {
    await done((callback) => store.set(id, sessionOf(), callback));
    await done((callback) => store.touch(id, sessionOf(), callback));
    await done((callback) => store.touch(id, sessionOf(), callback));
    expect(written).toEqual([idleMs, idleMs]);
  });

  it('ends a remembered session when it was promised to: no use prolongs it', async () => {
    await done((callback) => store.set(id, sessionOf(1_000_000), callback));
    await done((callback) => store.touch(id, sessionOf(1_000_000), callback));
    expect(written).toHaveLength(1);
    expect(Math.abs((written[0] ?? 0) - 1_000_000)).toBeLessThan(1_000);
  });

  it('an ended session does not come back by a request that was under way', async () => {
    await done((callback) => store.set(id, sessionOf(), callback));
    await done((callback) => store.destroy(id, callback));
    await done((callback) => store.touch(id, sessionOf(), callback));
    expect(await get()).toBeNull();
  });
});
