import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { type KeyValueStore, openKeyValue } from '../../server/store/index.ts';
import { findUser } from '../../server/users/index.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { leftOut, type Service, startRedis } from '../support/services.ts';
import { anyBackend } from '../support/stores.ts';

if (leftOut('redis')) {
  it('Without Redis there is none to fill', () => expect(leftOut('redis')).toBe(true));
} else {
  describe('while Redis is full and refuses writes', () => {
    let redis: Service;
    let admin: Redis;
    let kv: KeyValueStore;
    let foyer: TestFoyer;
    let dataDir: string;
    beforeAll(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'foyer-full-redis-'));
      redis = await startRedis();
      admin = new Redis(redis.url);
      await admin.config('SET', 'maxmemory-policy', 'noeviction');
      kv = await openKeyValue({ url: redis.url, dataDir });
      foyer = await startFoyer(anyBackend, {}, { kv });
    });
    afterAll(async () => {
      await foyer?.close();
      await kv?.close();
      admin?.disconnect();
      await redis?.stop();
      await rm(dataDir, { recursive: true, force: true });
    });
    const fill = async () => {
      await admin.set('ballast', 'x'.repeat(2_000_000));
      await admin.config('SET', 'maxmemory', '1mb');
      await expect(admin.set('any', 'value')).rejects.toThrow('OOM');
    };
    const empty = async () => {
      await admin.config('SET', 'maxmemory', '0');
      await admin.del('ballast');
    };
    const textOf = async (answer: Response) =>
      (await answer.text()).replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
    afterEach(empty);

    it('Signed-in members read their pages and stay signed in', async () => {
      const browser = await foyer.signedIn(await foyer.addUser());
      await fill();
      const pages = ['/settings', '/settings/profile', '/settings/activity', '/settings/notifications', '/dashboard'];
      for (const path of pages) expect([path, (await browser.get(path)).status]).toEqual([path, 200]);
      // Long enough for the session to be touched.
      foyer.passTime(20 * 60_000);
      for (const path of pages) expect([path, (await browser.get(path)).status]).toEqual([path, 200]);
      await empty();
      expect((await browser.get('/settings')).status).toBe(200);
    });

    it('A change of a name is done whole or not at all, and its page says what to do', async () => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      await fill();
      const answer = await browser.post('/settings/name', { given_name: 'Adele', family_name: user.familyName });
      const stored = await findUser(foyer.deps.database.db, user.id);
      if (answer.status === 303) expect(stored?.givenName).toBe('Adele');
      else {
        expect(answer.status).toBe(503);
        expect(stored?.givenName).toBe(user.givenName);
        expect(await textOf(answer)).toContain('We couldn’t confirm the change. Please try again in a moment.');
      }
      expect((await browser.get('/settings')).status).toBe(200);
    });

    it.each([
      ['en', 'A part of the service can’t be reached at the moment. Please try again shortly. Nothing has been lost.'],
      ['de', 'Bitte versuchen Sie es in Kürze erneut. Es ist nichts verloren gegangen.'],
    ])('A sign-in gets a page in %s with the remedy and a time, and works when there is room', async (lang, says) => {
      const user = await foyer.addUser();
      const visitor = foyer.browser();
      visitor.headers['accept-language'] = lang;
      const send = () => visitor.post('/sign-in', { username: user.email, password });
      await fill();
      const refused = await send();
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
      expect(refused.headers.getSetCookie().filter((line) => line.startsWith('foyer_session='))).toEqual([]);
      expect(await textOf(refused)).toContain(says);
      await empty();
      expect((await send()).status).toBe(303);
      expect((await visitor.get('/settings')).status).toBe(200);
    });

    it('A call of the JSON API answers 503 with Retry-After and the type of a store that is away', async () => {
      await fill();
      const answer = await fetch(`${foyer.url}/identity/forgotPassword`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username: 'ada@example.com' }),
      });
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await answer.json()).toMatchObject({ status: 503, type: expect.stringMatching(/unavailable/i) });
    });
  });
}
