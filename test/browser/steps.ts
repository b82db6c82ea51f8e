import type { Page } from 'playwright-core';
import { demoMember } from '../../sandbox/index.ts';
import { type SandboxT, translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import { codeFor } from '../sign-up/steps.ts';
import { Browser } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';

export interface Credentials {
  email: string;
  password: string;
}

/** Fills in the sign-in form as it stands and sends it off. */
export async function submitSignIn(
  page: Page,
  { email, password }: Credentials = demoMember,
  t: SandboxT = translator('en'),
): Promise<void> {
  await page.getByLabel(t('signIn.username')).fill(email);
  await page.getByLabel(t('signIn.password'), { exact: true }).fill(password);
  await page.getByRole('button', { name: t('signIn.submit'), exact: true }).click();
}

/** Fills in the form of step 0 of a sign-up as it stands and sends it off. */
export async function fillProfile(
  page: Page,
  { email, password }: Credentials,
  t: SandboxT = translator('en'),
): Promise<void> {
  await page.getByLabel(t('signUp.givenName'), { exact: true }).fill('Vera');
  await page.getByLabel(t('signUp.familyName'), { exact: true }).fill('Lindqvist');
  await page.getByLabel(t('signUp.email'), { exact: true }).fill(email);
  await page.getByLabel(t('signUp.password'), { exact: true }).fill(password);
  await page.getByRole('button', { name: t('signUp.next') }).click();
}

/**
 * Types a code into the page or the dialog that asks for it: with scripts the last digit sends it. Waits for the next page,
 * which a dialog shows without a load.
 */
export async function sendCode(page: Page, code: string): Promise<void> {
  const field = page.locator('[name=code]');
  await field.waitFor();
  const hasScripts = await page.evaluate(() => matchMedia('(scripting: enabled)').matches);
  // Before its script runs, the field does not send itself.
  if (hasScripts) await page.locator('[name=code][aria-describedby*="-auto-submit"]').waitFor();
  const type = async () => {
    await field.fill(code);
    if (!hasScripts) await page.locator('form:has([name=code]) button.primary').click();
  };
  const isInDialog = hasScripts && (await page.locator('dialog [data-lift] [name=code]').count()) > 0;
  await (isInDialog ? type() : andLoad(page, type));
}

/** Reads the code from the newest mail, types it into the page that asks for it, and waits for the page that follows. */
export async function enterCode(
  page: Page,
  foyer: TestFoyer,
  email: string,
  t: SandboxT = translator('en'),
): Promise<void> {
  await page.getByLabel(t('signUp.code.label')).waitFor();
  await sendCode(page, await codeFor(foyer, email));
  await page.getByText(t('signUp.confirmed.text')).waitFor();
}

/** From an app's start page to Foyer's sign-in form. */
export async function askToSignIn(page: Page, appUrl: string, t: SandboxT = translator('en')): Promise<void> {
  await page.goto(appUrl);
  await page.getByRole('link', { name: t('sandbox.demo.signIn', { brand: 'Foyer' }) }).click();
  await page.getByLabel(t('signIn.username')).waitFor();
}

/** Waits until an app says who has signed in. */
export async function atHome(page: Page, name: string, t: SandboxT = translator('en')): Promise<void> {
  await page.getByRole('heading', { name: t('sandbox.demo.signedInTitle', { name }) }).waitFor();
}

/** Waits until an app shows that no user is signed in. */
export async function nobodyAtHome(page: Page, t: SandboxT = translator('en')): Promise<void> {
  await page.getByRole('heading', { name: t('sandbox.demo.title', { brand: 'Foyer' }) }).waitFor();
}

/** What a list on an app's page says of each name: claims, tokens. */
export async function listed(page: Page, heading: string): Promise<Record<string, string>> {
  const card = page.locator('.card', { has: page.getByRole('heading', { name: heading, exact: true }) });
  const rows = await card.locator('dl > div').all();
  const pairs = rows.map(async (row) => [
    await row.locator('dt').textContent(),
    await row.locator('dd > :first-child').textContent(),
  ]);
  return Object.fromEntries(await Promise.all(pairs));
}

/** Every address that the page has been at, in order. */
export function addressesOf(page: Page): URL[] {
  const addresses: URL[] = [];
  page.on('framenavigated', (frame) => {
    if (frame === page.mainFrame()) addresses.push(new URL(frame.url()));
  });
  return addresses;
}

/** Does what makes the page load anew (or another one), and waits until that has loaded. */
export async function andLoad(page: Page, act: () => Promise<unknown>): Promise<void> {
  const loaded = page.waitForEvent('load');
  await act();
  await loaded;
}

/** The page's visitor, for steps that no page is needed for; with the cookies of every path, as what an app waits for has one. */
export async function withoutPages(page: Page, url: string): Promise<Browser> {
  const browser = new Browser(url);
  for (const { name, value, path, domain } of await page.context().cookies()) {
    if (domain === new URL(url).hostname) await browser.jar.setCookie(`${name}=${value}; Path=${path}`, url);
  }
  return browser;
}

/** The page's visitor is from now on who this browser was at Foyer. */
export async function goOnAs(page: Page, browser: Browser, url: string): Promise<void> {
  const cookies = await browser.jar.getCookies(url, { allPaths: true });
  const sameSite = { strict: 'Strict', lax: 'Lax', none: 'None' } as const;
  await page.context().addCookies(
    cookies.map(({ key, value, path, httpOnly, ...cookie }) => ({
      name: key,
      value,
      domain: new URL(url).hostname,
      path: path ?? '/',
      httpOnly,
      sameSite: sameSite[cookie.sameSite as keyof typeof sameSite] ?? 'Lax',
    })),
  );
}

export const browserLocale: Record<Language, string> = { en: 'en-GB', de: 'de-DE', fr: 'fr-FR', nl: 'nl-NL' };
