import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import { ask, resetPath } from '../password/steps.ts';
import { newPassword } from '../sign-up/steps.ts';
import { andLoad, askToSignIn, submitSignIn } from './steps.ts';
import type { Stop } from './tour.ts';
import type { TourSteps } from './tour-steps.ts';

/** Sign-in and forgotten passwords. */
export function signInStops(steps: TourSteps): Stop[] {
  const { url, demoUrl, newMember, become, visitor, at } = steps;
  const askForCode = async (page: Page, lang: Language) => {
    const t = translator(lang);
    const [{ email }, browser] = [await newMember(), visitor(lang)];
    await ask(browser, email);
    await become(page, browser);
    await page.goto(url() + resetPath(email));
    await page.getByLabel(t('password.reset.code')).waitFor();
  };

  return [
    { name: 'sign-in', open: at('/') },
    { name: 'sign-in for an app', open: (page, lang) => askToSignIn(page, demoUrl(), translator(lang)) },
    {
      name: 'sign-in with empty fields',
      async open(page, lang) {
        await page.goto(url());
        await andLoad(page, () =>
          page.getByRole('button', { name: translator(lang)('signIn.submit'), exact: true }).click(),
        );
        await page.locator('.field-error').first().waitFor();
      },
    },
    {
      name: 'sign-in refused',
      async open(page, lang) {
        await page.goto(url());
        await submitSignIn(page, { email: 'vera@example.com', password: 'not the password' }, translator(lang));
        await page.getByRole('alert').waitFor();
      },
    },
    { name: 'sign-in after a reset', open: at('/#password:reset') },
    { name: 'forgot password', open: at('/forgot-password') },
    {
      name: 'forgot password refused',
      async open(page, lang) {
        const t = translator(lang);
        await page.goto(`${url()}/forgot-password`);
        await page.getByLabel(t('password.request.username')).fill('unknown@example.com');
        await page.getByRole('button', { name: t('password.request.submit') }).click();
        await page.getByRole('alert').waitFor();
      },
    },
    { name: 'reset password', open: askForCode },
    {
      name: 'reset password refused',
      async open(page, lang) {
        const t = translator(lang);
        await askForCode(page, lang);
        await page.getByLabel(t('password.reset.code')).fill('123456');
        await page.getByLabel(t('password.reset.newPassword'), { exact: true }).fill(newPassword);
        await page.getByLabel(t('password.reset.confirmPassword')).fill('another one 7');
        await page.getByRole('button', { name: t('password.reset.submit') }).click();
        await page.getByRole('alert').waitFor();
      },
    },
    { name: 'reset password in another browser', open: at('/reset-password?username=vera@example.com') },
  ];
}
