import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { sessionFactsKey, sessionIdHash } from '../../server/sessions/session.ts';
import { RedisSessionStore } from '../../server/sessions/session-stores.ts';
import { type KeyValueStore, openKeyValue } from '../../server/store/index.ts';
import { toSessionId, toUserId } from '../support/ids.ts';
import { leftOut, type Service, startRedis } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { destroy, get, newSession, set, touch } from './stored-sessions.ts';

const hourMs = 60 * 60_000;
const lifetimes = { idleMs: hourMs, maxMs: 24 * hourMs, rememberMs: 24 * hourMs };

if (!leftOut('redis')) {
  describe('sessions in Redis', () => {
    let service: Service;
    let kv: KeyValueStore;
    let store: RedisSessionStore;
    let reader: Redis;
    beforeAll(async () => {
      service = await startRedis();
      kv = await openKeyValue({ url: service.url, dataDir: '.' });
      if (!kv.redis) throw new Error('the key-value store is not Redis');
      store = new RedisSessionStore(kv.redis, lifetimes);
      reader = new Redis(service.url);
    });
    afterAll(async () => {
      reader?.disconnect();
      await kv?.close();
      await service?.stop();
    });

    it('Attack: Redis holds no session id in clear, and no command carries one', async () => {
      const id = randomBytes(32).toString('base64url');
      const commands: string[] = [];
      const monitor = await reader.monitor();
      monitor.on('monitor', (_time: string, words: string[]) => commands.push(words.join(' ')));
      const session = newSession();
      await set(store, id, session);
      // As it is stored already: no command.
      await set(store, id, session);
      session.user = { userId: toUserId('u'), authTimeMs: Date.now(), amr: ['pwd'], remember: false };
      await set(store, id, session);
      await get(store, id);
      await touch(store, id, session);
      const entries = await readAll(reader);
      await destroy(store, id);
      await get(store, id);
      await waitFor(() => expect(commands.filter((words) => words.startsWith('get '))).toHaveLength(3));
      monitor.disconnect();

      const hash = sessionIdHash(toSessionId(id));
      expect(entries.map(([key]) => key)).toEqual([`foyer:session:${hash}`]);
      expect(entries.join('\n')).not.toContain(id);
      const ofSessions = commands.filter((words) => words.includes(hash)).map((words) => words.split(' ')[0]);
      // The second "get" is this test's own.
      expect(ofSessions).toEqual(['set', 'set', 'get', 'pexpire', 'get', 'del', 'get']);
      expect(commands.join('\n')).not.toContain(id);
    });

    it('A value has the header of the key-value store, which the previous release and the key-value store read', async () => {
      await set(store, 'header', newSession());
      const stored = await reader.get(`foyer:session:${sessionIdHash(toSessionId('header'))}`);
      expect(stored).toMatch(/^=\{"cookie":\{/);
      expect(`=${await kv.get(`session:${sessionIdHash(toSessionId('header'))}`)}`).toBe(stored);
      await destroy(store, 'header');
    });

    it('One DEL deletes the record and the facts, so that no failure leaves one of the two', async () => {
      await set(store, 'both', newSession());
      await kv.set(sessionFactsKey(sessionIdHash(toSessionId('both'))), '{}', hourMs);
      const del = kv.redis && jest.spyOn(kv.redis, 'del');
      await destroy(store, 'both');
      expect(del?.mock.calls).toHaveLength(1);
      del?.mockRestore();
      expect(await readAll(reader)).toEqual([]);
    });

    it('A callback that throws is called once, and its error is not taken for one of the store', async () => {
      const callback = jest.fn(() => {
        throw new Error('thrown by the caller');
      });
      await expect(store.get('none', callback)).rejects.toThrow('thrown by the caller');
      expect(callback.mock.calls).toEqual([[null, null]]);
    });

    it('The calls of connect-redis that scan all keys are refused: they would reach every entry of Redis', async () => {
      await kv.set('something-else', 'x', hourMs);
      const refused = /never by a scan/;
      await expect(store.clear()).rejects.toThrow(refused);
      await expect(store.all()).rejects.toThrow(refused);
      await expect(store.ids()).rejects.toThrow(refused);
      await expect(store.length()).rejects.toThrow(refused);
      expect(await kv.get('something-else')).toBe('x');
    });
  });
}

/** Keys and values of all entries. */
async function readAll(redis: Redis): Promise<[string, string | null][]> {
  const keys = await redis.keys('*');
  return Promise.all(keys.map(async (key): Promise<[string, string | null]> => [key, await redis.get(key)]));
}
