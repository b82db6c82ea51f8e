import { loadPlans } from '../../config/plans.ts';
import type { User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { wordsOf } from './checkout/shop.ts';
import { hiddenFields } from './pause-steps.ts';
import { manyCards, type Shop, startShop } from './steps.ts';

/** The days with which Starter and Growth by the month begin. */
const trialDays = { 'm-99': 14, 'm-499': 5 } as const;

/** The shipped plans, some of which begin with free days. @param days by the codes of the plans */
export const withTrialDays = (days: Record<string, number>) =>
  loadPlans().plans.map((plan) => {
    const own = days[plan.code];
    return plan.kind === 'paid' && own !== undefined ? { ...plan, trialDays: own } : plan;
  });

type Change = Parameters<typeof plansWith>[0] & { days?: Record<string, number> };

/** @param change of the file; `days` as for `withTrialDays` */
export const plansWithTrials = ({ days = trialDays, ...change }: Change = {}): string =>
  plansWith({ plans: withTrialDays(days), ...change });

export async function startTrialShop(
  options: Parameters<typeof startShop>[2] = {},
  change: Change = {},
): Promise<Shop> {
  const shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE: plansWithTrials(change) }, options);
  shop.stripe.tell(shop.foyer.url);
  return shop;
}

export interface Member {
  user: User;
  browser: Browser;
}

/**
 * The stand-in knows few cards, and each has its trials once: forgets which cards have had them. A test about that saves
 * its cards itself.
 */
export const forgetCards = async ({ foyer }: Pick<Shop, 'foyer'>): Promise<void> =>
  void (await foyer.deps.database.db.deleteFrom('trialClaims').where('kind', '=', 'card').execute());

export async function member(
  shop: Shop,
  { card, email, days = 7 }: { card?: string | null; email?: string; days?: number } = {},
): Promise<Member> {
  const user = await shop.foyer.addUser(email === undefined ? {} : { email });
  await shop.membership.ensure(user, days);
  if (card === undefined) await forgetCards(shop);
  if (card !== null) await shop.saveCard(user, card);
  return { user, browser: await shop.foyer.signedIn(user) };
}

/** The page of a plan: its words, and the fields of its button. */
export async function planPage(browser: Browser, id = '10') {
  const html = await (await browser.get(`/plan-purchase/${id}`)).text();
  const form = html.split('<form').find((one) => one.includes('name="dueCents"')) ?? '';
  return { words: wordsOf(html), fields: hiddenFields(form.split('</form>')[0] ?? '') };
}

/** Presses the button of a plan's page. */
export async function order(browser: Browser, id = '10', change: Record<string, string> = {}): Promise<Response> {
  const { fields } = await planPage(browser, id);
  return browser.post(`/plan-purchase/${id}`, { ...fields, ...change });
}

/** A member who tries a plan. */
export async function trier(
  shop: Shop,
  options: Parameters<typeof member>[1] & { plan?: string } = {},
): Promise<Member> {
  const who = await member(shop, options);
  const answer = await order(who.browser, options.plan);
  const location = answer.headers.get('location') ?? '';
  if (!location.startsWith('/signup/completed/')) throw new Error(`not begun: ${answer.status} ${location}`);
  return who;
}

/** The templates of the mails of a member. */
export const templates = async (shop: Shop, user: User): Promise<string[]> =>
  (await shop.foyer.mails(user.email)).map(({ template }) => template);
