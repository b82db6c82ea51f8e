import { sessionIdHash } from '../../server/sessions/session.ts';
import { listSessions } from '../../server/sessions/user-sessions.ts';
import type { User } from '../../server/users/index.ts';
import { production, site } from '../attacks/production.ts';
import { portOf, Visitor } from '../attacks/wire.ts';
import { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toSessionId, toSessionIdHash } from '../support/ids.ts';
import { relyingParty } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

const minuteMs = 60_000;
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

describe.each(backends)('the list of a user’s sessions on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  beforeEach(async () => {
    user = await foyer.addUser();
  });
  afterAll(() => foyer?.close());

  const device = (agent = firefox) => new Browser(foyer.url, { 'user-agent': agent });
  const signIn = async (browser: Browser, more: Record<string, string> = {}, who = user) => {
    const answer = await browser.post('/sign-in', { username: who.email, password, ...more });
    expect(answer.status).toBe(303);
    return browser;
  };
  const idOf = async (browser: Browser) => {
    const value = decodeURIComponent((await browser.cookies()).foyer_session ?? '');
    return sessionIdHash(toSessionId(value.slice(2).split('.')[0] ?? ''));
  };
  const list = () => listSessions(foyer.deps.kv, user.id);
  const factsKeys = async (ids: string[]) =>
    (await Promise.all(ids.map((id) => foyer.deps.kv.get(`session-facts:${id}`)))).filter((facts) => facts !== null);

  it('The list has the open sessions of this user alone, each with its browser and address', async () => {
    const [one, two] = [await signIn(device()), await signIn(device('x'.repeat(9_000)))];
    await signIn(device(), {}, await foyer.addUser());
    const nowMs = foyer.deps.now();
    const found = await list();
    expect(found.map(({ idHash }) => idHash).sort()).toEqual([await idOf(one), await idOf(two)].sort());
    const first = found.find(({ userAgent }) => userAgent === firefox);
    expect(first).toMatchObject({ idHash: await idOf(one), ip: '127.0.0.1' });
    for (const session of found) {
      expect(Math.abs(nowMs - session.createdAtMs)).toBeLessThan(minuteMs);
      expect(session.lastUsedAtMs).toBe(session.createdAtMs);
    }
    // A long user agent cannot fill the store.
    expect(found.find(({ userAgent }) => userAgent !== firefox)?.userAgent).toHaveLength(512);
    await two.post('/logout');
    expect((await list()).map(({ idHash }) => idHash)).toEqual([await idOf(one)]);
  });

  it('A new session goes to the store together with its place in the list, before and behind it', async () => {
    const { kv } = foyer.stores;
    const order: string[] = [];
    const watched = (name: string, send: () => Promise<unknown>) => async () => {
      order.push(name);
      await send();
      order.push('answered');
    };
    const addToSet = kv.addToSet.bind(kv);
    const lists = jest
      .spyOn(kv, 'addToSet')
      .mockImplementation((...args) => watched('list', () => addToSet(...args))());
    const sessions = kv.redis ?? kv;
    const set = sessions.set.bind(sessions) as (...args: unknown[]) => Promise<unknown>;
    const writes = jest.spyOn(sessions as { set: typeof set }, 'set').mockImplementation(async (...args) => {
      if (!String(args[0]).startsWith('session:')) return set(...args);
      return watched('session', () => set(...args))();
    });
    try {
      await signIn(device());
    } finally {
      lists.mockRestore();
      writes.mockRestore();
    }
    expect(order).toEqual(['list', 'session', 'list', 'answered', 'answered', 'answered']);
  });

  it('Use is recorded at most once a minute', async () => {
    const browser = await signIn(device());
    const [begun] = await list();
    browser.headers['user-agent'] = `${firefox} (updated)`;
    foyer.passTime(30_000);
    await browser.get('/settings');
    expect(await list()).toEqual([begun]);
    foyer.passTime(31_000);
    await browser.get('/settings');
    const [used] = await list();
    expect(used).toEqual({ ...begun, userAgent: `${firefox} (updated)`, lastUsedAtMs: used?.lastUsedAtMs });
    expect((used?.lastUsedAtMs ?? 0) - (begun?.lastUsedAtMs ?? 0)).toBeGreaterThanOrEqual(minuteMs);
  });

  it('Behind a proxy the list has the user’s own address at the last use', async () => {
    const behind = await startFoyer(backend, production);
    try {
      const member = await behind.addUser();
      const at = (ip: string) => ({ 'x-forwarded-for': ip, 'user-agent': firefox });
      const visitor = new Visitor(portOf(behind.url), site);
      await visitor.post('/sign-in', { username: member.email, password }, at('2001:db8::5'));
      const shown = async () => (await listSessions(behind.deps.kv, member.id)).map(({ ip }) => ip);
      expect(await shown()).toEqual(['2001:db8::5']);
      behind.passTime(2 * minuteMs);
      expect((await visitor.get('/settings', at('::ffff:198.51.100.4'))).status).toBe(200);
      expect(await shown()).toEqual(['198.51.100.4']);
    } finally {
      await behind.close();
    }
  });

  it('A silent sign-on of a client counts as use', async () => {
    const browser = await signIn(device());
    const [begun] = await list();
    foyer.passTime(5 * minuteMs);
    const client = await relyingParty(foyer, await foyer.addClient());
    const answer = await browser.get((await client.begin({ prompt: 'none' })).url, { from: 'cross-site' });
    expect(answer.headers.get('location')).toContain('code=');
    const [used] = await list();
    expect(used?.lastUsedAtMs).toBeGreaterThan((begun?.lastUsedAtMs ?? 0) + 4 * minuteMs);
    expect(used).toMatchObject({ ip: '127.0.0.1', userAgent: firefox });
  });

  it('Reauthentication keeps the device under a new session id', async () => {
    const browser = await signIn(device());
    const [begun] = await list();
    foyer.passTime(11 * minuteMs);
    expect((await browser.post('/re-authenticate', { password })).status).toBe(303);
    const [again, ...others] = await list();
    expect(others).toEqual([]);
    expect(again?.idHash).not.toBe(begun?.idHash);
    expect(again?.createdAtMs).toBe(begun?.createdAtMs);
    expect(again?.authTimeMs).toBeGreaterThan((begun?.authTimeMs ?? 0) + 10 * minuteMs);
    expect(await factsKeys([begun?.idHash ?? ''])).toEqual([]);
  });

  it('Another user in the same browser counts as a new device', async () => {
    const browser = await signIn(device());
    const before = await list();
    foyer.passTime(11 * minuteMs);
    const other = await foyer.addUser();
    await signIn(browser, {}, other);
    expect(await list()).toEqual([]);
    const [theirs] = await listSessions(foyer.deps.kv, other.id);
    expect(theirs?.createdAtMs).toBeGreaterThan((before[0]?.createdAtMs ?? 0) + 10 * minuteMs);
  });

  it('An ended session leaves no data, whatever ended it', async () => {
    const { sessions } = foyer.app;
    const browsers = [];
    for (let n = 0; n < 4; n += 1) browsers.push(await signIn(device(), { remember: '1' }));
    const ids = await Promise.all(browsers.map(idOf));
    expect(await factsKeys(ids)).toHaveLength(4);
    const [a = '', b = '', c = ''] = ids;
    await browsers[0]?.post('/logout');
    expect(await factsKeys(ids)).toHaveLength(3);
    expect(await sessions.endSession(user.id, toSessionIdHash(a))).toBe(false);
    expect(await sessions.endSession(user.id, toSessionIdHash(b))).toBe(true);
    expect(await sessions.endSession(user.id, toSessionIdHash(b))).toBe(false);
    expect(await factsKeys(ids)).toHaveLength(2);
    expect(await sessions.endOtherSessions(user.id, toSessionIdHash(c))).toBe(1);
    expect((await list()).map(({ idHash }) => idHash)).toEqual([c]);
    expect(await sessions.endAll(user.id)).toBe(1);
    expect(await factsKeys(ids)).toEqual([]);
    // A request that was still running does not restore the session.
    foyer.passTime(2 * minuteMs);
    await browsers[2]?.get('/settings');
    expect(await factsKeys(ids)).toEqual([]);
  });

  it('A session from before there were facts is in the list', async () => {
    const browser = await signIn(device());
    const [id, [begun]] = [await idOf(browser), await list()];
    await foyer.deps.kv.delete(`session-facts:${id}`);
    const { authTimeMs = 0 } = begun ?? {};
    const known = { idHash: id, authTimeMs, createdAtMs: authTimeMs, lastUsedAtMs: authTimeMs, ip: '' };
    expect(await list()).toEqual([{ ...known, userAgent: undefined }]);
  });
});
