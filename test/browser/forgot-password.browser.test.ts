import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import { codeFor, newPassword, otherThan } from '../password/steps.ts';
import { isSignedIn } from '../sign-in/factor-steps.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { password } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { atHome, browserLocale, submitSignIn } from './steps.ts';

describe('a forgotten password', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let sandbox: Sandbox;
  let url: string;
  beforeAll(async () => {
    sandbox = await startSandbox(anyBackend);
    url = sandbox.foyer.url;
  });
  afterAll(() => sandbox?.close());

  const newMember = () => sandbox.foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
  const ask = async (page: Page, email: string, lang: Language = 'en') => {
    const t = translator(lang);
    await page.getByRole('heading', { name: t('password.request.heading') }).waitFor();
    await page.getByLabel(t('password.request.username')).fill(email);
    await page.getByRole('button', { name: t('password.request.submit') }).click();
    await page.getByRole('heading', { name: t('password.reset.title') }).waitFor();
  };
  const fill = async (page: Page, code: string, lang: Language = 'en', confirm = newPassword) => {
    const t = translator(lang);
    await page.getByLabel(t('password.reset.code')).fill(code);
    await page.getByLabel(t('password.reset.newPassword'), { exact: true }).fill(newPassword);
    await page.getByLabel(t('password.reset.confirmPassword')).fill(confirm);
    await page.getByRole('button', { name: t('password.reset.submit') }).click();
  };

  it.each<{ lang: Language; javaScript: boolean }>([
    { lang: 'en', javaScript: true },
    { lang: 'de', javaScript: false },
  ])('A password reset on the way to a client ends older sessions: $lang, JavaScript $javaScript', async (way) => {
    const { lang, javaScript } = way;
    const t = translator(lang);
    const user = await newMember();
    const old = await sandbox.foyer.signedIn(user);
    const page = await newPage({ locale: browserLocale[lang], javaScript });
    await page.goto(`${sandbox.demoUrl}/sign-in`);
    await page.getByRole('link', { name: t('signIn.forgot') }).click();
    await ask(page, user.email, lang);
    await fill(page, await codeFor(sandbox.foyer, user.email), lang);
    await page.getByText(t('password.reset.done')).waitFor();
    expect((await old.get('/')).status).toBe(200);
    await submitSignIn(page, { email: user.email, password }, t);
    await page.getByText(t('signIn.errors.incorrect')).waitFor();
    await submitSignIn(page, { email: user.email, password: newPassword }, t);
    if (!javaScript) await page.getByRole('button', { name: t('oauth.verify.continue') }).click();
    await atHome(page, 'Vera Lindqvist', t);
  });

  it.each<{ lang: Language; javaScript: boolean }>([
    { lang: 'de', javaScript: true },
    { lang: 'en', javaScript: false },
  ])(
    'A password reset without a client ends older sessions: $lang, JavaScript $javaScript',
    async ({ lang, javaScript }) => {
      const user = await newMember();
      const old = await sandbox.foyer.signedIn(user);
      const page = await newPage({ locale: browserLocale[lang], javaScript });
      await page.goto(`${url}/forgot-password`);
      await ask(page, user.email, lang);
      await fill(page, await codeFor(sandbox.foyer, user.email), lang);
      await page.getByText(translator(lang)('password.reset.done')).waitFor();
      expect((await old.get('/')).status).toBe(200);
      // By the form alone: the ways above go through its page.
      const browser = sandbox.foyer.browser();
      await browser.post('/sign-in', { username: user.email, password });
      expect(await isSignedIn(browser)).toBe(false);
      await browser.post('/sign-in', { username: user.email, password: newPassword });
      expect(await isSignedIn(browser)).toBe(true);
    },
  );

  thorough('The notice that a code was sent disappears, while errors stay until they are corrected', async () => {
    const user = await newMember();
    const page = await newPage();
    await page.goto(`${url}/forgot-password`);
    const sent = page.getByText('Account confirmed successfully!');
    // It is there for a second and a half, before the page for the code.
    await Promise.all([sent.waitFor(), ask(page, user.email)]);
    expect(await sent.count()).toBe(0);
    // Until the button may be used, the seconds are in its place.
    await page.getByText(/^You can resend in \d+ s$/).waitFor();
    await page.getByRole('button', { name: 'Send again' }).waitFor({ state: 'detached' });
    const code = await codeFor(sandbox.foyer, user.email);
    await fill(page, otherThan(code));
    await page.getByText('Invalid code').waitFor();
    await fill(page, code, 'en', 'something else 7');
    await page.getByText('The two passwords that you entered are inconsistent!').waitFor();
    expect(await page.content()).not.toContain(newPassword);
    // The right code stays; a wrong number of digits is not even sent.
    expect(await page.getByLabel('Confirmation code').inputValue()).toBe(code);
    await page.getByLabel('Confirmation code').fill('123');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('Please enter all 6 digits.').waitFor();
    await page.getByRole('link', { name: 'Use another one' }).click();
    await page.getByRole('link', { name: 'Ooh! Wait! I’ve remembered!' }).click();
    await page.getByLabel('Email or phone').waitFor();
    expect(page.url()).toBe(`${url}/`);
  });
});
