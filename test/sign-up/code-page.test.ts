import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import {
  begin,
  codeFor,
  confirm,
  errorOf,
  forgetWait,
  member,
  newAddress,
  newPassword,
  otherThan,
  profile,
  valueOfField,
} from './steps.ts';

describe.each(backends)('the code page of a sign-up on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { SIGN_UP_LIMIT_ADDRESS: '100000' });
  });
  afterAll(() => foyer?.close());

  it('A code must be complete and right, and a refused one is removed from its field', async () => {
    const browser = foyer.browser();
    const code = await begin(foyer, browser, newAddress());
    for (const short of ['', '12345', '1234567', 'abcdef', '12345a', '１２３４５６']) {
      const answer = await confirm(browser, short);
      const html = await answer.text();
      expect([short, answer.status, errorOf(html, 'code')]).toEqual([short, 400, 'Please enter all 6 digits.']);
      expect(html).toContain('field invalid');
      expect(valueOfField(html, 'code') ?? '').toBe('');
    }
    const wrong = await confirm(browser, otherThan(code));
    const html = await wrong.text();
    expect([wrong.status, errorOf(html, 'code'), valueOfField(html, 'code') ?? '']).toEqual([400, 'Invalid code', '']);
    expect(locationOf(await confirm(browser, code))).toBe(`${foyer.url}/signup/verifiedCode`);
  });

  it('Resend sends another code after a wait, which the page shows, and the previous code is void', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    const first = await begin(foyer, browser, email);
    expect(await (await browser.get('/signup/emailCaptured')).text()).toMatch(/You can resend in [1-3]?\d s/);
    const soon = await browser.post('/signup/emailCaptured', { act: 'resend' });
    const html = await soon.text();
    expect(soon.status).toBe(429);
    expect(Number(soon.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(html).toContain('Sending failed');
    await forgetWait(foyer, (await browser.cookies()).foyer_sign_up ?? '');
    const sent = await browser.post('/signup/emailCaptured', { act: 'resend' });
    expect([sent.status, locationOf(sent)]).toEqual([303, `${foyer.url}/signup/emailCaptured`]);
    expect(await (await browser.get('/signup/emailCaptured')).text()).toContain('Email re-sent successfully!');
    const second = await codeFor(foyer, email);
    if (first !== second) expect((await confirm(browser, first)).status).toBe(400);
    expect((await confirm(browser, second)).status).toBe(303);
    foyer.passTime(11_000);
  });

  it('Of several codes for one address the newest arrives last, whichever flow requested it', async () => {
    const email = newAddress();
    const browsers = Array.from({ length: 4 }, () => foyer.browser());
    for (const browser of browsers) await browser.post('/signup', profile(email));
    const last = browsers.at(-1) ?? foyer.browser();
    expect((await confirm(last, await codeFor(foyer, email))).status).toBe(303);
  });

  it('“Back” keeps what was entered except the password and sends a code to the other address', async () => {
    const [wrong, right] = [newAddress(), newAddress()];
    const browser = foyer.browser();
    const first = await begin(foyer, browser, wrong);
    const page = await (await browser.get('/signup/emailCaptured')).text();
    const backHref = /href="([^"]+)">Back</.exec(page)?.[1] ?? '';
    const back = await (await browser.get(backHref)).text();
    expect([valueOfField(back, 'given_name'), valueOfField(back, 'family_name'), valueOfField(back, 'email')]).toEqual([
      'Ida',
      'Sommer',
      wrong,
    ]);
    expect(back).toContain('Start over');
    expect(back).toContain('href="/signup/emailCaptured"');
    expect(back).not.toContain(newPassword);
    const second = await begin(foyer, browser, right);
    expect(await (await browser.get('/signup/emailCaptured')).text()).toContain(right);
    if (first !== second) expect((await confirm(browser, first)).status).toBe(400);
    expect((await confirm(browser, second)).status).toBe(303);
    expect([await member(foyer, wrong), (await member(foyer, right))?.email]).toEqual([undefined, right]);
  });

  it.each([
    ['Start over', '/signup', { act: 'start-over' }, '/signup'],
    ['Start over at the code', '/signup/emailCaptured', { act: 'start-over' }, '/signup'],
    ['Cancel', '/signup/emailCaptured', { act: 'cancel' }, '/'],
  ])('%s forgets the sign-up, also for a copy of its cookie', async (_name, path, fields, to) => {
    const browser = foyer.browser();
    const code = await begin(foyer, browser, newAddress());
    const cookie = await browser.jar.getCookieString(foyer.url);
    expect(locationOf(await browser.post(path, fields))).toBe(foyer.url + to);
    expect((await browser.cookies()).foyer_sign_up ?? '').toBe('');
    const copy = foyer.browser();
    await copy.jar.setCookie(cookie, foyer.url);
    expect((await confirm(copy, code)).status).toBe(400);
    const fresh = await (await browser.get('/signup')).text();
    expect([valueOfField(fresh, 'email') ?? '', fresh.includes('Start over')]).toEqual(['', false]);
  });
});
