import type Stripe from 'stripe';
import { listOrders } from '../../server/billing/index.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { aBuyer, type Buyer } from './api-steps.ts';
import { mainForm, wordsOf } from './checkout/shop.ts';
import { type Shop, startShop } from './steps.ts';

export type Behaviour = 'inclusive' | 'exclusive';

/** A shop whose plans are sold with the tax that Stripe computes. */
export const startTaxedShop = (behaviour: Behaviour): Promise<Shop> =>
  startShop(anyBackend, {
    PLANS_FILE: plansWith({ periods: 'days', tax: { automatic: true, behaviour } }),
    CARD_LIMIT_ADDRESS: '100000',
    CARD_LIMIT_OVERALL: '100000',
  });

export const germany = { country: 'DE', postal_code: '10115' };

/** A member whose place Stripe knows. */
export async function aBuyerIn(
  shop: Shop,
  address: Record<string, string> = germany,
  more: Stripe.CustomerUpdateParams = {},
): Promise<Buyer> {
  const buyer = await aBuyer(shop);
  await shop.stripe.client().customers.update(buyer.customer, { address, ...more });
  return buyer;
}

export async function pageOf(shop: Shop, { user }: Buyer, path: string): Promise<string> {
  const browser = await shop.foyer.signedIn(user);
  await browser.get(path);
  return (await browser.get(path)).text();
}

/** Buys by the page, with a code if one is named. @returns the words of the page whose button was pressed */
export async function buyByPage(shop: Shop, buyer: Buyer, planId: string, code?: string): Promise<string> {
  const browser = await shop.foyer.signedIn(buyer.user);
  const path = `/plan-purchase/${planId}`;
  await browser.get(path);
  if (code) expect((await browser.post(path, { act: 'promo', planId, promo: code })).status).toBe(303);
  const html = await (await browser.get(path)).text();
  const { action, fields } = mainForm(html);
  expect((await browser.post(action, fields)).status).toBe(303);
  expect((await shop.userNow(buyer.user)).planId).toBe(planId);
  return wordsOf(html);
}

/** The newest invoice at Stripe, and the order of it here. */
export async function lastSale(shop: Shop, { user, customer }: Buyer) {
  const [invoice] = (await shop.stripe.client().invoices.list({ customer, limit: 1 })).data;
  const [order] = await listOrders(shop.foyer.deps.database.db, user.id);
  if (!invoice || order?.invoiceId !== invoice.id) throw new Error('the newest order is not of the newest invoice');
  return { invoice, order };
}
