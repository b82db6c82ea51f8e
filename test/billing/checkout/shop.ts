import type Stripe from 'stripe';
import { createStripe, syncPlans } from '../../../server/billing/index.ts';
import type { User } from '../../../server/users/index.ts';
import type { Browser } from '../../support/browser.ts';
import { startFoyer, type TestFoyer } from '../../support/foyer.ts';
import { type ServerProxy, startProxy } from '../../support/proxy.ts';
import { anyBackend, type Backend } from '../../support/stores.ts';
import { startStripe, stripeKeys, type TestStripe } from '../../support/stripe.ts';

/** A Foyer that sells plans, and the stand-in for Stripe that it asks. */
export interface Shop {
  foyer: TestFoyer;
  standIn: TestStripe;
  stripe: Stripe;
  /** Every invoice on which something was paid, of all customers. */
  paidInvoices(): Promise<Stripe.Invoice[]>;
  /** Somebody with a customer at Stripe, as their first page of a plan makes one. */
  customerOf(user: User): Promise<string>;
  /** The member has saved a card. */
  saveCard(user: User, paymentMethod?: string): Promise<void>;
  /** A promotion code for a new coupon. */
  promotion(
    code: string,
    coupon: Stripe.CouponCreateParams,
    more?: Partial<Stripe.PromotionCodeCreateParams>,
  ): Promise<void>;
  planOf(user: User): Promise<string | null | undefined>;
  close(): Promise<void>;
}

/** @param options of the stand-in for Stripe, or what a test has started */
export async function openShop(
  environment: Record<string, string> = {},
  options: Parameters<typeof startStripe>[0] | TestStripe = {},
  backend: Backend = anyBackend,
): Promise<Shop> {
  const standIn = 'url' in options ? options : await startStripe(options);
  const stripe = standIn.client();
  const foyer = await startFoyer(
    backend,
    { ...standIn.environment(), SIGN_UP_LIMIT_ADDRESS: '100000', CARD_LIMIT_ADDRESS: '100000', ...environment },
    { billingNow: () => standIn.engine.nowMs() },
  );
  const { membership } = foyer.app;
  const { catalogue } = membership;
  await syncPlans(createStripe({ secretKey: stripeKeys.secretKey, apiUrl: standIn.url }), catalogue);
  const customerOf = async (user: User) => {
    const { customerId } = await membership.ensure(user, catalogue.trial.days);
    if (customerId === null) throw new Error('there is no customer');
    return customerId;
  };
  return {
    foyer,
    standIn,
    stripe,
    customerOf,
    async paidInvoices() {
      const { data } = await stripe.invoices.list({ limit: 100, status: 'paid' });
      return data.filter(({ amount_paid: cents }) => cents > 0);
    },
    async saveCard(user, paymentMethod = 'pm_card_visa') {
      const customer = await customerOf(user);
      const { id } = await stripe.paymentMethods.attach(paymentMethod, { customer });
      await stripe.customers.update(customer, { invoice_settings: { default_payment_method: id } });
      await membership.refresh(user.id);
    },
    async promotion(code, coupon, more = {}) {
      const { id } = await stripe.coupons.create(coupon);
      await stripe.promotionCodes.create({ code, promotion: { type: 'coupon', coupon: id }, ...more });
    },
    async planOf({ id }) {
      const row = await foyer.stores.database.db
        .selectFrom('users')
        .select('planId')
        .where('id', '=', id)
        .executeTakeFirst();
      return row?.planId;
    },
    async close() {
      await foyer.close();
      await standIn.close();
    },
  };
}

const unescaped = (text: string) =>
  text.replaceAll('&quot;', '"').replaceAll('&#x27;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&');

/** The words of a page, without its tags. */
export const wordsOf = (html: string): string =>
  unescaped(
    (/<main.*<\/main>/s.exec(html)?.[0] ?? '')
      .replaceAll(/<(?:script|svg)\b.*?<\/(?:script|svg)>/gs, '')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' '),
  );

/** A form's address and hidden fields. */
export function readForm(form: string): { action: string; fields: Record<string, string> } {
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  return {
    action: unescaped(/ action="([^"]*)"/.exec(form)?.[1] ?? ''),
    fields: Object.fromEntries(fields.map(([, name = '', value = '']) => [name, unescaped(value)])),
  };
}

/** The form with the main button: where it goes, and what it carries. */
export function mainForm(html: string): { action: string; fields: Record<string, string> } {
  const form = /<form class="actions even".*?<\/form>/s.exec(html)?.[0];
  if (form === undefined) throw new Error(`no form leads on: ${wordsOf(html)}`);
  return readForm(form);
}

/** Opens a page and presses its main button, with other values where a test says so. */
export async function press(browser: Browser, path: string, tampered: Record<string, string> = {}): Promise<Response> {
  const page = await browser.get(path);
  if (page.status !== 200) throw new Error(`${path} answered ${page.status}`);
  const { action, fields } = mainForm(await page.text());
  return browser.post(action, { ...fields, ...tampered });
}

/** A shop with a proxy between Foyer and the stand-in for Stripe. */
export type ProxiedShop = Shop & { proxy: ServerProxy };

export async function openProxiedShop(): Promise<ProxiedShop> {
  const standIn = await startStripe();
  const proxy = await startProxy(standIn.url);
  const shop = await openShop({ STRIPE_API_URL: proxy.url }, standIn);
  return {
    ...shop,
    proxy,
    async close() {
      await shop.close();
      await proxy.stop();
    },
  };
}
