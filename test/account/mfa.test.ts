import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import {
  changesTold,
  choose,
  enrol,
  leadsTo,
  member,
  preferenceOf,
  shownCodes,
  textsTo,
  withPhone,
} from './mfa-steps.ts';

const minuteMs = 60_000;
const phone = '+31612345642';

describe.each(backends)('the second factor in the settings on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000', BRAND_NAME: 'Maison & Söhne' });
  });
  afterAll(() => foyer?.close());

  describe('the card', () => {
    it('The card has the toggle and choices of the specification, and SMS needs a verified phone', async () => {
      const { browser } = await member(foyer, { phone, phoneVerified: false });
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
      const { browser } = await member(foyer);
      await enrol(foyer, browser);
      await browser.announce('settings:mfa-totp');
      const html = await (await browser.get('/settings?tab=mfa-data')).text();
      const card = /<section class="card" id="mfa">.*?<\/section>/s.exec(html)?.[0] ?? '';
      expect(card).not.toContain('name="enabled"');
      expect(card).toContain('<span class="chip ok">On</span>');
      expect(card).toMatch(/value="totp"/);
      expect(html).toMatch(/Recovery codes<\/p><p class="item-value">10 left</);
      expect(html).toContain('href="/settings/recovery-codes"');
      expect(html).toContain('Two-step verification is on. You’ll need a code from your authenticator app to sign in.');
    });

    it.each<[string, Record<string, string>]>([
      ['nothing is chosen', { enabled: '1' }],
      ['something else is sent', { enabled: '1', method: 'carrier pigeon' }],
      ['the toggle is off', { method: 'totp' }],
    ])('The form is refused and shown again when %s', async (_what, fields) => {
      const { browser, user } = await member(foyer);
      const answer = await choose(browser, fields);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain('Turn on two-step verification and choose a method.');
      expect(await preferenceOf(foyer, user.id)).toBe('none');
    });

    it('The form redirects to the set-up of a factor, and back when there is nothing to change', async () => {
      const { browser } = await member(foyer);
      expect(leadsTo(await choose(browser, { enabled: '1', method: 'totp' }))).toBe('303 /settings/mfa/totp/scan');
      expect(leadsTo(await choose(browser, { enabled: '1', method: 'sms' }))).toBe('303 /settings/phone');
      expect(leadsTo(await choose(browser, { enabled: '1', method: 'none' }))).toBe('303 /settings?tab=mfa-data');
      expect(leadsTo(await browser.get('/settings/mfa/sms'))).toBe('303 /settings/phone');
      expect(leadsTo(await browser.get('/settings/mfa/sms/code'))).toBe('303 /settings/phone');
    });
  });

  it('A choice that needed a reauthentication is still in the form after it', async () => {
    const { browser } = await withPhone(foyer);
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

  it('A user can switch between app and SMS without a new set-up, and Disable removes everything', async () => {
    const { browser, user } = await withPhone(foyer);
    await enrol(foyer, browser);
    await browser.post('/settings/mfa/sms');
    const [message] = await textsTo(foyer, user.phone ?? '');
    expect(leadsTo(await browser.post('/settings/mfa/sms/code', { code: message?.code ?? '' }))).toBe(
      '303 /settings?tab=mfa-data#settings:mfa-sms',
    );
    expect(leadsTo(await choose(browser, { method: 'totp' }))).toBe('303 /settings?tab=mfa-data#settings:mfa-totp');
    expect(leadsTo(await choose(browser, { method: 'totp' }))).toBe('303 /settings?tab=mfa-data');
    expect(await preferenceOf(foyer, user.id)).toBe('totp');
    expect(leadsTo(await choose(browser, { method: 'none' }))).toBe('303 /settings?tab=mfa-data#settings:mfa-off');
    const { db } = foyer.deps.database;
    const left = await Promise.all(
      (['totpAuthenticators', 'recoveryCodes', 'rememberedDevices'] as const).map((table) =>
        db.selectFrom(table).select('userId').where('userId', '=', user.id).execute(),
      ),
    );
    expect(left).toEqual([[], [], []]);
    expect(await changesTold(foyer, user.email)).toEqual(['mfa-totp', 'mfa-sms', 'mfa-totp', 'mfa-off']);
    expect((await foyer.signedIn(user)).jar).toBeDefined();
  });

  it('New recovery codes void the earlier ones, and without a second factor there are none', async () => {
    const { browser, user } = await member(foyer);
    const none = await (await browser.get('/settings/recovery-codes')).text();
    expect(none).toContain('Turn on two-step verification first.');
    await browser.post('/settings/recovery-codes');
    expect(await shownCodes(browser)).toEqual([]);
    await enrol(foyer, browser);
    // The second factor is off again before the codes were shown, so they are void.
    await choose(browser, { method: 'none' });
    expect(await shownCodes(browser)).toEqual([]);
    await enrol(foyer, browser);
    const first = await shownCodes(browser);
    expect(leadsTo(await browser.post('/settings/recovery-codes'))).toBe('303 /settings/recovery-codes');
    const second = await shownCodes(browser);
    expect([first.length, second.length, new Set([...first, ...second]).size]).toEqual([10, 10, 20]);
    expect(await changesTold(foyer, user.email)).toEqual(['mfa-totp', 'mfa-off', 'mfa-totp', 'recovery-codes-new']);
  });
});
