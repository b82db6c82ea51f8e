import { findUserByIdentifier, type User } from '../../../server/users/index.ts';
import { codeFor, newAddress, profile } from '../../sign-up/steps.ts';
import { type Browser, locationOf } from '../../support/browser.ts';
import type { Shop } from './shop.ts';

/** The address of step 2 of a sign-up. */
export const summary = '/signup/verifiedCode';

/** The redirect of an answer, without the origin. */
export const pathOf = (shop: Shop, answer: Response) => locationOf(answer).slice(shop.foyer.url.length);

/** Signs a visitor up to step 2; an address without a plan leads to the trial there. */
export async function startPlanStep(
  shop: Shop,
  base = '/signup',
  query = '',
): Promise<{ browser: Browser; user: User }> {
  const { foyer } = shop;
  const [browser, email] = [foyer.browser(), newAddress()];
  await browser.post(base + query, profile(email));
  const answer = await browser.post(`${base}/emailCaptured${query}`, { code: await codeFor(foyer, email) });
  expect(pathOf(shop, answer)).toBe(`${base}/verifiedCode${query}`);
  const user = await findUserByIdentifier(foyer.stores.database.db, { email });
  if (!user) throw new Error('the sign-up made no user');
  return { browser, user };
}

/** The same, and chooses Starter, monthly. */
export async function startWithStarter(shop: Shop): Promise<{ browser: Browser; user: User }> {
  const begun = await startPlanStep(shop);
  await chooseStarter(shop, begun.browser);
  return begun;
}

/** Chooses Starter, monthly, at the page of the plans. */
export async function chooseStarter(shop: Shop, browser: Browser, at = '/signup/changePlan'): Promise<string> {
  const answer = await browser.post(at, { act: 'choose', planId: '10' });
  expect(answer.status).toBe(303);
  return pathOf(shop, answer);
}

/** The amounts of all paid invoices of the shop. */
export const listCharges = async (shop: Shop) => (await shop.paidInvoices()).map(({ amount_paid: cents }) => cents);
