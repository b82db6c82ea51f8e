import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import type { User } from '../../server/users/index.ts';
import { Browser } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { submitSignIn } from './steps.ts';
import type { TourGuide } from './tour.ts';
import { visit } from './visit.ts';

/** The steps that several parts of the tour share. */
export function createTourSteps(guide: () => TourGuide) {
  const url = () => guide().sandbox.foyer.url;
  const demoUrl = () => guide().sandbox.demoUrl;
  const newMember = (terms = true) =>
    guide().sandbox.foyer.addUser({
      givenName: 'Vera',
      familyName: 'Lindqvist',
      ...(!terms && { acceptedTosVersion: null }),
    });
  const submit = async (page: Page, lang: Language) =>
    submitSignIn(page, { email: (await newMember()).email, password }, translator(lang));
  /** Gives the page the cookies of a visitor whose forms were sent without drawing them. */
  const become = async (page: Page, { jar }: Browser, at = url()) => {
    const cookies = await jar.getCookies(at);
    await page
      .context()
      .addCookies(cookies.map(({ key, value }) => ({ name: key, value, domain: 'localhost', path: '/' })));
  };
  /** Signs a member in with the browser of the page: a new one if none is named. */
  const signIn = async (page: Page, member?: User) =>
    become(page, await guide().sandbox.foyer.signedIn(member ?? (await newMember())));
  const visitor = (lang: Language) => new Browser(url(), { 'accept-language': lang });
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  const atConsent = async (page: Page, lang: Language) => {
    const t = translator(lang);
    await signIn(page);
    await page.goto(`${guide().thirdPartyUrl}/sign-in`);
    await heading(page, t('oauth.consent.title', { clientName: 'Orchard Analytics' }));
  };
  const at = (path: string) => async (page: Page) => {
    await visit(page, url() + path);
  };

  return { guide, url, demoUrl, newMember, submit, become, signIn, visitor, heading, atConsent, at };
}

export type TourSteps = ReturnType<typeof createTourSteps>;
