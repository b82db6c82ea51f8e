import { createSandboxMailbox } from '../../sandbox/index.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';
import { activate, appCode, begin, enrol, leadsTo, scanned, shownCodes, shownSetup } from './mfa-steps.ts';

const minuteMs = 60_000;
const phone = '+31612345642';

describe.each(backends)('the second factor in the settings on $name', (backend) => {
  let foyer: TestFoyer;
  let numbers = 0;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000', BRAND_NAME: 'Maison & Söhne' });
  });
  afterAll(() => foyer?.close());

  const member = async (user: Parameters<TestFoyer['addUser']>[0] = {}) => {
    const added = await foyer.addUser(user);
    return { user: added, browser: await foyer.signedIn(added) };
  };
  const withPhone = () => {
    numbers += 1;
    return member({ phone: `+31612345${100 + numbers}`, phoneVerified: true });
  };
  const preferenceOf = async (id: string) => {
    const { mfa_preference } = await foyer.deps.database.db
      .selectFrom('users')
      .select('mfa_preference')
      .where('id', '=', toUserId(id))
      .executeTakeFirstOrThrow();
    return mfa_preference;
  };
  const changesTold = async (email: string) =>
    (await foyer.mails(email))
      .filter(({ template }) => template === 'security-notice')
      .map(({ values }) => values.change);
  const textsTo = async (number: string) => {
    await foyer.deps.outboxWorker.turn();
    const { kv, now } = foyer.deps;
    return createSandboxMailbox({ kv, now }).list({ to: number });
  };
  const choose = (browser: Awaited<ReturnType<typeof member>>['browser'], fields: Record<string, string>) =>
    browser.post('/settings/mfa', fields);

  describe('the card', () => {
    it('The card has the toggle and choices of the specification, and SMS needs a verified phone', async () => {
      const { browser } = await member({ phone, phoneVerified: false });
      const html = await (await browser.get('/settings?tab=mfa-data')).text();
      const card = /<section class="card" id="mfa">.*?<\/section>/s.exec(html)?.[0] ?? '';
      const [toggle = '', ...inputs] = [...card.matchAll(/<input[^>]*>/g)].map(([input]) => input);
      const others = inputs.slice(0, -1);
      expect(inputs.at(-1)).toMatch(/name="endOthers".*checked=""/);
      expect(toggle).toMatch(/role="switch".*name="enabled"/);
      expect(toggle).not.toMatch(/(checked|disabled)=""/);
      expect(others.map((input) => /name="method".*value="(\w+)"/.exec(input)?.[1])).toEqual(['sms', 'totp', 'none']);
      expect(others.map((input) => input.includes('disabled=""'))).toEqual([true, false, false]);
      for (const title of ['SMS text code', 'Authenticator app', 'Disable']) expect(card).toContain(title);
      expect(card).toMatch(/Needs a verified phone number\..*href="\/settings\/phone"/s);
      expect(card).not.toContain('/settings/recovery-codes');
    });

    it('The toggle turns the second factor on only while it is off, and the card shows the current factor', async () => {
      const { browser } = await member();
      await enrol(foyer, browser);
      const html = await (await browser.get('/settings?notice=mfa-totp')).text();
      const card = /<section class="card" id="mfa">.*?<\/section>/s.exec(html)?.[0] ?? '';
      const toggle = /<input[^>]*name="enabled"[^>]*>/.exec(card)?.[0] ?? '';
      expect(toggle).toContain('checked=""');
      expect(toggle).toContain('disabled=""');
      expect(card).toMatch(/value="totp"/);
      expect(card).toMatch(/10<!-- --> recovery codes left|10 recovery codes left/);
      expect(card).toContain('href="/settings/recovery-codes"');
      expect(html).toContain('Signing in now asks for a code of your authenticator app.');
    });

    it.each<[string, Record<string, string>]>([
      ['nothing is chosen', { enabled: '1' }],
      ['something else is sent', { enabled: '1', method: 'carrier pigeon' }],
      ['the toggle is off', { method: 'totp' }],
    ])('The form is refused and shown again when %s', async (_what, fields) => {
      const { browser, user } = await member();
      const answer = await choose(browser, fields);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain('Please turn the second step on and choose one.');
      expect(await preferenceOf(user.id)).toBe('none');
    });

    it('The form redirects to the set-up of a factor, and back when there is nothing to change', async () => {
      const { browser } = await member();
      expect(leadsTo(await choose(browser, { enabled: '1', method: 'totp' }))).toBe('303 /settings/mfa/totp');
      expect(leadsTo(await choose(browser, { enabled: '1', method: 'sms' }))).toBe('303 /settings/phone');
      expect(leadsTo(await choose(browser, { enabled: '1', method: 'none' }))).toBe('303 /settings?tab=mfa-data');
      expect(leadsTo(await browser.get('/settings/mfa/sms'))).toBe('303 /settings/phone');
      expect(leadsTo(await browser.get('/settings/mfa/sms/code'))).toBe('303 /settings/phone');
    });
  });

  it('A choice that needed a reauthentication is still in the form after it', async () => {
    const { browser } = await withPhone();
    foyer.passTime(11 * minuteMs);
    const late = await choose(browser, { enabled: '1', method: 'sms' });
    expect(leadsTo(late)).toBe('303 /re-authenticate?redirect=%2Fsettings%2Fmfa');
    const again = await browser.post('/re-authenticate?redirect=/settings/mfa', { password });
    expect(leadsTo(again)).toMatch(/^303 .*\/settings\/mfa$/);
    const inputs = [...(await (await browser.get('/settings/mfa')).text()).matchAll(/<input[^>]*>/g)].map(
      ([one]) => one,
    );
    const checked = inputs.filter((input) => input.includes('checked=""'));
    expect(checked.map((input) => /name="(\w+)"/.exec(input)?.[1])).toEqual(['enabled', 'method']);
    expect(checked[1]).toContain('value="sms"');
  });

  describe('an authenticator app', () => {
    it('The app is set up in three steps, and QR code, link and text have the same secret', async () => {
      const { browser, user } = await member();
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
      expect(await preferenceOf(user.id)).toBe('none');

      const code = await appCode(secret, foyer.deps.now());
      expect(leadsTo(await activate(browser, code))).toBe('303 /settings/recovery-codes');
      expect(await preferenceOf(user.id)).toBe('totp');
      expect(await changesTold(user.email)).toEqual(['mfa-totp']);
      // The set-up is over.
      expect(leadsTo(await browser.get('/settings/mfa/totp/scan'))).toBe('303 /settings/mfa/totp');
    });

    it('The set-up creates ten recovery codes, shown once, with a file of them', async () => {
      const { browser, user } = await member();
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
      const { browser, user } = await member();
      const secret = await enrol(foyer, browser);
      const codes = await shownCodes(browser);
      const { db } = foyer.deps.database;
      const rows = JSON.stringify([
        await db.selectFrom('totp_authenticators').selectAll().where('user_id', '=', user.id).execute(),
        await db.selectFrom('recovery_codes').selectAll().where('user_id', '=', user.id).execute(),
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
      const { browser, user } = await member();
      const secret = await begin(browser);
      const short = await activate(browser, '123');
      expect([short.status, (await short.text()).includes('The code has six digits.')]).toEqual([400, true]);
      const old = await activate(browser, await appCode(secret, foyer.deps.now() - 2 * minuteMs));
      expect([old.status, (await old.text()).includes('Invalid Code')]).toEqual([400, true]);
      expect(await preferenceOf(user.id)).toBe('none');
      // As phones show it, a step late.
      const code = await appCode(secret, foyer.deps.now() - 30_000);
      expect((await activate(browser, `${code.slice(0, 3)} ${code.slice(3)}`)).status).toBe(303);
    });

    it('A new app replaces the earlier one, which works until then, and the recovery codes stay', async () => {
      const { browser, user } = await member();
      const first = await enrol(foyer, browser);
      const codes = await shownCodes(browser);
      const page = await (await browser.get('/settings/mfa/totp')).text();
      expect(page).toContain('It takes the place of your present authenticator app');
      const second = await begin(browser);
      expect(second).not.toBe(first);
      const answer = await activate(browser, await appCode(second, foyer.deps.now()));
      expect(leadsTo(answer)).toBe('303 /settings?notice=totp-replaced');
      expect(await changesTold(user.email)).toEqual(['mfa-totp', 'totp-replaced']);
      const { left } = await foyer.deps.database.db
        .selectFrom('recovery_codes')
        .select(({ fn }) => fn.countAll().as('left'))
        .where('user_id', '=', user.id)
        .executeTakeFirstOrThrow();
      expect([Number(left), codes.length]).toEqual([10, 10]);
    });
  });

  describe('codes by SMS', () => {
    const send = (browser: Awaited<ReturnType<typeof member>>['browser']) => browser.post('/settings/mfa/sms');
    const codeTo = async (number: string) => (await textsTo(number))[0]?.code ?? '';

    it('SMS codes are turned on by a code that arrives', async () => {
      const { browser, user } = await withPhone();
      const number = user.phone ?? '';
      expect(leadsTo(await choose(browser, { enabled: '1', method: 'sms' }))).toBe('303 /settings/mfa/sms');
      expect(leadsTo(await browser.get('/settings/mfa/sms/code'))).toBe('303 /settings/mfa/sms');
      const page = await (await browser.get('/settings/mfa/sms')).text();
      expect(page).toContain(`+31…${number.slice(-2)}`);
      expect(page).not.toContain(number);
      expect(leadsTo(await send(browser))).toBe('303 /settings/mfa/sms/code');
      expect(await (await browser.get('/settings/mfa/sms/code')).text()).toContain('We have sent a code to your phone');
      const code = await codeTo(number);
      expect(code).toMatch(/^\d{6}$/);
      const wrong = String((Number(code) + 1) % 1e6).padStart(6, '0');
      const refused = await browser.post('/settings/mfa/sms/code', { code: wrong });
      expect([refused.status, (await refused.text()).includes('Invalid Code')]).toEqual([400, true]);
      expect(await preferenceOf(user.id)).toBe('none');
      expect(leadsTo(await browser.post('/settings/mfa/sms/code', { code }))).toBe('303 /settings/recovery-codes');
      expect(await preferenceOf(user.id)).toBe('sms');
      expect(await shownCodes(browser)).toHaveLength(10);
      expect(await changesTold(user.email)).toEqual(['mfa-sms']);
    });

    it('A new code can be sent only after a wait, and the code of another session is refused', async () => {
      const { browser, user } = await withPhone();
      await send(browser);
      const soon = await browser.post('/settings/mfa/sms/code', { act: 'resend' });
      expect([soon.status, (await soon.text()).includes('A code has just been sent.')]).toEqual([429, true]);
      const other = await foyer.signedIn(user);
      const code = await codeTo(user.phone ?? '');
      expect((await other.post('/settings/mfa/sms/code', { code })).status).toBe(400);
      expect(await preferenceOf(user.id)).toBe('none');
    });
  });

  it('A user can switch between app and SMS without a new set-up, and Disable removes everything', async () => {
    const { browser, user } = await withPhone();
    await enrol(foyer, browser);
    await browser.post('/settings/mfa/sms');
    const [message] = await textsTo(user.phone ?? '');
    expect(leadsTo(await browser.post('/settings/mfa/sms/code', { code: message?.code ?? '' }))).toBe(
      '303 /settings?notice=mfa-sms',
    );
    expect(leadsTo(await choose(browser, { method: 'totp' }))).toBe('303 /settings?notice=mfa-totp');
    expect(leadsTo(await choose(browser, { method: 'totp' }))).toBe('303 /settings?tab=mfa-data');
    expect(await preferenceOf(user.id)).toBe('totp');
    expect(leadsTo(await choose(browser, { method: 'none' }))).toBe('303 /settings?notice=mfa-off');
    const { db } = foyer.deps.database;
    const left = await Promise.all(
      (['totp_authenticators', 'recovery_codes', 'remembered_devices'] as const).map((table) =>
        db.selectFrom(table).select('user_id').where('user_id', '=', user.id).execute(),
      ),
    );
    expect(left).toEqual([[], [], []]);
    expect(await changesTold(user.email)).toEqual(['mfa-totp', 'mfa-sms', 'mfa-totp', 'mfa-off']);
    expect((await foyer.signedIn(user)).jar).toBeDefined();
  });

  it('New recovery codes void the earlier ones, and without a second factor there are none', async () => {
    const { browser, user } = await member();
    const none = await (await browser.get('/settings/recovery-codes')).text();
    expect(none).toContain('Turn one on first.');
    await browser.post('/settings/recovery-codes');
    expect(await shownCodes(browser)).toEqual([]);
    await enrol(foyer, browser);
    // Off again before they were looked at: they are void, and not shown.
    await choose(browser, { method: 'none' });
    expect(await shownCodes(browser)).toEqual([]);
    await enrol(foyer, browser);
    const first = await shownCodes(browser);
    expect(leadsTo(await browser.post('/settings/recovery-codes'))).toBe('303 /settings/recovery-codes');
    const second = await shownCodes(browser);
    expect([first.length, second.length, new Set([...first, ...second]).size]).toEqual([10, 10, 20]);
    expect(await changesTold(user.email)).toEqual(['mfa-totp', 'mfa-off', 'mfa-totp', 'recovery-codes-new']);
  });
});
