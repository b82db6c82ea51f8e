import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyValueStore } from '../../server/store/index.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { freshKey, MINUTE_MS, PAST_SHORT_MS, SHORT_MS } from './keys.ts';

describe.each(backends)('counters and sets: $name', ({ open }) => {
  let stores: OpenStores;
  let kv: KeyValueStore;

  beforeAll(async () => {
    stores = await open();
    kv = stores.kv;
  });
  afterAll(() => stores.destroy());

  describe('counters', () => {
    it('A counter counts from zero, up and down, and never below zero', async () => {
      const key = freshKey();
      expect(await kv.count(key)).toBe(0);
      expect((await kv.consumeCount(key, MINUTE_MS)).count).toBe(1);
      expect((await kv.consumeCount(key, MINUTE_MS, 4)).count).toBe(5);
      expect((await kv.consumeCount(key, MINUTE_MS, -2)).count).toBe(3);
      expect((await kv.consumeCount(key, MINUTE_MS, -20)).count).toBe(0);
      expect((await kv.consumeCount(key, MINUTE_MS)).count).toBe(1);
      expect(await kv.count(key)).toBe(1);
      expect((await kv.consumeCount(freshKey(), MINUTE_MS, -1)).count).toBe(0);
    });

    it('A counter lives from its first increment on, and later increments do not prolong it', async () => {
      const key = freshKey();
      const first = await kv.consumeCount(key, SHORT_MS);
      expect(first.expiresInMs).toBeGreaterThan(SHORT_MS - 60);
      expect(first.expiresInMs).toBeLessThanOrEqual(SHORT_MS);
      await sleep(50);
      const second = await kv.consumeCount(key, MINUTE_MS);
      expect(second.count).toBe(2);
      expect(second.expiresInMs).toBeLessThanOrEqual(SHORT_MS - 40);
      await sleep(PAST_SHORT_MS - 50);
      expect(await kv.count(key)).toBe(0);
      expect(await kv.consumeCount(key, MINUTE_MS)).toEqual({ count: 1, expiresInMs: expect.any(Number) });
    });

    it('A counter lives no longer than its last call says, as after a clock that was set back', async () => {
      for (const by of [1, -1]) {
        const key = freshKey();
        await kv.consumeCount(key, MINUTE_MS, 3);
        const { count, expiresInMs } = await kv.consumeCount(key, SHORT_MS, by);
        expect(count).toBe(3 + by);
        expect(expiresInMs).toBeLessThanOrEqual(SHORT_MS);
        await sleep(PAST_SHORT_MS);
        expect(await kv.count(key)).toBe(0);
      }
    });

    it('A decrement to zero keeps the counter’s time to live', async () => {
      const key = freshKey();
      await kv.consumeCount(key, SHORT_MS);
      await kv.consumeCount(key, MINUTE_MS, -3);
      await kv.consumeCount(key, MINUTE_MS);
      await sleep(PAST_SHORT_MS);
      expect(await kv.count(key)).toBe(0);
    });

    it('A counter can be deleted and given another time to live', async () => {
      const key = freshKey();
      await kv.consumeCount(key, MINUTE_MS);
      await kv.delete(key);
      expect(await kv.count(key)).toBe(0);
      await kv.consumeCount(key, MINUTE_MS);
      expect(await kv.expire(key, SHORT_MS)).toBe(true);
      await sleep(PAST_SHORT_MS);
      expect(await kv.count(key)).toBe(0);
    });
  });

  describe('sets', () => {
    const sorted = async (key: string) => (await kv.setMembers(key)).sort();

    it('A set adds, lists and removes members, each once', async () => {
      const key = freshKey();
      expect(await kv.setMembers(key)).toEqual([]);
      await kv.removeFromSet(key, 'a');
      await kv.addToSet(key, 'b', MINUTE_MS);
      await kv.addToSet(key, 'a', MINUTE_MS);
      await kv.addToSet(key, 'a', MINUTE_MS);
      expect(await sorted(key)).toEqual(['a', 'b']);
      await kv.removeFromSet(key, 'a');
      await kv.removeFromSet(key, 'never there');
      expect(await sorted(key)).toEqual(['b']);
      await kv.delete(key);
      expect(await kv.setMembers(key)).toEqual([]);
    });

    it('A set lives as long as its longest member and is never shortened', async () => {
      const [prolonged, kept] = [freshKey(), freshKey()];
      await kv.addToSet(prolonged, 'a', SHORT_MS);
      await kv.addToSet(prolonged, 'b', MINUTE_MS);
      await kv.addToSet(kept, 'a', MINUTE_MS);
      await kv.addToSet(kept, 'b', SHORT_MS);
      await sleep(PAST_SHORT_MS);
      expect(await sorted(prolonged)).toEqual(['a', 'b']);
      expect(await sorted(kept)).toEqual(['a', 'b']);
    });

    it('Members of an expired set do not come back', async () => {
      const key = freshKey();
      await kv.addToSet(key, 'old', SHORT_MS);
      await sleep(PAST_SHORT_MS);
      expect(await kv.setMembers(key)).toEqual([]);
      await kv.addToSet(key, 'new', MINUTE_MS);
      expect(await kv.setMembers(key)).toEqual(['new']);
    });
  });
});
