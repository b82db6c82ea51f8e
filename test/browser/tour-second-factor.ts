import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import type { User } from '../../server/users/index.ts';
import { memberWithSms, memberWithTotp, toChallenge } from '../sign-in/factor-steps.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { andLoad, sendCode } from './steps.ts';
import type { Stop } from './tour.ts';

interface SecondFactorTour {
  foyer(): TestFoyer;
  signIn(page: Page, member?: User): Promise<void>;
}

/** The second step of a sign-in in all its states, and the password that is asked for again. */
export function secondFactorStops({ foyer, signIn }: SecondFactorTour): Stop[] {
  /** The password was right: the page that follows, without drawing the one before. */
  async function challenged(page: Page, user: User): Promise<void> {
    const browser = foyer().browser();
    await toChallenge(browser, user);
    const cookies = await browser.jar.getCookies(foyer().url);
    await page
      .context()
      .addCookies(cookies.map(({ key, value }) => ({ name: key, value, domain: 'localhost', path: '/' })));
    await page.goto(`${foyer().url}/second-factor`);
    await page.getByRole('dialog').waitFor();
  }
  let numbers = 0;
  const withApp = async (page: Page) => {
    numbers += 1;
    const phone = `+4915112399${String(numbers).padStart(3, '0')}`;
    await challenged(page, (await memberWithTotp(foyer(), { phone, phoneVerified: true })).user);
  };
  const submit = async (page: Page, lang: Language) => {
    const confirm = page.getByRole('dialog').getByRole('button', { name: translator(lang)('mfa.challenge.confirm') });
    await andLoad(page, () => confirm.click());
  };
  return [
    {
      name: 'second factor, app refused',
      async open(page) {
        await withApp(page);
        await sendCode(page, '000000');
        await page.locator('.field-error').waitFor();
      },
    },
    {
      name: 'second factor, text message',
      async open(page) {
        await challenged(page, (await memberWithSms(foyer())).user);
      },
    },
    {
      name: 'second factor, recovery code',
      async open(page, lang) {
        await withApp(page);
        const other = page.getByRole('button', { name: translator(lang)('mfa.challenge.useRecovery') });
        await andLoad(page, () => other.click());
        await page.locator('#field-code').fill('WXYZ-WXYZ-WXYZ-WXYZ');
        await submit(page, lang);
        await page.locator('.field-error').waitFor();
      },
    },
    {
      name: 'password again refused',
      async open(page, lang) {
        await signIn(page);
        await page.goto(`${foyer().url}/re-authenticate?redirect=/settings`);
        const t = translator(lang);
        await page.getByLabel(t('signIn.password'), { exact: true }).fill('not the password');
        await andLoad(page, () =>
          page.getByRole('button', { name: t('signIn.reauthenticate.submit'), exact: true }).click(),
        );
        await page.locator('.field-error').waitFor();
      },
    },
  ];
}
