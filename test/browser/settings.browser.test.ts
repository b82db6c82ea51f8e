import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import { findUser, type User } from '../../server/users/index.ts';
import { newPassword } from '../password/steps.ts';
import {
  appCode,
  giveRecoveryCodes,
  giveTotp,
  show,
  signInWithTotp,
  stepMs,
  toChallenge,
} from '../sign-in/factor-steps.ts';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { password } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { browserLocale, goOnAs } from './steps.ts';

const backend = anyBackend;

describe('the settings', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let sandbox: Sandbox;
  let url: string;
  let user: User;
  beforeAll(async () => {
    sandbox = await startSandbox(backend);
    url = sandbox.foyer.url;
  });
  beforeEach(async () => {
    user = await sandbox.foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
  });
  afterAll(() => sandbox?.close());

  const stored = () => findUser(sandbox.foyer.deps.database.db, user.id);

  async function atSettings(lang: Language = 'en', javaScript = true): Promise<Page> {
    const page = await newPage({ locale: browserLocale[lang], javaScript });
    await goOnAs(page, await sandbox.foyer.signedIn(user), url);
    await page.goto(`${url}/settings`);
    await page.getByRole('heading', { level: 1, name: translator(lang)('settings.title') }).waitFor();
    return page;
  }

  it.each<{ lang: Language; javaScript: boolean }>([
    { lang: 'en', javaScript: true },
    { lang: 'de', javaScript: false },
  ])('A user changes name, user data and password: $lang, JavaScript $javaScript', async ({ lang, javaScript }) => {
    const t = translator(lang);
    const page = await atSettings(lang, javaScript);
    const edit = async (path: string, title: string) => {
      await page.locator(`a[href="${path}"]`).click();
      // On a page of its own, or lifted onto the home.
      await page.getByRole('heading', { level: 2, name: title }).waitFor();
      expect(new URL(page.url()).pathname).toBe(javaScript ? '/settings' : path);
      return page.locator('.dialog-card');
    };

    const name = await edit('/settings/name', t('settings.name.title'));
    await name.getByLabel(t('settings.name.givenName'), { exact: true }).fill('Wilhelmina');
    await name.getByRole('button', { name: t('settings.save') }).click();
    await page.getByText(t('settings.TAB_USER_DATA_MESSAGE_UPDATE_ATTRIBUTE_SUCCESS')).waitFor();
    await page.locator('.name-card').getByText('Wilhelmina').waitFor();

    const tabs = page.locator('.tabs');
    await tabs.getByText(t('settings.tabs.userData'), { exact: true }).click();
    const data = await edit('/settings/profile', t('settings.userData.edit'));
    await data.getByLabel(t('settings.userData.fields.birthdate')).fill('1984-02-29');
    await data.getByLabel(t('settings.userData.fields.gender')).selectOption('1');
    await data.getByLabel(t('settings.userData.fields.companyName')).fill('Lindqvist & Co');
    await data.getByLabel(t('settings.userData.newsletterLabel')).check();
    await data.getByRole('button', { name: t('settings.save') }).click();
    // The panel that was changed is the one that is shown.
    await page.locator('#panel-user-data').getByText('Lindqvist & Co').waitFor();
    expect(await page.locator('#panel-sign-in').isVisible()).toBe(false);

    await tabs.getByText(t('settings.tabs.signIn'), { exact: true }).click();
    const change = await edit('/settings/password', t('settings.password.title'));
    await change.getByLabel(t('settings.password.old'), { exact: true }).fill(password);
    await change.getByLabel(t('settings.password.new'), { exact: true }).fill(newPassword);
    await change.getByRole('button', { name: t('settings.password.submit') }).click();
    await page.getByText(t('settings.password.done')).waitFor();
    expect(await stored()).toMatchObject({
      givenName: 'Wilhelmina',
      birthdate: '1984-02-29',
      gender: '1',
      companyName: 'Lindqvist & Co',
      newsletter: true,
      passwordEpoch: user.passwordEpoch + 1,
    });
    // Still signed in.
    await page.goto(`${url}/settings`);
    await page.getByRole('heading', { level: 1, name: t('settings.title') }).waitFor();
  });

  it('A dialog is opened, closed and sent by the keyboard alone', async () => {
    const page = await atSettings();
    const edit = page.locator('a[href="/settings/name"]');
    const dialog = page.getByRole('dialog', { name: 'Edit name' });
    const focused = () =>
      page.evaluate(() => document.activeElement?.getAttribute('name') ?? document.activeElement?.tagName);
    await edit.focus();
    await page.keyboard.press('Enter');
    await dialog.waitFor();
    expect(await focused()).toBe('given_name');
    expect(await axeFindings(page)).toEqual([]);
    // Round and round, and never onto the page behind.
    for (let times = 0; times < 12; times += 1) {
      await page.keyboard.press(times < 8 ? 'Tab' : 'Shift+Tab');
      const inside = await page.evaluate(() => {
        const at = document.activeElement;
        return at === document.body || at?.closest('dialog[open]') !== null;
      });
      expect([times, inside]).toEqual([times, true]);
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await edit.evaluate((link) => link === document.activeElement)).toBe(true);
    expect((await stored())?.givenName).toBe('Vera');

    await page.keyboard.press('Enter');
    await dialog.waitFor();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('Wil');
    await page.keyboard.press('Enter');
    await page.locator('.name-card').getByText('Wil', { exact: true }).waitFor();
    expect((await stored())?.givenName).toBe('Wil');
  });

  it('Every dialog of the settings takes the keyboard focus, keeps it and returns it', async () => {
    const { foyer } = sandbox;
    const nowMs = foyer.deps.now();
    const phone = '+4915112345678';
    const member = await foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist', phone, phoneVerified: true });
    const secret = await giveTotp(foyer, member);
    await giveRecoveryCodes(foyer, member);
    await foyer.deps.database.db
      .insertInto('passkeys')
      .values({
        id: 'a-passkey',
        userId: member.id,
        name: 'Red laptop',
        publicKey: '',
        counter: 0,
        transports: '',
        aaguid: '',
        backedUp: 0,
        createdAt: nowMs,
        lastUsedAt: null,
      })
      .execute();
    const elsewhere = foyer.browser();
    await toChallenge(elsewhere, member);
    await show(elsewhere, await appCode(foyer, secret, -stepMs), { rememberDevice: '1' });
    const browser = foyer.browser();
    await signInWithTotp(foyer, browser, member, secret);
    const page = await newPage();
    await goOnAs(page, browser, url);

    const tabs = ['sign-in', 'user-data', 'device-data', 'mfa-data'].map((tab) => `/settings?tab=${tab}`);
    const opened: string[] = [];
    for (const at of [...tabs, '/settings/passkeys']) {
      await page.goto(url + at);
      await page.waitForFunction(() => document.documentElement.classList.contains('scripted'));
      const links = page.locator('main [data-island="dialog"] a:visible');
      for (let index = 0; index < (await links.count()); index += 1) {
        const link = links.nth(index);
        const name = `${at} ${await link.getAttribute('href')}`;
        await link.focus();
        await page.keyboard.press('Enter');
        await page.locator('dialog[open] [data-lift]').waitFor();
        expect({ name, axe: await axeFindings(page) }).toEqual({ name, axe: [] });
        for (const key of ['Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Shift+Tab', 'Shift+Tab']) {
          await page.keyboard.press(key);
          const inside = await page.evaluate(() => {
            const focused = document.activeElement;
            return focused === document.body || focused?.closest('dialog[open]') !== null;
          });
          expect({ name, key, inside }).toEqual({ name, key, inside: true });
        }
        await page.keyboard.press('Escape');
        await page.locator('dialog[open]').waitFor({ state: 'detached' });
        expect({ name, back: await link.evaluate((own) => own === document.activeElement) }).toEqual({
          name,
          back: true,
        });
        opened.push(name);
      }
    }
    const paths = new Set(opened.map((name) => new URL(name.split(' ')[1] ?? '', url).pathname));
    for (const path of [
      'name',
      'email',
      'phone',
      'password',
      'profile',
      'delete-account',
      'passkeys/rename',
      'passkeys/remove',
    ]) {
      expect([...paths]).toContain(`/settings/${path}`);
    }
    expect(paths.size).toBeGreaterThan(13);
  }, 90_000);

  it('The password checklist works in a dialog, and the terms open as a dialog', async () => {
    const page = await atSettings();
    await page.locator('a[href="/settings/password"]').click();
    const dialog = page.getByRole('dialog', { name: 'Change password' });
    await dialog.getByLabel('New password', { exact: true }).fill('long enough 7');
    await dialog.getByText('At least 8 characters').and(page.locator('.met, .met *')).first().waitFor();
    await dialog.getByText('Close', { exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.goto(`${url}/settings?tab=user-data`);
    await page.locator('main a[href="/tos"]').click();
    await page.getByRole('dialog', { name: 'Terms of Service' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(new URL(page.url()).pathname).toBe('/settings');
  });

  it('The tabs are links that set the address and the marked tab, also by keyboard', async () => {
    const page = await atSettings();
    const tabs = page.locator('.tabs');
    await tabs.getByText('Devices').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/settings?tab=user-data#panel-user-data`);
    expect(await tabs.locator('[aria-current="page"]').textContent()).toBe('User data');
    expect(await page.locator('#panel-sign-in').count()).toBe(0);
    expect(await page.locator('#panel-user-data').isVisible()).toBe(true);
    // The tabs stay in sight above the panel.
    expect(await tabs.evaluate((element) => element.getBoundingClientRect().top >= 0)).toBe(true);
    expect(await axeFindings(page)).toEqual([]);
  });
});
