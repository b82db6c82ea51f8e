import { loadPlans } from '../../config/plans.ts';
import type { User } from '../../server/users/index.ts';
import { standing } from '../account/membership-steps.ts';
import type { Browser } from '../support/browser.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { atStripe, hiddenFields } from './pause-steps.ts';
import { cards, manyCards, type Shop, startShop } from './steps.ts';

export const seatsPath = '/settings/membership/seats';

/** How many seats the plans have that are sold by the seat: Starter and Growth, by the month. */
export const seatRanges = { 'm-99': { min: 1, max: 50 }, 'm-499': { min: 2, max: 10 } } as const;

/** The shipped plans, two of which are sold by the seat. */
export function plansWithSeats(change: Parameters<typeof plansWith>[0] = {}): string {
  const { plans } = loadPlans();
  return plansWith({
    plans: plans.map((plan) => {
      const seats = Object.entries(seatRanges).find(([code]) => code === plan.code)?.[1];
      return plan.kind === 'paid' && seats ? { ...plan, seats } : plan;
    }),
    ...change,
  });
}

export async function startSeatsShop(
  options: Parameters<typeof startShop>[2] = {},
  change: Parameters<typeof plansWith>[0] = {},
): Promise<Shop> {
  const shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE: plansWithSeats(change) }, options);
  shop.stripe.tell(shop.foyer.url);
  return shop;
}

/** The page of a plan, with its hidden fields of the button that pays. */
export async function openPlan(browser: Browser, id: string) {
  const answer = await browser.get(`/plan-purchase/${id}`);
  const html = await answer.text();
  const button = html.split('<form').find((form) => form.includes('name="dueCents"')) ?? '';
  return { status: answer.status, html, fields: hiddenFields(button.split('</form>')[0] ?? '') };
}

/** Sends the number of seats on the page of a plan. */
export const typeSeats = (browser: Browser, id: string, seats: string) =>
  browser.post(`/plan-purchase/${id}`, { act: 'seats', planId: id, seats });

/** Sends the number of seats on the page of the settings. */
export const askForSeats = (browser: Browser, seats: string) => browser.post(seatsPath, { seats });

/** Presses the button of the plan's page. */
export async function confirmOnPage(browser: Browser, id: string, change: Record<string, string> = {}) {
  const { fields } = await openPlan(browser, id);
  return browser.post(`/plan-purchase/${id}`, { ...fields, ...change });
}

/** A member who has bought a plan with so many seats. */
export async function withSeats(
  shop: Shop,
  seats: number,
  { code = 'm-99', card = cards.visa }: { code?: string; card?: string } = {},
): Promise<{ user: User; browser: Browser }> {
  const user = await shop.foyer.addUser();
  await shop.membership.ensure(user, 7);
  await shop.saveCard(user, card);
  const browser = await shop.foyer.signedIn(user);
  const { id } = shop.plan(code);
  await typeSeats(browser, id, String(seats));
  const answer = await confirmOnPage(browser, id);
  const location = answer.headers.get('location') ?? '';
  if (!location.startsWith('/signup/completed/')) throw new Error(`not bought: ${answer.status} ${location}`);
  return { user, browser };
}

/** What Foyer and Stripe have of the member's seats. */
export async function seatsOf(shop: Shop, user: User) {
  const { seats, nextSeats, nextPlanId } = await standing(shop, user);
  const atProvider = await atStripe(shop, user);
  const row = await shop.userNow(user);
  return {
    stored: seats ?? 1,
    next: nextPlanId === null ? undefined : (nextSeats ?? 1),
    claim: row.seats ?? 1,
    atStripe: atProvider.items.data[0]?.quantity,
  };
}
