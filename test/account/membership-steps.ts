import type { User } from '../../server/users/index.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { cards, dayMs, type Shop, startShop } from '../billing/steps.ts';
import type { Browser } from '../support/browser.ts';
import { anyBackend } from '../support/stores.ts';

export const path = '/settings/membership';

export async function startMembershipPages(): Promise<Shop> {
  const shop = await startShop(anyBackend);
  shop.stripe.tell(shop.foyer.url);
  return shop;
}

/** The words of a page, as a reader sees them. */
export const page = async (browser: Browser, at = path) => wordsOf(await (await browser.get(at)).text());

export const day = (atMs: number, lang = 'en') => new Intl.DateTimeFormat(lang, { dateStyle: 'long' }).format(atMs);

export async function later(shop: Shop, ms: number): Promise<void> {
  shop.passTime(ms);
  await shop.stripe.webhooks.idle();
}

export async function standing(shop: Shop, { id }: User) {
  const found = await shop.membership.getMembership(id);
  if (!found) throw new Error('nothing is known of the member');
  return found;
}

/** A member who has a trial. */
export async function onTrial(shop: Shop): Promise<User> {
  const user = await shop.foyer.addUser();
  await shop.membership.ensure(user, 7);
  return user;
}

/** A member who has paid for a plan. */
export async function withPlan(shop: Shop, code = 'm-99'): Promise<{ user: User; browser: Browser }> {
  const user = await onTrial(shop);
  await shop.saveCard(user, cards.visa);
  const bought = await shop.buy(user, code);
  if (bought.kind !== 'paid') throw new Error(`not bought: ${bought.kind}`);
  return { user, browser: await shop.foyer.signedIn(user) };
}

/** A member whose renewal has failed. */
export async function withFailedRenewal(shop: Shop, number: string = cards.chargeDeclined) {
  const { user } = await withPlan(shop);
  const { card } = await standing(shop, user);
  shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', number);
  await later(shop, 30 * dayMs + 60 * 60_000);
  return { user, browser: await shop.foyer.signedIn(user) };
}
