import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { sha256 } from '../../server/shared/index.ts';
import {
  acceptFormerNames,
  browserRecords,
  createSecretBox,
  type KeyValueStore,
  StoredDataInvalid,
  storedRecords,
  UnsealError,
} from '../../server/store/index.ts';
import { toFlowId } from '../support/ids.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { MINUTE_MS, PAST_SHORT_MS, SHORT_MS } from './keys.ts';

const schema = z.object({ userId: z.string(), attempts: z.number() });
const value = { userId: 'ada', attempts: 1 };
const box = createSecretBox(['a secret key of this test'], 'records of this test');

describe.each(backends)('browserRecords on $name', ({ open }) => {
  let stores: OpenStores;
  let kv: KeyValueStore;
  beforeAll(async () => {
    stores = await open();
    kv = stores.kv;
  });
  afterAll(() => stores.destroy());

  const sealed = (kind = 'sealed', ttlMs = MINUTE_MS) => browserRecords({ kv, kind, schema, ttlMs, seal: box });
  const plain = (kind = 'plain') => browserRecords({ kv, kind, schema, ttlMs: MINUTE_MS });

  it.each([
    ['sealed', sealed],
    ['plain', plain],
  ])('A %s record is found by its id and updated without a new id', async (_name, records) => {
    const id = await records().create(value);
    expect(id).toMatch(/^[\w-]{43}$/);
    expect(await records().find(id)).toEqual(value);
    await records().update(id, { ...value, attempts: 2 });
    expect(await records().find(id)).toEqual({ ...value, attempts: 2 });
  });

  it('The store holds neither the id of a record nor, when it is sealed, its content', async () => {
    const id = await sealed().create(value);
    expect(await kv.get(`sealed:${id}`)).toBeNull();
    expect(await kv.get(`sealed:${sha256(id)}`)).not.toContain('ada');
    const other = await plain().create(value);
    expect(await kv.get(`plain:${sha256(other)}`)).toBe('{"userId":"ada","attempts":1}');
  });

  it.each([
    ['', 'the empty text'],
    ['A'.repeat(43), 'a guess of the right form'],
    ['a', 'a short guess'],
    ['A'.repeat(44), 'a guess that is too long'],
    [`${'A'.repeat(42)}:`, 'a guess with a character that no id has'],
  ])('A guessed id finds no record: %j, %s', async (guess) => {
    const records = sealed();
    expect(await records.find(toFlowId(guess))).toBeUndefined();
    expect(await records.takeOnce(toFlowId(guess))).toBeUndefined();
    expect(await records.findConsumable(toFlowId(guess))).toBeUndefined();
    expect(await records.consume(toFlowId(guess))).toBe(false);
    expect(await records.delete(toFlowId(guess))).toBe(false);
    await records.update(toFlowId(guess), value);
    expect(await records.find(toFlowId(guess))).toBeUndefined();
  });

  it('Text that does not have the form of an id is not looked up, even when a key fits it', async () => {
    await kv.set(`plain:${sha256('short')}`, JSON.stringify(value), MINUTE_MS);
    expect(await plain().find(toFlowId('short'))).toBeUndefined();
    expect(await plain().takeOnce(toFlowId('short'))).toBeUndefined();
  });

  it('The hash of an id, which the store holds, is not an id', async () => {
    const id = await plain().create(value);
    expect(await plain().find(toFlowId(sha256(id)))).toBeUndefined();
  });

  it('An id of another kind finds no record and ends none', async () => {
    const id = await sealed('one-kind').create(value);
    const other = sealed('other-kind');
    expect(await other.find(id)).toBeUndefined();
    expect(await other.takeOnce(id)).toBeUndefined();
    expect(await other.delete(id)).toBe(false);
    expect(await sealed('one-kind').find(id)).toEqual(value);
  });

  it('A sealed record that is copied to another id or to another kind does not open', async () => {
    const [id, target] = [await sealed().create(value), await sealed().create({ userId: 'eve', attempts: 0 })];
    const text = (await kv.get(`sealed:${sha256(id)}`)) ?? '';
    await kv.set(`sealed:${sha256(target)}`, text, MINUTE_MS);
    await kv.set(`other:${sha256(id)}`, text, MINUTE_MS);
    await expect(sealed().find(target)).rejects.toThrow(UnsealError);
    await expect(sealed('other').takeOnce(id)).rejects.toThrow(UnsealError);
  });

  it('A sealed record with one changed character does not open and can still be deleted', async () => {
    const id = await sealed().create(value);
    const key = `sealed:${sha256(id)}`;
    const text = (await kv.get(key)) ?? '';
    const [at, changed] = [text.length - 10, text.at(-10) === 'A' ? 'B' : 'A'];
    await kv.set(key, `${text.slice(0, at)}${changed}${text.slice(at + 1)}`, MINUTE_MS);
    await expect(sealed().find(id)).rejects.toThrow(UnsealError);
    await expect(sealed().findConsumable(id)).rejects.toThrow(UnsealError);
    expect(await sealed().delete(id)).toBe(true);
    expect(await sealed().find(id)).toBeUndefined();
  });

  it('A record in plain text is refused where records are sealed', async () => {
    const id = sealed().newId();
    await kv.set(`sealed:${sha256(id)}`, JSON.stringify(value), MINUTE_MS);
    await expect(sealed().find(id)).rejects.toThrow(UnsealError);
  });

  it('A record without the properties of its schema is refused, and the error repeats no value', async () => {
    const id = plain().newId();
    for (const text of ['{"userId":7,"attempts":"a secret"}', 'a secret', '{"userId":"a secret"}']) {
      await kv.set(`plain:${sha256(id)}`, text, MINUTE_MS);
      const error = await plain()
        .find(id)
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(StoredDataInvalid);
      expect(String(error)).not.toContain('a secret');
    }
  });

  it('A record expires, an update does not prolong it, and an expired one stays away after an update', async () => {
    const records = sealed('short', SHORT_MS);
    const id = await records.create(value);
    await sleep(SHORT_MS / 2);
    await records.update(id, { ...value, attempts: 2 });
    await sleep(PAST_SHORT_MS - SHORT_MS / 2);
    expect(await records.find(id)).toBeUndefined();
    await records.update(id, value);
    expect(await records.find(id)).toBeUndefined();
    expect(await records.consume(id)).toBe(false);
  });

  it('Of many callers that take, consume or delete one record at once, exactly one succeeds', async () => {
    const records = sealed();
    const many = <R>(act: () => Promise<R>) => Promise.all(Array.from({ length: 20 }, act));
    const id = await records.create(value);
    const taken = await many(() => records.takeOnce(id));
    expect(taken.filter((one) => one !== undefined)).toEqual([value]);
    const other = await records.create(value);
    expect((await many(() => records.delete(other))).filter(Boolean)).toHaveLength(1);
    const consumable = await records.create(value);
    expect(await records.findConsumable(consumable)).toEqual({ value, isUsed: false });
    expect((await many(() => records.consume(consumable))).filter(Boolean)).toHaveLength(1);
    expect(await records.findConsumable(consumable)).toEqual({ value, isUsed: true });
  });

  it('Of many callers that take a matching record at once, one gets it; a record that does not match stays', async () => {
    const records = storedRecords({ kv, kind: 'named', schema, ttlMs: MINUTE_MS, seal: box });
    await records.write('ada', value);
    expect(await records.takeMatching('ada', ({ userId }) => userId === 'eve')).toBeUndefined();
    const taken = await Promise.all(Array.from({ length: 20 }, () => records.takeMatching('ada', () => true)));
    expect(taken.filter((one) => one !== undefined)).toEqual([value]);
    expect(await records.find('ada')).toBeUndefined();
  });

  it('A cookie that an attacker planted leads to no record once the browser has begun its own', async () => {
    const jar = new Map<string, string>();
    const req = {} as IncomingMessage;
    const res = {} as ServerResponse;
    const cookies = {
      read: (_req: IncomingMessage, name: string) => jar.get(name),
      set: (_res: ServerResponse, name: string, cookie: { value: string }) => void jar.set(name, cookie.value),
      clear: (_res: ServerResponse, name: string) => void jar.delete(name),
    };
    const records = browserRecords({ kv, kind: 'own', schema, ttlMs: MINUTE_MS, cookie: { cookies, name: 'own' } });
    expect(records.readCookie(req)).toBe('');
    jar.set('own', 'planted');
    expect(await records.find(records.readCookie(req))).toBeUndefined();
    const planted = records.newId();
    jar.set('own', planted);
    records.setCookie(res, await records.create(value));
    expect(records.readCookie(req)).not.toBe(planted);
    expect(await records.find(planted)).toBeUndefined();
    expect(await records.find(records.readCookie(req))).toEqual(value);
    records.clearCookie(res);
    expect(records.readCookie(req)).toBe('');
  });

  it('A record of the previous release opens under the names of today', async () => {
    const before = storedRecords({ kv, kind: 'renamed', schema: z.object({ errand: z.string() }), ttlMs: MINUTE_MS });
    await before.write('ada', { errand: '?plan=gold' });
    const today = acceptFormerNames(z.object({ continuation: z.string() }), { errand: 'continuation' });
    const records = storedRecords({ kv, kind: 'renamed', schema: today, ttlMs: MINUTE_MS });
    expect(await records.find('ada')).toEqual({ continuation: '?plan=gold' });
    await records.write('ada', { continuation: '?plan=free' });
    expect(await records.find('ada')).toEqual({ continuation: '?plan=free' });
  });
});
