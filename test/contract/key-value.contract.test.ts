import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyValueStore } from '../../server/store/index.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { freshKey, MINUTE_MS, PAST_SHORT_MS, SHORT_MS } from './keys.ts';

describe.each(backends)('key-value store: $name', ({ open }) => {
  let stores: OpenStores;
  let kv: KeyValueStore;

  beforeAll(async () => {
    stores = await open();
    kv = stores.kv;
  });
  afterAll(() => stores.destroy());

  it('The store answers a ping', async () => {
    await expect(kv.ping()).resolves.toBeUndefined();
  });

  describe('values', () => {
    it('The store has nothing under an unknown key', async () => {
      const key = freshKey();
      expect(await kv.get(key)).toBeNull();
      expect(await kv.getConsumable(key)).toBeNull();
      expect(await kv.takeOnce(key)).toBeNull();
      expect(await kv.consume(key)).toEqual({ state: 'unknown' });
      expect(await kv.update(key, 'x')).toBe(false);
      expect(await kv.expire(key, MINUTE_MS)).toBe(false);
      expect(await kv.compareAndDelete(key, 'x')).toBe(false);
      await expect(kv.delete(key)).resolves.toBeUndefined();
    });

    it.each([
      ['an empty text', ''],
      ['a text that looks like the store’s own expiry mark', '!1750000000000=x'],
      ['digits', '42'],
      ['a text of several scripts and symbols', 'Zürich, Ελλάδα, 東京, 👩‍🚀'],
      ['a text with line ends and quotes', 'a\nb\r\n\'"\\'],
      ['a hundred thousand characters', 'x'.repeat(100_000)],
    ])('The store returns what was stored: %s', async (_, value) => {
      const key = freshKey();
      await kv.set(key, value, MINUTE_MS);
      expect(await kv.get(key)).toBe(value);
      expect(await kv.getConsumable(key)).toEqual({ value, consumedAt: null });
      expect(await kv.consume(key)).toEqual({ state: 'consumed', value });
      expect(await kv.get(key)).toBe(value);
      expect(await kv.takeOnce(key)).toBe(value);
    });

    it('The store distinguishes keys that differ in case, length or a colon', async () => {
      const key = freshKey();
      await kv.set(`${key}:a`, 'lower', MINUTE_MS);
      await kv.set(`${key}:A`, 'upper', MINUTE_MS);
      await kv.set(`${key}:a:`, 'colon', MINUTE_MS);
      expect([await kv.get(`${key}:a`), await kv.get(`${key}:A`), await kv.get(`${key}:a:`)]).toEqual([
        'lower',
        'upper',
        'colon',
      ]);
    });

    it('A written entry overwrites the old one and counts as unused again', async () => {
      const key = freshKey();
      await kv.set(key, 'one', MINUTE_MS);
      await kv.consume(key);
      await kv.set(key, 'two', MINUTE_MS);
      expect(await kv.getConsumable(key)).toEqual({ value: 'two', consumedAt: null });
    });

    it('An expired entry is gone for every operation', async () => {
      const keys = Array.from({ length: 8 }, freshKey);
      for (const key of keys) await kv.set(key, 'gone', SHORT_MS);
      expect(await kv.get(keys[0] ?? '')).toBe('gone');
      await sleep(PAST_SHORT_MS);
      const [a = '', b = '', c = '', d = '', e = '', f = '', g = '', h = ''] = keys;
      expect(await kv.get(a)).toBeNull();
      expect(await kv.getConsumable(b)).toBeNull();
      expect(await kv.takeOnce(c)).toBeNull();
      expect(await kv.consume(d)).toEqual({ state: 'unknown' });
      expect(await kv.update(e, 'new')).toBe(false);
      expect(await kv.get(e)).toBeNull();
      expect(await kv.compareAndDelete(f, 'gone')).toBe(false);
      expect(await kv.expire(g, MINUTE_MS)).toBe(false);
      expect(await kv.setIfAbsent(h, 'new', MINUTE_MS)).toBe(true);
      expect(await kv.get(h)).toBe('new');
    });

    it('Each set starts the time to live anew', async () => {
      const key = freshKey();
      await kv.set(key, 'one', SHORT_MS);
      await kv.set(key, 'two', MINUTE_MS);
      await sleep(PAST_SHORT_MS);
      expect(await kv.get(key)).toBe('two');
    });

    it('A fraction of a millisecond is rounded up, and a passed time is the shortest lifetime', async () => {
      const key = freshKey();
      await kv.set(key, 'x', 40.5);
      await kv.set(`${key}b`, 'x', -5);
      await sleep(20);
      expect(await kv.get(`${key}b`)).toBeNull();
      await sleep(80);
      expect(await kv.get(key)).toBeNull();
    });

    it.each([Number.NaN, Number.POSITIVE_INFINITY])(
      'An entry that would live for ever is refused (%s)',
      async (ttlMs) => {
        await expect(kv.set(freshKey(), 'x', ttlMs)).rejects.toThrow(RangeError);
      },
    );

    it('setIfAbsent writes once', async () => {
      const key = freshKey();
      expect(await kv.setIfAbsent(key, 'first', MINUTE_MS)).toBe(true);
      expect(await kv.setIfAbsent(key, 'second', MINUTE_MS)).toBe(false);
      expect(await kv.get(key)).toBe('first');
      await kv.consume(key);
      expect(await kv.setIfAbsent(key, 'third', MINUTE_MS)).toBe(false);
    });

    it('An update keeps the remaining time to live and the mark of use', async () => {
      const key = freshKey();
      await kv.set(key, 'one', SHORT_MS);
      await kv.consume(key);
      expect(await kv.update(key, 'two')).toBe(true);
      const entry = await kv.getConsumable(key);
      expect(entry).toEqual({ value: 'two', consumedAt: expect.any(Number) });
      await sleep(PAST_SHORT_MS);
      expect(await kv.get(key)).toBeNull();
    });

    it('takeOnce gives the value a single time', async () => {
      const key = freshKey();
      await kv.set(key, 'code', MINUTE_MS);
      expect(await kv.takeOnce(key)).toBe('code');
      expect(await kv.takeOnce(key)).toBeNull();
      expect(await kv.get(key)).toBeNull();
    });

    it('A delete removes one key, several keys or none', async () => {
      const [a, b, c] = [freshKey(), freshKey(), freshKey()];
      for (const key of [a, b, c]) await kv.set(key, key, MINUTE_MS);
      await kv.delete();
      await kv.delete(a, b, 'never there');
      expect([await kv.get(a), await kv.get(b), await kv.get(c)]).toEqual([null, null, c]);
    });

    it('compareAndDelete deletes only what is still the expected value, used or not', async () => {
      const key = freshKey();
      await kv.set(key, 'mine', MINUTE_MS);
      expect(await kv.compareAndDelete(key, 'theirs')).toBe(false);
      expect(await kv.compareAndDelete(key, 'min')).toBe(false);
      expect(await kv.compareAndDelete(key, 'mine')).toBe(true);
      expect(await kv.get(key)).toBeNull();
      await kv.set(key, 'mine', MINUTE_MS);
      await kv.consume(key);
      expect(await kv.compareAndDelete(key, 'mine')).toBe(true);
    });

    it('An expire call prolongs and shortens the time to live', async () => {
      const [long, short] = [freshKey(), freshKey()];
      await kv.set(long, 'x', SHORT_MS);
      await kv.set(short, 'x', MINUTE_MS);
      expect(await kv.expire(long, MINUTE_MS)).toBe(true);
      expect(await kv.expire(short, SHORT_MS)).toBe(true);
      await sleep(PAST_SHORT_MS);
      expect([await kv.get(long), await kv.get(short)]).toEqual(['x', null]);
    });
  });

  describe('consume', () => {
    it('A consume distinguishes consumed, already used and unknown entries', async () => {
      const key = freshKey();
      await kv.set(key, 'code', MINUTE_MS);
      const before = Date.now();
      expect(await kv.consume(key)).toEqual({ state: 'consumed', value: 'code' });
      const after = Date.now();
      const second = await kv.consume(key);
      expect(second).toEqual({ state: 'already-used', value: 'code', consumedAt: expect.any(Number) });
      const consumedAt = second.state === 'already-used' ? second.consumedAt : 0;
      expect(consumedAt).toBeGreaterThanOrEqual(before);
      expect(consumedAt).toBeLessThanOrEqual(after);
      await sleep(5);
      expect(await kv.consume(key)).toEqual(second);
      expect(await kv.getConsumable(key)).toEqual({ value: 'code', consumedAt });
      await kv.delete(key);
      expect(await kv.consume(key)).toEqual({ state: 'unknown' });
    });

    it('A consume does not prolong the entry', async () => {
      const key = freshKey();
      await kv.set(key, 'code', SHORT_MS);
      await kv.consume(key);
      await sleep(PAST_SHORT_MS);
      expect(await kv.consume(key)).toEqual({ state: 'unknown' });
    });
  });

  it('Many operations of one turn do not disturb each other', async () => {
    const base = freshKey();
    const keys = Array.from({ length: 1000 }, (_, index) => `${base}:${index}`);
    await Promise.all(keys.map((key) => kv.set(key, key, MINUTE_MS)));
    expect(await Promise.all(keys.map((key) => kv.get(key)))).toEqual(keys);
    const shared = `${base}:counter`;
    const counts = await Promise.all(keys.map(() => kv.consumeCount(shared, MINUTE_MS)));
    expect(new Set(counts.map(({ count }) => count)).size).toBe(keys.length);
    await kv.delete(...keys);
    expect(await Promise.all(keys.map((key) => kv.get(key)))).toEqual(keys.map(() => null));
  });

  it('A faulty call fails alone', async () => {
    const [good, bad] = [freshKey(), freshKey()];
    const outcome = await Promise.allSettled([
      kv.set(good, 'x', MINUTE_MS),
      kv.set(bad, 'x', Number.NaN),
      kv.consumeCount(`${good}:n`, MINUTE_MS),
    ]);
    expect(outcome.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await kv.get(good)).toBe('x');
  });
});
