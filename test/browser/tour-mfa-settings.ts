import type { Page } from 'playwright-core';
import type { User } from '../../server/account/index.ts';
import { type Language, translator } from '../../server/http/index.ts';
import { appCode } from '../settings/mfa-steps.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { andLoad } from './steps.ts';
import type { Stop } from './tour.ts';
import type { SettingsTour } from './tour-settings.ts';

/** The form of the act that the page is about. */
export const submitAct = (page: Page) =>
  andLoad(page, () => page.locator('.dialog-card form').first().locator('button.primary').click());

/** From the settings to the step that shows the secret; answers it. */
export async function requestSecret(page: Page, foyer: TestFoyer): Promise<string> {
  await page.goto(`${foyer.url}/settings/mfa/totp`);
  await submitAct(page);
  return (await page.locator('#totp-secret').textContent()) ?? '';
}

/** All three steps; the page shows the recovery codes then. */
export async function enrolApp(page: Page, foyer: TestFoyer): Promise<string> {
  const secret = await requestSecret(page, foyer);
  await page.locator('.dialog-card a.button.primary').click();
  await page.locator('[name=code]').fill(await appCode(secret, foyer.deps.now()));
  await submitAct(page);
  await page.locator('.recovery-codes').waitFor();
  return secret;
}

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
  const enrolled = (path: string) => async (page: Page) => {
    await signIn(page, await newMember(true));
    await enrolApp(page, foyer());
    await page.goto(foyer().url + path);
  };
  const refused = async (page: Page) => {
    await page.locator('[name=code]').fill('000000');
    await submitAct(page);
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
        await signIn(page, await newMember(true));
        await requestSecret(page, foyer());
      },
    },
    {
      name: 'mfa app, activate refused',
      async open(page) {
        await signIn(page, await newMember(true));
        await requestSecret(page, foyer());
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
        await signIn(page, await newMember(true));
        await enrolApp(page, foyer());
      },
    },
    { name: 'mfa recovery codes left', open: enrolled('/settings/recovery-codes') },
  ];
}
