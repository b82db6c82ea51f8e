import { readFile } from 'node:fs/promises';
import type { Dialog, Page } from 'playwright-core';
import { type SandboxT, translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import { findUser, type User } from '../../server/users/index.ts';
import { appCode, enrol, scanned } from '../account/mfa-steps.ts';
import { isSignedIn, signInWithTotp } from '../sign-in/factor-steps.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { password } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { andLoad, browserLocale, goOnAs, sendCode, submitSignIn } from './steps.ts';

const backend = anyBackend;

describe('the second factor in the settings', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let sandbox: Sandbox;
  let url: string;
  beforeAll(async () => {
    sandbox = await startSandbox(backend);
    url = sandbox.foyer.url;
  });
  afterAll(() => sandbox?.close());

  const now = () => sandbox.foyer.deps.now();
  const preferenceOf = async ({ id }: User) => (await findUser(sandbox.foyer.deps.database.db, id))?.mfaPreference;
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const codeField = (page: Page, t: SandboxT) => page.getByRole('textbox', { name: t('mfaSettings.totp.label') });
  /** The words behind it are part of its name. */
  const choice = (page: Page, title: string) => page.getByRole('radio', { name: new RegExp(`^${title}`) });

  /** From the card to the step that shows the secret, which the link, the QR code and the text must agree on; answers it. */
  async function toSecret(page: Page, t: SandboxT): Promise<string> {
    await page.getByRole('switch', { name: t('mfaSettings.card.toggle') }).check();
    await choice(page, t('mfaSettings.card.totp')).check();
    await button(page, t('mfaSettings.card.save')).click();
    await page.getByRole('img', { name: t('mfaSettings.totp.qr') }).waitFor();
    const secret = (await page.locator('#totp-secret').textContent()) ?? '';
    const uri = await page.getByRole('link', { name: t('mfaSettings.totp.open') }).getAttribute('href');
    expect(new URL(uri ?? '').searchParams.get('secret')).toBe(secret);
    expect(scanned(await page.content())).toBe(uri);
    return secret;
  }

  /** What the page lets one do with the codes; answers them. */
  async function keepCodes(page: Page, t: SandboxT, javaScript: boolean): Promise<string[]> {
    const shown = (await page.locator('.recovery-codes').textContent()) ?? '';
    const codes = shown.trim().split('\n');
    expect(new Set(codes).size).toBe(10);
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: t('mfaSettings.codes.download') }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('recovery-codes.txt');
    const file = await readFile(await download.path(), 'utf8');
    expect(file.split('\r\n').filter((line) => codes.includes(line))).toEqual(codes);
    if (!javaScript) return codes;
    await button(page, t('mfaSettings.codes.copy')).click();
    await page.getByText(t('mfaSettings.codes.copied')).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(codes.join('\n'));
    await button(page, t('mfaSettings.codes.print')).click();
    await page.waitForFunction(() => document.title === 'printed');
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('navigation').filter({ visible: true }).count()).toBe(0);
    expect(await page.locator('.recovery-codes').isVisible()).toBe(true);
    await page.emulateMedia({ media: 'screen' });
    return codes;
  }

  it.each<{ lang: Language; javaScript: boolean }>([
    { lang: 'en', javaScript: true },
    { lang: 'de', javaScript: false },
  ])(
    'An authenticator app is set up, signs a user in and is removed again: $lang, JavaScript $javaScript',
    async ({ lang, javaScript }) => {
      const t = translator(lang);
      const user = await sandbox.foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
      const page = await newPage({ locale: browserLocale[lang], javaScript });
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.addInitScript(() => {
        window.print = () => {
          document.title = 'printed';
        };
      });
      await goOnAs(page, await sandbox.foyer.signedIn(user), url);
      await page.goto(`${url}/settings?tab=mfa-data`);

      const secret = await toSecret(page, t);
      const onwards = page.getByRole('link', { name: t('mfaSettings.totp.next') });
      await (javaScript ? onwards.press('Enter') : onwards.click());
      await codeField(page, t).waitFor();
      await sendCode(page, await appCode(secret, now()));
      await page.getByText(t('mfaSettings.done.totp')).waitFor();
      await keepCodes(page, t, javaScript);
      const next = button(page, t('mfaSettings.codes.next'));
      // The browser refuses the form, also without scripts.
      await next.click();
      await page.getByText(t('mfaSettings.codes.once')).waitFor();
      if (javaScript) {
        let questions = 0;
        const dismiss = (dialog: Dialog) => {
          questions += 1;
          return dialog.dismiss();
        };
        page.on('dialog', dismiss);
        await page.keyboard.press('Escape');
        await page.getByText(t('mfaSettings.codes.once')).waitFor();
        await page.goto(`${url}/tos`, { timeout: 2000 }).catch(() => {});
        await page.getByText(t('mfaSettings.codes.once')).waitFor();
        expect(questions).toBeGreaterThan(0);
        page.off('dialog', dismiss);
      }
      await page.getByRole('checkbox', { name: t('mfaSettings.codes.kept') }).check();
      await (javaScript ? next.press('Enter') : next.click());
      await page.getByText(t('mfaSettings.card.left', { count: 10 })).waitFor();
      expect(await preferenceOf(user)).toBe('totp');

      // The step is used up, and the sessions' cookies are gone.
      sandbox.foyer.passTime(60_000);
      await page.context().clearCookies();
      if (javaScript) {
        await page.goto(`${url}/settings?tab=mfa-data`);
        await submitSignIn(page, { email: user.email, password }, t);
        await page.getByRole('textbox', { name: t('mfa.challenge.label') }).waitFor();
        await sendCode(page, await appCode(secret, now()));
        await page.waitForURL(`${url}/settings?tab=mfa-data`);
      } else {
        // Those pages without scripts, and with an app that waits: second-factor.browser.test.ts.
        const browser = sandbox.foyer.browser();
        await signInWithTotp(sandbox.foyer, browser, user, secret);
        await goOnAs(page, browser, url);
        await page.goto(`${url}/settings?tab=mfa-data`);
      }
      await choice(page, t('mfaSettings.card.none')).check();
      await andLoad(page, () => button(page, t('mfaSettings.card.save')).click());
      await page.getByText(t('mfaSettings.done.off')).waitFor();
      expect(await preferenceOf(user)).toBe('none');
      // The password is enough again.
      expect(await isSignedIn(await sandbox.foyer.signedIn(user))).toBe(true);
    },
  );

  it.each([375, 1366])(
    'Save on the card shows the QR code at once; only a narrow page has the link to the app above it: %s px',
    async (widthPx) => {
      const t = translator('en');
      const page = await newPage({ widthPx });
      await goOnAs(page, await sandbox.foyer.signedIn(await sandbox.foyer.addUser()), url);
      await page.goto(`${url}/settings?tab=mfa-data`);
      await page.getByRole('switch', { name: t('mfaSettings.card.toggle') }).check();
      await button(page, t('mfaSettings.card.save')).click();
      const code = page.getByRole('img', { name: t('mfaSettings.totp.qr') });
      await code.waitFor();
      // Of two links, the stylesheet shows one.
      const toApp = page.getByRole('link', { name: t('mfaSettings.totp.open') });
      expect(await toApp.count()).toBe(1);
      const [link, drawing] = await Promise.all([toApp.boundingBox(), code.boundingBox()]);
      expect((link?.y ?? 0) < (drawing?.y ?? 0)).toBe(widthPx === 375);
      expect(await page.locator('.stepper .done').count()).toBe(1);
      const filled = await page.locator('.dialog-card .button.primary').evaluateAll((buttons) => {
        const accent = getComputedStyle(document.querySelector('.brand .mark') ?? document.body).color;
        return buttons.filter((one) => one.checkVisibility() && getComputedStyle(one).backgroundColor === accent)
          .length;
      });
      expect(filled).toBe(1);
    },
  );

  thorough('An authenticator app is replaced in a dialog by keyboard alone', async () => {
    const t = translator('en');
    const browser = await sandbox.foyer.signedIn(await sandbox.foyer.addUser());
    const first = await enrol(sandbox.foyer, browser);
    const page = await newPage();
    await goOnAs(page, browser, url);
    await page.goto(`${url}/settings?tab=mfa-data`);

    const opener = page.getByRole('link', { name: t('mfaSettings.card.replace') });
    await opener.press('Enter');
    const dialog = page.getByRole('dialog', { name: t('mfaSettings.totp.title') });
    await dialog.waitFor();
    for (let presses = 0; presses < 6; presses += 1) {
      await page.keyboard.press('Tab');
      // The page behind is never reached; the browser's own controls are.
      const stays = await page.evaluate(() => {
        const focused = document.activeElement;
        return focused === document.body || focused?.closest('dialog') != null;
      });
      expect(stays).toBe(true);
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await opener.evaluate((link) => link === document.activeElement)).toBe(true);

    await opener.press('Enter');
    await dialog.getByRole('button', { name: t('mfaSettings.totp.begin') }).press('Enter');
    await page.locator('#totp-secret').waitFor();
    const second = (await page.locator('#totp-secret').textContent()) ?? '';
    expect(second).not.toBe(first);
    await page.getByRole('link', { name: t('mfaSettings.totp.next') }).press('Enter');
    await codeField(page, t).waitFor();
    await sendCode(page, await appCode(second, now()));
    await page.getByText(t('mfaSettings.done.replaced')).waitFor();
  });
});
