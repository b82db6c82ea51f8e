import { languages } from '../../locales/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';
import { startStripe, type TestStripe } from '../support/stripe.ts';
import { rawKeys, visible } from '../views/raw-keys.ts';

const dayMs = 24 * 60 * 60_000;
let foyer: TestFoyer;
let standIn: TestStripe;
beforeAll(async () => {
  standIn = await startStripe();
  foyer = await startFoyer(anyBackend, standIn.environment());
});
afterAll(async () => {
  await foyer?.close();
  await standIn?.close();
});
const page = async (lang = 'en') => {
  const response = await foyer.browser().get('/sandbox/billing', { headers: { 'accept-language': lang } });
  return { status: response.status, html: await response.text() };
};
const act = (fields: Record<string, string>) => foyer.browser().post('/sandbox/billing', fields);

describe('the sandbox’s billing page', () => {
  it('The billing page is linked from the page of the sandbox and is empty at first', async () => {
    expect(await (await foyer.browser().get('/sandbox')).text()).toContain('<a href="/sandbox/billing">Billing</a>');
    const { status, html } = await page();
    expect(status).toBe(200);
    expect(visible(html)).toContain('No customers yet');
    expect(html).toContain('<code>4242 4242 4242 4242</code>');
  });

  it('The billing page shows customers, cards, plans, invoices and promo codes in every language', async () => {
    const stripe = standIn.client();
    const product = await stripe.products.create({ name: 'Basic' });
    const price = await stripe.prices.create({
      product: product.id,
      currency: 'usd',
      unit_amount: 9_900,
      recurring: { interval: 'month' },
      lookup_key: 'm-99',
    });
    const customer = await stripe.customers.create({ email: 'vera@example.com' });
    const method = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
    await stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: price.id }],
      default_payment_method: method.id,
    });
    const coupon = await stripe.coupons.create({ percent_off: 50, duration: 'once', name: 'Half of it' });
    await stripe.promotionCodes.create({ code: 'HALF', promotion: { type: 'coupon', coupon: coupon.id } });
    for (const lang of languages) {
      const { status, html } = await page(lang);
      expect(status).toBe(200);
      expect(rawKeys(html)).toEqual([]);
      for (const text of [
        'vera@example.com',
        'Visa\u00a0••••\u00a04242',
        'm-99',
        '99',
        'active',
        'HALF',
        'Half of it',
      ]) {
        expect(visible(html)).toContain(text);
      }
    }
    const [, address = ''] = /<a href="([^"]+\/stand-in\/invoices\/[^"]+)"/.exec((await page()).html) ?? [];
    expect((await sendRequest(address)).status).toBe(200);
  });

  it('The billing page advances time, makes a card fail and work again, and refunds', async () => {
    const before = standIn.engine.nowMs();
    const [, card = ''] = /value="(pm_\w+)"/.exec((await page()).html) ?? [];
    expect((await act({ fail: card })).status).toBe(303);
    expect((await act({ advance: '365' })).status).toBe(303);
    expect(standIn.engine.nowMs() - before).toBeGreaterThanOrEqual(365 * dayMs);
    expect(visible((await page()).html)).toContain('365 days ahead');
    const stripe = standIn.client();
    const [subscription] = (await stripe.subscriptions.list({ status: 'all' })).data;
    expect(subscription?.status).not.toBe('active');
    expect((await act({ mend: card })).status).toBe(303);
    const [, invoice = ''] = /value="(in_\w+)"/.exec((await page()).html) ?? [];
    expect((await act({ refund: invoice })).status).toBe(303);
    const again = await act({ refund: invoice });
    expect(again.status).toBe(409);
    expect(visible(await again.text())).toContain('That wasn’t done');
  });

  it('A bank debit stands beside the cards, and can be made to fail and to work again', async () => {
    const stripe = standIn.client();
    const customer = await stripe.customers.create({ email: 'debit@example.com' });
    const { id } = await stripe.paymentMethods.create({
      type: 'sepa_debit',
      sepa_debit: { iban: 'DE89370400440532013000' },
      billing_details: { name: 'Vera Lindqvist', email: 'debit@example.com' },
    });
    await stripe.paymentMethods.attach(id, { customer: customer.id });
    const { html } = await page();
    expect(visible(html)).toContain('SEPA\u00a0debit\u00a0••••\u00a03000');
    expect(html).toContain(`value="${id}" name="failDebit"`);
    const [price] = (await stripe.prices.list({ lookup_keys: ['m-99'] })).data;
    /** The state of a new subscription's invoice when the bank has answered. */
    const debited = async () => {
      const { latest_invoice: invoice } = await stripe.subscriptions.create({
        customer: customer.id,
        items: [{ price: price?.id ?? '' }],
        default_payment_method: id,
      });
      standIn.engine.advance(60 * 60_000);
      return (await stripe.invoices.retrieve(String(invoice))).status;
    };
    expect((await act({ failDebit: id })).status).toBe(303);
    expect(await debited()).toBe('open');
    expect((await act({ mendDebit: id })).status).toBe(303);
    expect(await debited()).toBe('paid');
  });

  it.each([{}, { advance: '-1' }, { advance: '1e9' }, { other: 'x' }])(
    'The form %j is no action of the billing page',
    async (fields) => {
      expect((await act(fields as Record<string, string>)).status).toBe(400);
    },
  );

  it('The billing page reports that the stand-in does not answer', async () => {
    const alone = await startFoyer(anyBackend, { ...standIn.environment(), STRIPE_API_URL: 'http://127.0.0.1:9' });
    try {
      const response = await alone.browser().get('/sandbox/billing');
      expect(response.status).toBe(200);
      expect(visible(await response.text())).toContain('The stand-in doesn’t answer');
    } finally {
      await alone.close();
    }
  });
});

it.each([
  ['without Stripe', {}],
  ['with Stripe itself', { STRIPE_API_URL: 'https://api.stripe.com' }],
])('The billing page does not exist %s', async (_, over) => {
  const keys = 'STRIPE_API_URL' in over ? standIn.environment() : {};
  const other = await startFoyer(anyBackend, { ...keys, ...over });
  try {
    expect((await other.browser().get('/sandbox/billing')).status).toBe(404);
    expect(await (await other.browser().get('/')).text()).not.toContain('/sandbox/billing');
  } finally {
    await other.close();
  }
});
