import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import type { User } from '../../server/users/index.ts';
import {
  appCode,
  giveRecoveryCodes,
  memberWithSms,
  memberWithTotp,
  otherThan,
  stepMs,
  toChallenge,
} from '../sign-in/factor-steps.ts';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { password } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { andLoad, atHome, browserLocale, goOnAs, listed, sendCode, submitSignIn } from './steps.ts';

const backend = anyBackend;
/** On wide screens the dialog is not modal: it has the place of the form. */
const phonePx = 375;

describe('the second step in a browser', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox(backend);
  });
  afterAll(() => sandbox?.close());

  const dialog = (page: Page) => page.locator('dialog');
  const isModal = (page: Page) => dialog(page).evaluate((element) => element.matches(':modal'));
  /** The browser gives the focus when it draws the page, which may be after it has loaded. */
  const focusOn = (page: Page, id: string) => page.locator(`#${id}:focus`).waitFor();
  const focused = (page: Page) =>
    page.evaluate(() => {
      const { activeElement: at } = document;
      return { inDialog: at?.closest('dialog') !== null, inPage: at !== document.body, id: at?.id };
    });
  const confirm = (page: Page, lang: Language) =>
    page.getByRole('button', { name: translator(lang)('mfa.challenge.confirm'), exact: true });

  /** The page that asks, after the password was right: the ways from a client app go through the form. */
  async function challenged(page: Page, user: User): Promise<void> {
    const browser = sandbox.foyer.browser();
    await toChallenge(browser, user);
    await goOnAs(page, browser, sandbox.foyer.url);
    await page.goto(`${sandbox.foyer.url}/second-factor`);
  }

  const ways: { lang: Language; javaScript: boolean }[] = [
    { lang: 'en', javaScript: true },
    { lang: 'de', javaScript: false },
  ];

  it.each(ways)(
    'A user signs in to a client with the code of an authenticator app: $lang, JavaScript $javaScript',
    async (way) => {
      const { lang, javaScript } = way;
      const t = translator(lang);
      const { user, secret } = await memberWithTotp(sandbox.foyer, { givenName: 'Vera', familyName: 'Lindqvist' });
      const page = await newPage({ locale: browserLocale[lang], javaScript, widthPx: phonePx });
      await page.goto(`${sandbox.demoUrl}/sign-in`);
      await submitSignIn(page, { email: user.email, password }, t);
      await page.getByText(t('mfa.challenge.totp')).waitFor();
      expect(await isModal(page)).toBe(javaScript);
      // What stands behind it is there to look at, or not at all.
      expect(await page.getByText(t('signIn.heading'), { exact: true }).isVisible()).toBe(javaScript);
      const field = page.locator('#field-code');
      expect(await field.getAttribute('inputmode')).toBe('numeric');
      expect(await field.getAttribute('autocomplete')).toBe('one-time-code');

      await sendCode(page, otherThan(await appCode(sandbox.foyer, secret), 500_000));
      await page.getByText(t('codes.wrong'), { exact: true }).waitFor();
      if (javaScript) expect(await axeFindings(page)).toEqual([]);
      await sendCode(page, await appCode(sandbox.foyer, secret));
      if (!javaScript) await page.getByRole('button', { name: t('oauth.verify.continue') }).click();
      await atHome(page, 'Vera Lindqvist', t);
      const claims = await listed(page, t('sandbox.demo.idToken'));
      expect(claims).toMatchObject({ email: user.email, amr: '["pwd","otp","mfa"]' });
    },
  );

  thorough.each([true, false])(
    'A user signs in with the code from the sandbox’s phone (JavaScript: %s)',
    async (javaScript) => {
      const { user, phone } = await memberWithSms(sandbox.foyer);
      const page = await newPage({ javaScript, widthPx: phonePx });
      await challenged(page, user);
      await page.getByText('We have sent a code to your phone').waitFor();
      await sandbox.foyer.texts(phone);
      await (javaScript ? dialog(page) : page).getByRole('link', { name: 'Open the mailbox' }).click();
      await page.getByLabel('Recipient').fill(phone);
      await page.getByRole('button', { name: 'Show' }).click();
      const code = await page.locator('.message-code code').first().textContent();
      expect(code).toMatch(/^\d{6}$/);
      await page.goto(`${sandbox.foyer.url}/second-factor`);
      await sendCode(page, code ?? '');
      await page.waitForURL(/\/sandbox\/search/);
    },
  );

  thorough.each([true, false])(
    'A user signs in with a recovery code in place of the app (JavaScript: %s)',
    async (javaScript) => {
      const { user } = await memberWithTotp(sandbox.foyer);
      const [code = ''] = await giveRecoveryCodes(sandbox.foyer, user);
      const page = await newPage({ javaScript, widthPx: phonePx });
      await challenged(page, user);
      await andLoad(page, () => page.getByRole('button', { name: 'Recovery code' }).click());
      expect(await isModal(page)).toBe(javaScript);
      await page.locator('#field-code').fill(code.toLowerCase());
      await confirm(page, 'en').click();
      await page.waitForURL(/\/sandbox\/search/);
    },
  );

  it('On a wide screen the code is asked for in the place of the sign-in form, with and without scripts', async () => {
    const { user } = await memberWithTotp(sandbox.foyer);
    for (const javaScript of [true, false]) {
      const page = await newPage({ javaScript, widthPx: 1366 });
      await page.goto(sandbox.foyer.url);
      const place = await page.locator('#content .panel').boundingBox();
      await challenged(page, user);
      const { x, width } = (await dialog(page).boundingBox()) ?? {};
      expect({ x, width, isModal: await isModal(page) }).toEqual({ x: place?.x, width: place?.width, isModal: false });
      // The page around it works, and Cancel leads back.
      await page.getByRole('link', { name: 'Terms of Service' }).first().click({ trial: true });
      await andLoad(page, () => page.getByRole('button', { name: 'Cancel' }).click());
      expect([new URL(page.url()).pathname, await dialog(page).count()]).toEqual(['/', 0]);
    }
  });

  thorough('The keyboard focus stays in the dialog and returns to the form after Escape', async () => {
    const { user, secret } = await memberWithTotp(sandbox.foyer);
    const page = await newPage({ widthPx: phonePx });
    await page.goto(`${sandbox.foyer.url}/?redirect=/settings`);
    const signIn = async () => {
      await focusOn(page, 'field-username');
      await page.keyboard.type(user.email);
      await page.locator('#field-password').focus();
      await page.keyboard.type(password);
      await andLoad(page, () => page.keyboard.press('Enter'));
      await page.locator('dialog:modal').waitFor();
      await focusOn(page, 'field-code');
    };
    await signIn();
    // Round and round: never behind the dialog (the browser's own controls count as outside).
    const seen = new Set<string>();
    for (let n = 0; n < 14; n += 1) {
      await page.keyboard.press('Tab');
      const at = await focused(page);
      expect({ n, behind: at.inPage && !at.inDialog }).toEqual({ n, behind: false });
      seen.add(await page.evaluate(() => document.activeElement?.textContent || document.activeElement?.id || ''));
    }
    expect([...seen]).toEqual(expect.arrayContaining(['field-code', 'Confirm', 'Recovery code']));

    await andLoad(page, () => page.keyboard.press('Escape'));
    expect(new URL(page.url()).pathname).toBe('/');
    expect(await page.locator('dialog').count()).toBe(0);
    // Nobody is signed in; the errand is still there.
    await signIn();
    sandbox.foyer.passTime(stepMs);
    await page.keyboard.type(await appCode(sandbox.foyer, secret));
    await page.keyboard.press('Enter');
    await page.waitForURL(`${sandbox.foyer.url}/settings`);
  });
});
