import { createGiftCode, insertGift, toGiftCodeHash } from '../../server/billing/index.ts';
import { operatorOf } from '../account/deletion/steps.ts';
import type { Browser } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { toPlanId } from '../support/ids.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { stripeKeys } from '../support/stripe.ts';
import { wordsOf } from './checkout/shop.ts';
import { dayMs, manyCards, type Shop, startShop } from './steps.ts';

export const giftPath = '/gift';

/** The keys alone: no command of gifts calls Stripe. */
export const stripeSettings = {
  STRIPE_SECRET_KEY: stripeKeys.secretKey,
  STRIPE_PUBLISHABLE_KEY: stripeKeys.publishableKey,
  STRIPE_WEBHOOK_SECRET: stripeKeys.webhookSecret,
};

/** The shipped plans, which codes give for 3 or 12 months. */
export const giftPlans = (): string => plansWith({ gifts: { months: [12, 3] } });

/** A shop in which codes are redeemed, which hears of Stripe's events. */
export async function startGiftShop(): Promise<Shop> {
  const shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE: giftPlans() });
  shop.stripe.tell(shop.foyer.url);
  return shop;
}

/** The commands of the operator of a shop with gifts. */
export const giftOperator = (foyer: TestFoyer) => operatorOf(foyer, { ...stripeSettings, PLANS_FILE: giftPlans() });

interface NewGift {
  planId?: string;
  months?: number;
  /** From now on, by the clock of the shop's Stripe. */
  validMs?: number;
}

/** A code that no one has redeemed. */
export async function makeGift(
  { foyer }: { foyer: TestFoyer },
  nowMs: number,
  { planId = '11', months = 3, validMs = 365 * dayMs }: NewGift = {},
): Promise<{ id: string; code: string }> {
  const code = createGiftCode();
  const codeHash = toGiftCodeHash(code);
  if (codeHash === undefined) throw new Error('no code');
  const gift = { codeHash, planId: toPlanId(planId), months, expiresAt: nowMs + validMs };
  const id = await foyer.stores.database.transaction((trx) => insertGift(trx, gift, nowMs));
  return { id, code };
}

/** Redeems a code as the form does. @returns where the answer leads */
export const redeem = async (browser: Browser, code: string, search = ''): Promise<string> =>
  (await browser.post(giftPath + search, { code })).headers.get('location') ?? '';

/** The page to which a redeemed code leads. */
export const redeemed = '/settings/membership#membership:gift';

/** The words of the page that refuses a code with this status. */
export async function readRefusal(browser: Browser, code: string, status: number): Promise<string> {
  const answer = await browser.post(giftPath, { code });
  expect(answer.status).toBe(status);
  return wordsOf(await answer.text());
}

/** The operator makes one code for three months of the plan 11. */
export async function createGift(foyer: TestFoyer): Promise<{ id: string; code: string }> {
  const run = await giftOperator(foyer)('gift', 'create', '--plan', '11', '--months', '3', '--json');
  const [gift] = run.json<{ gifts: { id: string; code: string }[] }>().gifts;
  if (!gift) throw new Error(run.err);
  return gift;
}
