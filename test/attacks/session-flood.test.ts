import * as oidc from 'openid-client';
import { languages, translator } from '../../server/http/index.ts';
import { listRememberedDevices } from '../../server/mfa/index.ts';
import { insertRememberedDevice } from '../../server/mfa/remembered-device-store.ts';
import { countSessions } from '../../server/sessions/index.ts';
import type { User } from '../../server/users/index.ts';
import { settingsTabs } from '../../views/account/tabs.ts';
import { leadsTo } from '../account/mfa-steps.ts';
import { withDefaultClient } from '../oidc/token-cookie-tools.ts';
import { type Beginner, type Begun, plantSessions, startBeginner } from '../sessions/begin.ts';
import { appCode, memberWithTotp, show, toChallenge } from '../sign-in/factor-steps.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toSha256 } from '../support/ids.ts';
import { workTime } from '../support/own-time.ts';
import { type RelyingParty, relyingParty, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('a user with very many sessions on $name', (backend) => {
  let foyer: TestFoyer;
  let app: RelyingParty;
  let beginner: Beginner;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000' });
    await withDefaultClient(foyer);
    app = await relyingParty(foyer, await foyer.addClient());
    beginner = await startBeginner(foyer);
  });
  afterAll(async () => {
    beginner?.close();
    await foyer?.close();
  });

  const plant = (user: User, count: number) => plantSessions(foyer, user, count);
  const begin = (user: User) => beginner.begin(user);
  const isIn = async ({ browser }: Begun) => (await browser.get('/settings')).status === 200;
  const at = (begun: readonly Begun[], index: number): Begun => {
    const one = begun.at(index);
    if (!one) throw new Error(`no session ${index}`);
    return one;
  };
  const listed = (user: User) => foyer.deps.kv.setMembers(`sessions-of:${user.id}`);
  const grantsOf = async (user: User) => {
    const rows = await foyer.deps.database.db
      .selectFrom('oidc')
      .select('foyerSession')
      .where('model', '=', 'Grant')
      .where('accountId', '=', user.id)
      .execute();
    return rows.map(({ foyerSession }) => foyerSession);
  };

  it('Of 200 sign-ins, ten at a time, 50 sessions stay, and the first browser is signed out with its grants', async () => {
    const user = await foyer.addUser();
    const first = foyer.browser();
    const tokens = await tokensFor(app, first, user);
    const begun: Begun[] = [];
    for (let n = 0; n < 20; n += 1) {
      foyer.passTime(1000);
      begun.push(...(await Promise.all(Array.from({ length: 10 }, () => begin(user)))));
    }
    expect(leadsTo(await first.get('/settings'))).toBe('303 /?redirect=%2Fsettings');
    await expect(oidc.refreshTokenGrant(app.config, tokens.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    const newest = begun.slice(-50);
    expect((await listed(user)).toSorted()).toEqual(newest.map(({ idHash }) => idHash).toSorted());
    expect(await isIn(at(begun, -51))).toBe(false);
    expect(await isIn(at(newest, 0))).toBe(true);
    // Each session of the default client has one grant, and the grants of the ended sessions are gone.
    expect((await grantsOf(user)).toSorted()).toEqual(newest.map(({ idHash }) => idHash).toSorted());
  });

  it('Of 200 sign-ins at once 50 sessions stay, each of them in the list, and no other one opens a page', async () => {
    const user = await foyer.addUser();
    const begun = await Promise.all(Array.from({ length: 200 }, () => begin(user)));
    const left = new Set(await listed(user));
    expect(left.size).toBe(50);
    const open = await Promise.all(begun.map(async (one) => ({ idHash: one.idHash, open: await isIn(one) })));
    expect(open.filter((one) => one.open !== left.has(one.idHash))).toEqual([]);
    expect((await grantsOf(user)).every((session) => session !== null && left.has(session))).toBe(true);
  });

  it('The session that is used stays, and the one that was used longest ago ends', async () => {
    const user = await foyer.addUser();
    const oldest = await begin(user);
    foyer.passTime(1000);
    const second = await begin(user);
    foyer.passTime(5 * 60_000);
    await plant(user, 48);
    foyer.passTime(2 * 60_000);
    expect(await isIn(oldest)).toBe(true);
    await begin(user);
    expect(await isIn(oldest)).toBe(true);
    expect(await isIn(second)).toBe(false);
  });

  it('A re-authentication at the limit ends no other session, even while others sign in', async () => {
    const user = await foyer.addUser();
    const own = await foyer.signedIn(user);
    await plant(user, 49);
    expect((await own.post('/re-authenticate', { password })).status).toBe(303);
    expect(await listed(user)).toHaveLength(50);
    expect(await foyer.app.sessions.endedByLimit(user.id)).toBe(0);
    const [again] = await Promise.all([own.post('/re-authenticate', { password }), begin(user), begin(user)]);
    expect(again.status).toBe(303);
    expect(await listed(user)).toHaveLength(50);
    expect((await own.get('/settings')).status).toBe(200);
  });

  it('The devices page notifies the user of the limit in every language', async () => {
    for (const lang of languages) {
      const user = await foyer.addUser({ locale: lang });
      const own = await foyer.signedIn(user);
      const page = async () => (await own.get('/settings?tab=device-data')).text();
      const [note, ended] = [
        translator(lang)('devices.limit.note', { most: 50 }),
        translator(lang)('devices.limit.ended', { count: 3 }),
      ];
      expect(await page()).not.toContain(note);
      await plant(user, 49);
      const near = await page();
      expect(near).toContain(note);
      expect(near).not.toContain(ended);
      foyer.passTime(2 * 60_000);
      await own.get('/settings');
      for (let n = 0; n < 3; n += 1) await begin(user);
      expect(await page()).toContain(`${note} ${ended}`);
    }
  });

  it('With 1,500 sessions of an earlier release every tab stays under 60 KB and the list shows 20 at a time', async () => {
    const user = await foyer.addUser();
    const own = await foyer.signedIn(user);
    await plant(user, 1_500);
    const sizes: Record<string, number> = {};
    for (const tab of settingsTabs) {
      await own.get(`/settings?tab=${tab}`);
      const cpu = workTime();
      const html = await (await own.get(`/settings?tab=${tab}`)).text();
      const cpuMs = cpu();
      sizes[tab] = Buffer.byteLength(html);
      console.info(`1,500 sessions, ${backend.name}, ${tab}: ${sizes[tab]} bytes, ${Math.round(cpuMs)} ms CPU`);
      expect({ tab, size: sizes[tab] < 60_000 }).toEqual({ tab, size: true });
      expect(html.match(/<div class="stack" id="panel-[\w-]+"/g)).toEqual([`<div class="stack" id="panel-${tab}"`]);
    }
    // Only the devices tab reads all sessions.
    const get = jest.spyOn(foyer.deps.kv, 'get');
    await own.get('/settings');
    expect(get.mock.calls.length).toBeLessThan(30);
    get.mockRestore();
    expect(await foyer.app.sessions.list(user.id)).toHaveLength(1_501);
    const exported = (await foyer.app.sessions.list(user.id)).length;
    expect(await countSessions(foyer.deps.kv, user.id)).toBe(exported);
  });

  it('With 1,500 sessions of an earlier release the next sign-in keeps the 50 that were used last', async () => {
    const user = await foyer.addUser();
    const planted = await plant(user, 1_500);
    const { idHash } = await begin(user);
    expect((await listed(user)).toSorted()).toEqual([idHash, ...planted.slice(-49)].toSorted());
    expect(await foyer.deps.kv.get(`session:${planted[0]}`)).toBeNull();
    expect(await foyer.app.sessions.endedByLimit(user.id)).toBe(1_451);
  });

  it('Ending 1,500 sessions in batches never has more than 100 store calls in progress', async () => {
    const user = await foyer.addUser();
    await plant(user, 1_500);
    const { kv } = foyer.deps;
    let [running, most] = [0, 0];
    const watched = ['get', 'takeOnce', 'removeFromSet'] as const;
    const spies = watched.map((name) => {
      const call = kv[name].bind(kv) as (...args: never[]) => Promise<unknown>;
      return jest.spyOn(kv, name).mockImplementation((async (...args: never[]) => {
        running += 1;
        most = Math.max(most, running);
        try {
          return await call(...args);
        } finally {
          running -= 1;
        }
      }) as never);
    });
    await foyer.app.sessions.list(user.id);
    expect(await foyer.app.sessions.endAll(user.id)).toBe(1_500);
    for (const spy of spies) spy.mockRestore();
    expect(most).toBeGreaterThan(10);
    // The store reads a session together with its facts.
    expect(most).toBeLessThanOrEqual(100);
    expect(await listed(user)).toEqual([]);
  });

  it('The list pages are plain links: each session is on one, this browser’s first, and odd numbers show page 1', async () => {
    const user = await foyer.addUser();
    const own = await foyer.signedIn(user);
    await plant(user, 44);
    const rows = (html: string) => [...html.matchAll(/<li class="device-row">/g)].length;
    const shown = async (search: string) => (await own.get(`/settings?tab=device-data${search}`)).text();
    const first = await shown('');
    expect(rows(first)).toBe(20);
    expect(first.indexOf('This device')).toBeLessThan(first.indexOf('/settings/devices/sign-out?'));
    expect(first).toContain('Page 1 of 3');
    const next = /href="(\/settings\?tab=device-data&amp;page=2#devices)"/.exec(first)?.[1]?.replaceAll('&amp;', '&');
    expect(next).toBeDefined();
    const second = await (await own.get((next ?? '').split('#')[0] ?? '')).text();
    expect(second).toContain('Page 2 of 3');
    const third = await shown('&page=3');
    expect(rows(third)).toBe(5);
    const ids = [first, second, third].flatMap((html) =>
      [...html.matchAll(/sign-out\?session=([\w-]+)/g)].map(([, id]) => id),
    );
    expect(new Set(ids).size).toBe(44);
    for (const odd of ['0', '-1', '4', '99999999', 'x', '1e3', '%00']) {
      expect(rows(await shown(`&page=${odd}`))).toBe(odd === '4' ? 5 : 20);
    }
  });

  it('Of very many remembered devices the 50 that were used last stay, and the page shows 20 of them', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const { db } = foyer.deps.database;
    const nowMs = foyer.deps.now();
    for (let n = 0; n < 80; n += 1) {
      const lastUsedAt = nowMs - (80 - n) * 60_000;
      await insertRememberedDevice(db, {
        id: `planted-${user.id}-${n}`,
        userId: user.id,
        secretHash: toSha256(`${n}`),
        passwordEpoch: user.passwordEpoch,
        userAgent: '',
        ip: '192.0.2.7',
        createdAt: lastUsedAt,
        lastUsedAt,
        expiresAt: nowMs + 24 * 60 * 60_000,
      });
    }
    const browser = foyer.browser();
    await toChallenge(browser, user);
    await show(browser, await appCode(foyer, secret), { rememberDevice: '1' });
    const left = await listRememberedDevices(db, user, foyer.deps.now());
    const planted = Array.from({ length: 49 }, (_, n) => `planted-${user.id}-${79 - n}`);
    expect(left.slice(1).map(({ id }) => id)).toEqual(planted);
    expect(left).toHaveLength(50);
    const html = await (await browser.get('/settings?tab=device-data&remembered=3')).text();
    const card = /<section class="card flush" id="remembered-devices">.*?<\/section>/s.exec(html)?.[0] ?? '';
    expect(card.match(/<li class="device-row">/g)).toHaveLength(10);
    expect(card).toContain('Page 3 of 3');
    expect(card).toContain('href="/settings?tab=device-data&amp;remembered=2#remembered-devices"');
  });
});
