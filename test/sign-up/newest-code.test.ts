import { formatDate } from '../../views/format.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { begin, codeFor, confirm, errorOf, forgetWait, newAddress, newPassword, otherThan } from './steps.ts';

/** The sentence beside a refused code, as a reader sees it. */
const hintOf = (html: string) =>
  /<p class="field-hint sentence">(.*?)<\/p>/.exec(html)?.[1]?.replace(/<[^>]*>/g, '') ?? '';

describe('a code that is right elsewhere', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend, { SIGN_UP_LIMIT_ADDRESS: '100000' });
  });
  afterAll(() => foyer?.close());

  /** The time on the page, which must be in words as well. */
  const sentAt = (html: string): number => {
    const atMs = Date.parse(/<time dateTime="([^"]*)"/i.exec(html)?.[1] ?? '');
    const [, named] = /(?:sent|Emailed) at ([^.]+)\./.exec(hintOf(html)) ?? [];
    expect(named).toBe(formatDate('en', atMs, 'time'));
    return atMs;
  };
  /** Sends a code meanwhile. @returns whether a time is that of the code */
  const sending = async (send: () => Promise<unknown>) => {
    const fromMs = foyer.deps.now();
    await send();
    const untilMs = foyer.deps.now();
    return (atMs: unknown) => Number(atMs) >= fromMs && Number(atMs) <= untilMs;
  };
  /** @returns the time that the page of a wrong code names */
  const refused = async (answer: Response) => {
    const html = await answer.text();
    expect([answer.status, errorOf(html, 'code')]).toEqual([400, 'Invalid code']);
    expect(hintOf(html)).toContain('Use the code from the newest email, sent at ');
    return sentAt(html);
  };

  it('The code of another device is refused with the time of the newest email, and each device keeps its own', async () => {
    const email = newAddress();
    const [first, second] = [foyer.browser(), foyer.browser()];
    const one = await begin(foyer, first, email);
    foyer.passTime(5 * 60_000);
    const isNewest = await sending(() => second.post('/sign-in', { username: email, password: newPassword }));
    const other = await codeFor(foyer, email);
    expect(isNewest(sentAt(await (await second.get('/verify-code')).text()))).toBe(true);
    const typed = one === other ? otherThan(other) : one;
    expect(isNewest(await refused(await confirm(second, typed, '/verify-code')))).toBe(true);
    // The same words for a code that was never sent to anyone.
    expect(isNewest(await refused(await confirm(second, otherThan(other), '/verify-code')))).toBe(true);
    expect((await confirm(second, other, '/verify-code')).status).toBe(303);
  });

  it('After a sign-in in another tab of the same browser the older code is refused with the time of the newer one', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    const one = await begin(foyer, browser, email);
    foyer.passTime(2 * 60_000);
    const isNewest = await sending(() => browser.post('/sign-in', { username: email, password: newPassword }));
    const other = await codeFor(foyer, email);
    const typed = one === other ? otherThan(other) : one;
    expect(isNewest(await refused(await confirm(browser, typed, '/verify-code')))).toBe(true);
  });

  it('After Resend the page says that older codes no longer work, and the older one is refused with the time', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    const one = await begin(foyer, browser, email);
    foyer.passTime(60_000);
    await forgetWait(foyer, (await browser.cookies()).foyer_sign_up ?? '');
    const isNewest = await sending(() => browser.post('/signup/emailCaptured', { act: 'resend' }));
    const page = await (await browser.get('/signup/emailCaptured')).text();
    expect(page).toContain('Email re-sent successfully! Older codes no longer work.');
    const other = await codeFor(foyer, email);
    const typed = one === other ? otherThan(other) : one;
    expect(isNewest(await refused(await confirm(browser, typed)))).toBe(true);
    const mail = (await foyer.mails(email)).filter(({ template }) => template === 'verify-email').at(-1);
    expect(isNewest(mail?.values.sentAtMs)).toBe(true);
  });

  it('An unknown address and a member read the same sentence after a forgotten password, where answers are uniform', async () => {
    const uniform = await startFoyer(anyBackend, { PREVENT_USER_EXISTENCE_ERRORS: 'true' });
    const member = await uniform.addUser();
    const pages = await Promise.all(
      [member.email, newAddress()].map(async (username) => {
        const browser = uniform.browser();
        const asked = await browser.post('/forgot-password', { username });
        // The page of an unknown address would say that no account has it.
        expect(asked.headers.get('location')).toContain('/reset-password?');
        const answer = await browser.post(`/reset-password?${new URLSearchParams({ username })}`, {
          code: '000000',
          password: newPassword,
          confirm: newPassword,
        });
        const html = await answer.text();
        return [answer.status, errorOf(html, 'code'), hintOf(html).replace(/ at .*/, '')];
      }),
    );
    await uniform.close();
    expect(pages[0]).toEqual(pages[1]);
    expect(pages[0]).toEqual([400, 'Invalid code', 'Use the code from the newest email, requested']);
  });
});
