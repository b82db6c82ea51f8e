import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import type { User } from '../../server/users/index.ts';
import { begin, enrol, shownCodes } from '../account/mfa-steps.ts';
import { andLoad, goOnAs, sendCode, withoutPages } from './steps.ts';
import type { Stop } from './tour.ts';
import type { SettingsTour } from './tour-settings.ts';

/** The form of the act that the page is about. */
export const submitAct = (page: Page) =>
  andLoad(page, () => page.locator('.dialog-card form').first().locator('button.primary').click());

let numbers = 0;

/** The second factor in the settings: the card in its states, each step, refusals, the codes. */
export function mfaSettingsStops({ foyer, signIn }: SettingsTour): Stop[] {
  async function newMember(phoneVerified: boolean): Promise<User> {
    numbers += 1;
    const phone = `+3161234${String(numbers).padStart(4, '0')}`;
    return foyer().addUser({ givenName: 'Vera', familyName: 'Lindqvist', phone, phoneVerified });
  }
  const visit = async (page: Page, path: string, phoneVerified = true) => {
    await signIn(page, await newMember(phoneVerified));
    await page.goto(foyer().url + path);
  };
  /** Signs a member in who has been through all three steps: the next page that shows the recovery codes shows them. */
  const enrolApp = async (page: Page) => {
    await signIn(page, await newMember(true));
    const browser = await withoutPages(page, foyer().url);
    await enrol(foyer(), browser);
    return browser;
  };
  const enrolled = (path: string) => async (page: Page) => {
    const browser = await enrolApp(page);
    await shownCodes(browser);
    await goOnAs(page, browser, foyer().url);
    await page.goto(foyer().url + path);
  };
  /** The step that shows the secret has been asked for. */
  const toScan = async (page: Page) => {
    await signIn(page, await newMember(true));
    const browser = await withoutPages(page, foyer().url);
    await begin(browser);
    await goOnAs(page, browser, foyer().url);
  };
  const refused = async (page: Page) => {
    await sendCode(page, '000000');
    await page.locator('.field-error').waitFor();
  };
  const atSmsCode = async (page: Page) => {
    await visit(page, '/settings/mfa/sms');
    await submitAct(page);
    await page.locator('[name=code]').waitFor();
  };
  return [
    {
      name: 'mfa card opened, no phone',
      async open(page) {
        await visit(page, '/settings?tab=mfa-data', false);
        await page.locator('[name=enabled]').check();
      },
    },
    { name: 'mfa card off', open: (page) => visit(page, '/settings?tab=mfa-data', true) },
    { name: 'mfa card on', open: enrolled('/settings?tab=mfa-data') },
    {
      name: 'mfa app, replace as a dialog',
      async open(page, lang: Language) {
        await enrolled('/settings?tab=mfa-data')(page);
        await page.locator('a[href="/settings/mfa/totp"]').click();
        await page.getByRole('dialog', { name: translator(lang)('mfaSettings.totp.title') }).waitFor();
      },
    },
    {
      name: 'mfa app, scan',
      async open(page) {
        await toScan(page);
        await page.goto(`${foyer().url}/settings/mfa/totp/scan`);
      },
    },
    {
      name: 'mfa app, activate refused',
      async open(page) {
        await toScan(page);
        await page.goto(`${foyer().url}/settings/mfa/totp/activate`);
        await refused(page);
      },
    },
    {
      name: 'mfa sms code refused',
      async open(page) {
        await atSmsCode(page);
        await refused(page);
      },
    },
    {
      name: 'mfa recovery codes',
      async open(page) {
        await goOnAs(page, await enrolApp(page), foyer().url);
        await page.goto(`${foyer().url}/settings/recovery-codes`);
        await page.locator('.recovery-codes').waitFor();
      },
    },
    { name: 'mfa recovery codes left', open: enrolled('/settings/recovery-codes') },
  ];
}
