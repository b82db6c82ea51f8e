import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import { begin, newAddress } from '../sign-up/steps.ts';
import { enterCode, fillProfile, sendCode } from './steps.ts';
import type { Stop } from './tour.ts';
import type { TourSteps } from './tour-steps.ts';

/** Sign-up, and the code that confirms an address. */
export function signUpStops(steps: TourSteps): Stop[] {
  const { guide, url, become, visitor, heading, at } = steps;
  const atCode = async (page: Page, lang: Language) => {
    const [email, browser] = [newAddress(), visitor(lang)];
    await begin(guide().sandbox.foyer, browser, email);
    await become(page, browser);
    await page.goto(`${url()}/signup/emailCaptured`);
    await heading(page, translator(lang)('signUp.code.heading'));
    return email;
  };

  return [
    { name: 'sign-up', open: at('/signup') },
    {
      name: 'sign-up refused',
      async open(page, lang) {
        await page.goto(`${url()}/signup`);
        await fillProfile(page, { email: 'vera@', password: '' }, translator(lang));
        await page.locator('.field-error').first().waitFor();
      },
    },
    {
      name: 'sign-up begun',
      async open(page, lang) {
        await atCode(page, lang);
        await page.goto(`${url()}/signup`);
      },
    },
    { name: 'sign-up code', open: atCode },
    {
      name: 'sign-up code refused',
      async open(page, lang) {
        await atCode(page, lang);
        await sendCode(page, '000000');
        await page.locator('.field-error').waitFor();
      },
    },
    {
      name: 'sign-up confirmed',
      async open(page, lang) {
        const email = await atCode(page, lang);
        // It would go on by itself.
        await page.route(/\/redirect-/, (route) => route.abort('aborted'));
        await enterCode(page, guide().sandbox.foyer, email, translator(lang));
      },
    },
    {
      name: 'verify-code',
      async open(page, lang) {
        const member = await guide().sandbox.foyer.addUser({ emailVerified: false });
        await become(page, await guide().sandbox.foyer.signedIn(member));
        await page.goto(`${url()}/verify-code`);
        await heading(page, translator(lang)('signUp.code.heading'));
      },
    },
  ];
}
