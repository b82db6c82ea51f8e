import type { Page } from 'playwright-core';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { signInFor } from '../support/relying-party.ts';
import { goOnAs, withoutPages } from './steps.ts';

/*
 * To where a test begins, without the pages that lead there and that nobody looks at: a page costs the processor many times
 * what a request does. demo-journey walks these pages in a browser.
 */

/** The page's visitor has asked for a client app; answers where Foyer leads: its form, unless they are signed in. */
export async function ask(page: Page, asked: string): Promise<string> {
  const { origin } = new URL(asked);
  const browser = await withoutPages(page, origin);
  const next = locationOf(await browser.get(asked, { from: 'cross-site' }));
  await goOnAs(page, browser, origin);
  return next;
}

/** The same by the button of an app's start page. */
export async function askedWithoutPages(page: Page, appUrl: string): Promise<string> {
  const app = await withoutPages(page, appUrl);
  const asked = locationOf(await app.get('/sign-in'));
  await goOnAs(page, app, appUrl);
  return ask(page, asked);
}

/** At Foyer's form, as a client app's request leads there; answers the form's address. */
export async function openForm(page: Page, asked: string): Promise<string> {
  const form = await ask(page, asked);
  await page.goto(form);
  return form;
}

/** At Foyer's form, as `askToSignIn` from an app's start page; answers the form's address. */
export async function askedToSignIn(page: Page, appUrl: string): Promise<string> {
  const form = await askedWithoutPages(page, appUrl);
  await page.goto(form);
  return form;
}

/** Signed in at an app and at Foyer, by steps from the app's request to the address that brings the answer home. */
export async function homeWithoutPages(
  page: Page,
  appUrl: string,
  steps: (atFoyer: Browser, asked: string) => Promise<string>,
): Promise<void> {
  const app = await withoutPages(page, appUrl);
  const asked = locationOf(await app.get('/sign-in'));
  const { origin } = new URL(asked);
  const atFoyer = await withoutPages(page, origin);
  await app.get(await steps(atFoyer, asked), { from: 'cross-site' });
  await goOnAs(page, app, appUrl);
  await goOnAs(page, atFoyer, origin);
}

/** The same with the member's password. */
export const signedInAtApp = (page: Page, appUrl: string, user: { email: string }, secret?: string): Promise<void> =>
  homeWithoutPages(page, appUrl, (atFoyer, asked) => signInFor(atFoyer, { url: asked }, user, secret));

/** Signed in at Foyer alone. */
export async function signedInAtFoyer(page: Page, foyer: TestFoyer, user: User): Promise<void> {
  await goOnAs(page, await foyer.signedIn(user), foyer.url);
}

/** Nobody is signed in in this browser any more: instead of the settings it gets Foyer's form. */
export async function expectFormNext(browser: Browser): Promise<void> {
  const form = new URL(locationOf(await browser.get('/settings')));
  expect(form.pathname).toBe('/');
  expect(await (await browser.get(form.href)).text()).toContain('name="password"');
}

/** Nor in the page's. */
export const expectSignedOut = async (page: Page, url: string): Promise<void> =>
  expectFormNext(await withoutPages(page, url));
