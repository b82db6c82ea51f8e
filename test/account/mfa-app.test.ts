import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import {
  activate,
  appCode,
  begin,
  changesTold,
  enrol,
  leadsTo,
  member,
  preferenceOf,
  scanned,
  shownCodes,
  shownSetup,
} from './mfa-steps.ts';

const minuteMs = 60_000;

describe.each(backends)('an authenticator app in the settings on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000', BRAND_NAME: 'Maison & Söhne' });
  });
  afterAll(() => foyer?.close());

  it('The app is set up in three steps, and QR code, link and text have the same secret', async () => {
    const { browser, user } = await member(foyer);
    for (const step of ['scan', 'activate']) {
      expect(leadsTo(await browser.get(`/settings/mfa/totp/${step}`))).toBe('303 /settings/mfa/totp');
    }
    expect((await browser.get('/settings/mfa/totp')).status).toBe(200);
    expect(leadsTo(await browser.post('/settings/mfa/totp'))).toBe('303 /settings/mfa/totp/scan');
    const { secret, uri, html } = await shownSetup(browser);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(scanned(html)).toBe(uri);
    const parsed = new URL(uri);
    expect([parsed.protocol, parsed.host]).toEqual(['otpauth:', 'totp']);
    expect(decodeURIComponent(parsed.pathname)).toBe(`/Maison & Söhne:${user.email}`);
    expect(Object.fromEntries(parsed.searchParams)).toEqual({
      issuer: 'Maison & Söhne',
      secret,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
    const page = await (await browser.get('/settings/mfa/totp/activate')).text();
    expect(page).toContain('Please type in the code displayed on your authenticator app from your device');
    expect(page).toMatch(/inputMode="numeric" autoComplete="one-time-code"/i);
    expect(await preferenceOf(foyer, user.id)).toBe('none');

    const code = await appCode(secret, foyer.deps.now());
    expect(leadsTo(await activate(browser, code))).toBe('303 /settings/recovery-codes');
    expect(await preferenceOf(foyer, user.id)).toBe('totp');
    expect(await changesTold(foyer, user.email)).toEqual(['mfa-totp']);
    // The set-up is over.
    expect(leadsTo(await browser.get('/settings/mfa/totp/scan'))).toBe('303 /settings/mfa/totp');
  });

  it('The set-up creates ten recovery codes, shown once, with a file of them', async () => {
    const { browser, user } = await member(foyer);
    await enrol(foyer, browser);
    const head = await browser.request('/settings/recovery-codes', { method: 'HEAD' });
    expect(head.status).toBe(200);
    const answer = await browser.get('/settings/recovery-codes');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const html = await answer.text();
    const codes = /<pre[^>]*>(.*?)<\/pre>/s.exec(html)?.[1]?.split('\n') ?? [];
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^([A-Z2-7]{4}-){3}[A-Z2-7]{4}$/);
    const file = /download="recovery-codes.txt" href="(data:text\/plain;charset=utf-8,[^"]*)"/.exec(html)?.[1] ?? '';
    const lines = (await (await fetch(file.replaceAll('&amp;', '&'))).text()).split('\r\n');
    expect(lines).toEqual([
      `Recovery codes of ${user.email} at Maison & Söhne`,
      'Each one works once.',
      '',
      ...codes,
      '',
    ]);
    const again = await (await browser.get('/settings/recovery-codes')).text();
    expect(again).toContain('10 recovery codes left');
    for (const code of codes) expect(again).not.toContain(code);
  });

  it('The secret and the recovery codes are stored unreadably', async () => {
    const { browser, user } = await member(foyer);
    const secret = await enrol(foyer, browser);
    const codes = await shownCodes(browser);
    const { db } = foyer.deps.database;
    const rows = JSON.stringify([
      await db.selectFrom('totpAuthenticators').selectAll().where('userId', '=', user.id).execute(),
      await db.selectFrom('recoveryCodes').selectAll().where('userId', '=', user.id).execute(),
    ]);
    expect(JSON.parse(rows).map(({ length }: unknown[]) => length)).toEqual([1, 10]);
    expect(rows).not.toContain(secret);
    for (const code of codes) {
      expect(rows).not.toContain(code);
      expect(rows).not.toContain(code.replaceAll('-', ''));
      expect(foyer.logged()).not.toContain(code);
    }
    expect(foyer.logged()).not.toContain(secret);
  });

  it('The activation accepts only complete and current codes', async () => {
    const { browser, user } = await member(foyer);
    const secret = await begin(browser);
    const short = await activate(browser, '123');
    expect([short.status, (await short.text()).includes('Please enter all 6 digits.')]).toEqual([400, true]);
    const old = await activate(browser, await appCode(secret, foyer.deps.now() - 2 * minuteMs));
    expect([old.status, (await old.text()).includes('Invalid code')]).toEqual([400, true]);
    expect(await preferenceOf(foyer, user.id)).toBe('none');
    // Phones can be one time step late.
    const code = await appCode(secret, foyer.deps.now() - 30_000);
    expect((await activate(browser, `${code.slice(0, 3)} ${code.slice(3)}`)).status).toBe(303);
  });

  it('A new app replaces the earlier one, which works until then, and the recovery codes stay', async () => {
    const { browser, user } = await member(foyer);
    const first = await enrol(foyer, browser);
    const codes = await shownCodes(browser);
    const page = await (await browser.get('/settings/mfa/totp')).text();
    expect(page).toContain('It replaces your current authenticator app');
    const second = await begin(browser);
    expect(second).not.toBe(first);
    const answer = await activate(browser, await appCode(second, foyer.deps.now()));
    expect(leadsTo(answer)).toBe('303 /settings?tab=mfa-data#settings:totp-replaced');
    expect(await changesTold(foyer, user.email)).toEqual(['mfa-totp', 'totp-replaced']);
    const { left } = await foyer.deps.database.db
      .selectFrom('recoveryCodes')
      .select(({ fn }) => fn.countAll().as('left'))
      .where('userId', '=', user.id)
      .executeTakeFirstOrThrow();
    expect([Number(left), codes.length]).toEqual([10, 10]);
  });
});
