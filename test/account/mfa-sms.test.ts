import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { changesTold, choose, leadsTo, preferenceOf, shownCodes, textsTo, withPhone } from './mfa-steps.ts';

describe.each(backends)('codes by SMS in the settings on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000', BRAND_NAME: 'Maison & Söhne' });
  });
  afterAll(() => foyer?.close());

  const send = (browser: Browser) => browser.post('/settings/mfa/sms');
  const codeTo = async (number: string) => (await textsTo(foyer, number))[0]?.code ?? '';

  it('SMS codes are turned on by a code that arrives', async () => {
    const { browser, user } = await withPhone(foyer);
    const number = user.phone ?? '';
    expect(leadsTo(await choose(browser, { enabled: '1', method: 'sms' }))).toBe('303 /settings/mfa/sms');
    expect(leadsTo(await browser.get('/settings/mfa/sms/code'))).toBe('303 /settings/mfa/sms');
    const page = await (await browser.get('/settings/mfa/sms')).text();
    expect(page).toContain(`+31…${number.slice(-2)}`);
    expect(page).not.toContain(number);
    expect(leadsTo(await send(browser))).toBe('303 /settings/mfa/sms/code');
    expect(await (await browser.get('/settings/mfa/sms/code')).text()).toContain(
      `We have sent a code to +31…${number.slice(-2)}. It’s valid for 10 minutes.`,
    );
    const code = await codeTo(number);
    expect(code).toMatch(/^\d{6}$/);
    const wrong = String((Number(code) + 1) % 1e6).padStart(6, '0');
    const refused = await browser.post('/settings/mfa/sms/code', { code: wrong });
    expect([refused.status, (await refused.text()).includes('Invalid code')]).toEqual([400, true]);
    expect(await preferenceOf(foyer, user.id)).toBe('none');
    expect(leadsTo(await browser.post('/settings/mfa/sms/code', { code }))).toBe('303 /settings/recovery-codes');
    expect(await preferenceOf(foyer, user.id)).toBe('sms');
    expect(await shownCodes(browser)).toHaveLength(10);
    expect(await changesTold(foyer, user.email)).toEqual(['mfa-sms']);
  });

  it('A new code can be sent only after a wait, and the code of another session is refused', async () => {
    const { browser, user } = await withPhone(foyer);
    await send(browser);
    const soon = await browser.post('/settings/mfa/sms/code', { act: 'resend' });
    expect([soon.status, (await soon.text()).includes('A code has just been sent.')]).toEqual([429, true]);
    const other = await foyer.signedIn(user);
    const code = await codeTo(user.phone ?? '');
    expect((await other.post('/settings/mfa/sms/code', { code })).status).toBe(400);
    expect(await preferenceOf(foyer, user.id)).toBe('none');
  });
});
