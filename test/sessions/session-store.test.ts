import { RedisStore } from 'connect-redis';
import { Cookie, type SessionData } from 'express-session';
import { sessionFactsKey, sessionIdHash, sessionKey } from '../../server/sessions/session.ts';
import { createSessionStore, EmbeddedSessionStore } from '../../server/sessions/session-stores.ts';
import { countVisitorData, openKeyValue, StoredDataInvalid, StoreUnavailable } from '../../server/store/index.ts';
import { toSessionId, toUserId } from '../support/ids.ts';
import { entriesIn } from '../support/stored.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { exchange } from './exchange.ts';
import { destroy, get, load, newSession, remembered, set, touch, watchTimesToLive } from './stored-sessions.ts';

const [minuteMs, hourMs] = [60_000, 60 * 60_000];
const lifetimes = { idleMs: 2 * hourMs, maxMs: 24 * hourMs, rememberMs: 30 * 24 * hourMs };

describe.each(backends)('the session store on $name', ({ open, reserve }) => {
  let stores: OpenStores;
  beforeAll(async () => {
    stores = await open();
  });
  afterAll(() => stores?.destroy());
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const keyOf = (id: string) => sessionKey(sessionIdHash(toSessionId(id)));
  const createStore = () => createSessionStore(stores.kv, lifetimes);

  it('The session store on Redis is the RedisStore of connect-redis, and the embedded store has a class of its own', async () => {
    const { urls, remove } = await reserve();
    const options = { url: urls.redisUrl, dataDir: urls.dataDir };
    const kv = await openKeyValue({ ...options, observe: () => {} });
    try {
      // As the product opens it: measured, and with visitors' data counted.
      const store = createSessionStore(countVisitorData(kv, 1_000_000).kv, lifetimes);
      expect(store instanceof RedisStore).toBe(kv.kind === 'redis');
      expect(store instanceof EmbeddedSessionStore).toBe(kv.kind === 'embedded');
    } finally {
      await kv.close();
      await remove();
    }
  });

  it('A session is read as it was written, and an id without a session is no error', async () => {
    const store = createStore();
    const session = {
      ...newSession(),
      user: { userId: toUserId('u'), authTimeMs: Date.now(), amr: ['pwd'], remember: false },
    };
    await set(store, 'read', session);
    expect(await get(store, 'read')).toEqual(JSON.parse(JSON.stringify(session)));
    expect(await get(store, 'unknown')).toBeNull();
  });

  it('Attack: a session that was ended while its sign-in was answered is not restored by the second save', async () => {
    const store = createSessionStore(stores.kv, { idleMs: 60_000, maxMs: 3_600_000, rememberMs: 3_600_000 });
    const session = newSession();
    await set(store, 'under-way', session);
    await set(store, 'under-way', session);
    const key = keyOf('under-way');
    expect(await stores.kv.get(key)).not.toBeNull();
    await stores.kv.delete(key);
    await set(store, 'under-way', session);
    expect(await stores.kv.get(key)).toBeNull();
    session.user = { userId: toUserId('u'), authTimeMs: 1, amr: ['pwd'], remember: false };
    await set(store, 'under-way', session);
    expect(await stores.kv.get(key)).toBeNull();
    await set(store, 'under-way', newSession());
    expect(await stores.kv.get(key)).not.toBeNull();
  });

  it('Attack: a sign-in deletes the session that it replaces, and looks for none of a new visitor', async () => {
    const generate = jest.fn();
    const store = Object.assign(createStore(), { generate });
    const destroyed = jest.spyOn(store, 'destroy');
    const regenerate = (sessionID: string, session: SessionData | undefined) =>
      new Promise<unknown>((resolve) =>
        store.regenerate(Object.assign(exchange({}).req, { sessionID, session, sessionStore: store }), resolve),
      );
    await set(store, 'replaced', newSession());
    await regenerate('replaced', await load(store, 'replaced'));
    expect(await get(store, 'replaced')).toBeNull();
    expect(destroyed).toHaveBeenCalledTimes(1);
    await regenerate('new', newSession());
    expect([destroyed, generate].map(({ mock }) => mock.calls.length)).toEqual([1, 2]);
  });

  it('Attack: a request that has read a session does not restore it by a save after its end', async () => {
    const store = createStore();
    await set(store, 'read-before', newSession());
    const session = (await load(store, 'read-before')) ?? newSession();
    await set(store, 'read-before', session);
    expect(await get(store, 'read-before')).not.toBeNull();
    await destroy(store, 'read-before');
    await set(store, 'read-before', session);
    expect(await get(store, 'read-before')).toBeNull();
  });

  it('A second save changes the value of a live session and leaves its expiry unchanged', async () => {
    const session = remembered(hourMs);
    const store = createStore();
    await set(store, 'saved-twice', session);
    session.cookie.maxAge = 20 * hourMs;
    session.user = { userId: toUserId('u'), authTimeMs: 1, amr: ['otp'], remember: true };
    await set(store, 'saved-twice', session);
    expect((await get(store, 'saved-twice'))?.user?.amr).toEqual(['otp']);
    const [entry] = await entriesIn(stores, keyOf('saved-twice'));
    expect(entry?.ttlMs).toBeLessThanOrEqual(hourMs);
    expect(entry?.ttlMs).toBeGreaterThan(hourMs - minuteMs);
  });

  it('The end of a session deletes its record and the facts beside it', async () => {
    const store = createStore();
    const facts = sessionFactsKey(sessionIdHash(toSessionId('ended')));
    await set(store, 'ended', newSession());
    await stores.kv.set(facts, '{}', minuteMs);
    await destroy(store, 'ended');
    expect([await get(store, 'ended'), await stores.kv.get(facts)]).toEqual([null, null]);
  });

  it('Use renews a session at most once a minute in one process', async () => {
    const store = createStore();
    const session = newSession();
    await set(store, 'used', session);
    const watched = watchTimesToLive(stores.kv);
    const clock = jest.spyOn(Date, 'now');
    const start = Date.now();
    for (const afterMs of [0, 1, 59_999, 60_001, 119_999, 120_002]) {
      clock.mockReturnValue(start + afterMs);
      await touch(store, 'used', session);
    }
    expect(watched.renewed()).toEqual([2 * hourMs, 2 * hourMs, 2 * hourMs]);
  });

  it('A remembered session lives as long as its cookie, and use never prolongs it', async () => {
    const store = createStore();
    const watched = watchTimesToLive(stores.kv);
    const session = remembered(20 * 24 * hourMs);
    await set(store, 'remembered', session);
    await touch(store, 'remembered', session);
    expect(watched.renewed()).toEqual([]);
    const [created] = watched.created();
    expect(created).toBeLessThanOrEqual(20 * 24 * hourMs);
    expect(created).toBeGreaterThan(20 * 24 * hourMs - minuteMs);
  });

  it('A process of the previous release and one of this release share their sessions, both ways', async () => {
    const [before, after] = [new EmbeddedSessionStore(stores.kv, lifetimes), createStore()];
    for (const [name, from, to] of [
      ['upgrade', before, after],
      ['rollback', after, before],
    ] as const) {
      const session = newSession();
      await set(from, name, session);
      expect(await get(to, name)).toEqual(await get(from, name));
      expect(await get(to, name)).not.toBeNull();
      await touch(to, name, session);
      await destroy(to, name);
      await set(from, name, session);
      expect([await get(from, name), await get(to, name)]).toEqual([null, null]);
    }
  });

  it('A record that cannot be read is an error, not a session that has ended', async () => {
    await stores.kv.set(keyOf('broken'), '{"cookie":', minuteMs);
    await expect(get(createStore(), 'broken')).rejects.toThrow(StoredDataInvalid);
    await stores.kv.set(keyOf('malformed'), '{"cookie":{},"user":{"userId":1}}', minuteMs);
    await expect(get(createStore(), 'malformed')).rejects.toThrow(StoredDataInvalid);
  });

  it('A store that does not answer is StoreUnavailable, never a missing session, and a renewal ignores it', async () => {
    const { urls, remove } = await reserve();
    const kv = await openKeyValue({ url: urls.redisUrl, dataDir: urls.dataDir });
    const store = createSessionStore(kv, lifetimes);
    const session = newSession();
    await set(store, 'away', session);
    await kv.close();
    await expect(get(store, 'away')).rejects.toThrow(StoreUnavailable);
    session.user = { userId: toUserId('u'), authTimeMs: 1, amr: ['pwd'], remember: false };
    await expect(set(store, 'away', session)).rejects.toThrow(StoreUnavailable);
    await expect(set(store, 'away', newSession())).rejects.toThrow(StoreUnavailable);
    await expect(destroy(store, 'away')).rejects.toThrow(StoreUnavailable);
    await touch(store, 'away', session);
    await remove();
  });

  it('The session operations of both stores are measured under the same names', async () => {
    const { urls, remove } = await reserve();
    const seen: string[] = [];
    const observe = (operation: string, _durationMs: number, outcome: string) => seen.push(`${operation} ${outcome}`);
    const kv = await openKeyValue({ url: urls.redisUrl, dataDir: urls.dataDir, observe });
    try {
      const store = createSessionStore(kv, lifetimes);
      const session = newSession();
      await set(store, 'measured', session);
      session.user = { userId: toUserId('u'), authTimeMs: 1, amr: ['pwd'], remember: false };
      await set(store, 'measured', session);
      await get(store, 'measured');
      await touch(store, 'measured', session);
      await destroy(store, 'measured');
      expect(seen).toEqual(['set', 'update', 'get', 'expire', 'delete'].map((operation) => `${operation} answered`));
    } finally {
      await kv.close();
      await remove();
    }
  });

  describe('the longest lifetime of a session that is not remembered', () => {
    const startedBefore = (ms: number): SessionData => ({
      ...newSession(),
      user: {
        userId: toUserId('u'),
        authTimeMs: Date.now() - 3 * ms,
        startedAtMs: Date.now() - ms,
        amr: ['pwd'],
        remember: false,
      },
    });

    it.each([
      ['an hour', hourMs, 2 * hourMs],
      ['23.5 hours', 23.5 * hourMs, 30 * minuteMs],
      ['25 hours', 25 * hourMs, 1],
    ])('A session that started %s ago gets no later end by writing or use', async (_what, ms, most) => {
      const store = createStore();
      const watched = watchTimesToLive(stores.kv);
      const id = `started-${ms}`;
      const session = startedBefore(ms);
      await set(store, id, session);
      await touch(store, id, session);
      for (const given of [watched.created()[0], watched.renewed()[0]]) {
        expect(given).toBeLessThanOrEqual(most);
        expect(given).toBeGreaterThan(most - minuteMs);
      }
    });

    it('A session of an earlier release counts from its authentication', async () => {
      const { user, ...rest } = startedBefore(8 * hourMs);
      const { startedAtMs: _, ...before } = user ?? { userId: toUserId(''), authTimeMs: 0, amr: [], remember: false };
      const watched = watchTimesToLive(stores.kv);
      const store = createSessionStore(stores.kv, { ...lifetimes, maxMs: 25 * hourMs });
      await set(store, 'earlier', { ...rest, cookie: new Cookie(), user: before });
      expect(watched.created()[0]).toBeLessThanOrEqual(hourMs);
    });
  });
});
