import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import type { Stop } from './tour.ts';
import type { TourSteps } from './tour-steps.ts';
import { visit as visitPage } from './visit.ts';

/** The terms of service, before and after a member accepts them, and the imprint. */
export function termsStops(steps: TourSteps): Stop[] {
  const { guide, url, newMember, become, signIn, at } = steps;
  const atTerms = async (page: Page, lang: Language) => {
    await signIn(page, await newMember(false));
    await page.goto(`${url()}/tos`);
    await page.getByRole('button', { name: translator(lang)('terms.accept') }).waitFor();
  };
  return [
    {
      name: 'password changed before the terms are accepted',
      async open(page) {
        await become(page, await guide().sandbox.foyer.signedIn(await newMember(false)));
        await visitPage(page, `${url()}/settings/password#password:changed`);
      },
    },
    { name: 'terms to read', open: at('/tos') },
    { name: 'imprint', open: at('/imprint') },
    { name: 'accessibility', open: at('/accessibility') },
    { name: 'terms to accept', open: atTerms },
    {
      name: 'terms declined',
      async open(page, lang) {
        const t = translator(lang);
        await atTerms(page, lang);
        await page.getByRole('button', { name: t('terms.decline') }).click();
        await page.getByText(t('terms.TERMS_OF_SERVICE_MESSAGE_DECLINE')).waitFor();
      },
    },
  ];
}
