import { Cookie, type SessionData } from 'express-session';
import { KeyValueSessionStore, sessionIdHash, sessionKey } from '../../server/session/session-store.ts';
import { backends, type OpenStores } from '../support/stores.ts';

describe.each(backends)('the session store on $name', ({ open }) => {
  let stores: OpenStores;
  beforeAll(async () => {
    stores = await open();
  });
  afterAll(() => stores?.destroy());

  const newSession = (): SessionData => ({ cookie: new Cookie() });

  it('attack: a session that was ended while its sign-in was answered is not brought back by the second saving', async () => {
    const store = new KeyValueSessionStore(stores.kv, { idleMs: 60_000, maxMs: 3_600_000, rememberMs: 3_600_000 });
    const set = (id: string, session: SessionData) =>
      new Promise<void>((resolve, reject) => store.set(id, session, (error) => (error ? reject(error) : resolve())));
    const session = newSession();
    await set('under-way', session);
    await set('under-way', session);
    const key = sessionKey(sessionIdHash('under-way'));
    expect(await stores.kv.get(key)).not.toBeNull();
    await stores.kv.delete(key);
    await set('under-way', session);
    expect(await stores.kv.get(key)).toBeNull();
    await set('under-way', newSession());
    expect(await stores.kv.get(key)).not.toBeNull();
  });

  describe('the longest lifetime of a session that is not remembered', () => {
    const [minuteMs, hourMs] = [60_000, 60 * 60_000];
    const lifetimes = { idleMs: 2 * hourMs, maxMs: 24 * hourMs, rememberMs: 30 * 24 * hourMs };
    const startedBefore = (ms: number): SessionData => ({
      ...newSession(),
      user: {
        userId: 'u',
        authTimeMs: Date.now() - 3 * ms,
        startedAtMs: Date.now() - ms,
        amr: ['pwd'],
        remember: false,
      },
    });
    afterEach(() => {
      vi.restoreAllMocks();
    });

    it.each([
      ['an hour', hourMs, 2 * hourMs],
      ['23.5 hours', 23.5 * hourMs, 30 * minuteMs],
      ['25 hours', 25 * hourMs, 1],
    ])('begun %s ago: neither writing nor use gives it a later end', async (_what, ms, most) => {
      const store = new KeyValueSessionStore(stores.kv, lifetimes);
      const [set, expire] = [vi.spyOn(stores.kv, 'set'), vi.spyOn(stores.kv, 'expire')];
      const id = `started-${ms}`;
      const session = startedBefore(ms);
      await new Promise((resolve) => store.set(id, session, resolve));
      await new Promise<void>((resolve) => store.touch(id, session, resolve));
      for (const given of [set.mock.calls[0]?.[2], expire.mock.calls[0]?.[1]]) {
        expect(given).toBeLessThanOrEqual(most);
        expect(given).toBeGreaterThan(most - minuteMs);
      }
    });

    it('a session of an earlier release counts from its authentication', async () => {
      const { user, ...rest } = startedBefore(8 * hourMs);
      const { startedAtMs: _, ...before } = user ?? { userId: '', authTimeMs: 0, amr: [], remember: false };
      const set = vi.spyOn(stores.kv, 'set');
      const store = new KeyValueSessionStore(stores.kv, { ...lifetimes, maxMs: 25 * hourMs });
      await new Promise((resolve) => store.set('earlier', { ...rest, user: before }, resolve));
      expect(set.mock.calls[0]?.[2]).toBeLessThanOrEqual(hourMs);
    });
  });
});
