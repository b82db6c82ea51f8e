import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripeReference, stripeReferenceFolder, withoutStripeReference } from '../support/stripe-reference.ts';

describe('the folder with Stripe’s description', () => {
  it('The error for a missing description names the folder and the variable', () => {
    const empty = mkdtempSync(join(tmpdir(), 'no-reference-'));
    expect(() => stripeReferenceFolder({ STRIPE_REFERENCE_DIR: empty })).toThrow(
      `are not in ${empty}: name their folder in STRIPE_REFERENCE_DIR, or leave this one check out on purpose: FOYER_TEST_WITHOUT=stripe-reference`,
    );
    rmSync(empty, { recursive: true });
  });

  it('The description is left out only on purpose', () => {
    expect(withoutStripeReference({})).toBe(false);
    expect(withoutStripeReference({ FOYER_TEST_WITHOUT: 'redis,postgres' })).toBe(false);
    expect(withoutStripeReference({ FOYER_TEST_WITHOUT: 'redis, stripe-reference' })).toBe(true);
  });
});

/** Everything that Foyer reads. */
const resources = {
  card: 'Card',
  coupon: 'Coupon',
  customer: 'Customer',
  deleted_coupon: 'DeletedCoupon',
  deleted_customer: 'DeletedCustomer',
  deleted_discount: 'DeletedDiscount',
  deleted_invoice: 'DeletedInvoice',
  deleted_product: 'DeletedProduct',
  deleted_subscription_item: 'DeletedSubscriptionItem',
  discount: 'Discount',
  event: 'Event',
  invoice: 'Invoice',
  invoice_payment: 'InvoicePayment',
  line_item: 'InvoiceLineItem',
  payment_intent: 'PaymentIntent',
  payment_method: 'PaymentMethod',
  price: 'Price',
  product: 'Product',
  promotion_code: 'PromotionCode',
  setup_intent: 'SetupIntent',
  subscription: 'Subscription',
  subscription_item: 'SubscriptionItem',
  token: 'Token',
};

type Json = Record<string, unknown>;

/**
 * The fixtures are of an older version of the API (2026-07-29). What they lack is new in 2026-10-28.endive, by its place;
 * the rest of them must be as the description has it.
 */
const newer: Record<string, Record<string, unknown>> = {
  payment_intent: { allowed_payment_method_types: ['card'], payment_record: null },
  product: { tax_details: null },
  setup_intent: { allowed_payment_method_types: ['card'] },
  subscription: {
    'cancellation_details.feedback_option': null,
    'items.data.0.current_trial': null,
    'pending_update.cancel_at_period_end': null,
    'trial_settings.end_behavior.billing_cycle_anchor': null,
  },
  subscription_item: { current_trial: null },
};

function put(object: Json, place: string, value: unknown): void {
  const names = place.split('.');
  const last = names.pop() ?? '';
  const holder = names.reduce((inside, name) => inside[name] as Json, object);
  if (last in holder) throw new Error(`${place} is there already`);
  holder[last] = value;
}

/** Where the description is left out, nothing of it is registered. */
const described = withoutStripeReference() ? () => {} : describe;

described('Stripe’s own fixtures', () => {
  it.each(Object.entries(resources))('The object %s is as Stripe’s description defines it', (name, schema) => {
    const reference = stripeReference();
    const fixture = reference.fixtures()[name] ?? {};
    expect(fixture).toHaveProperty('object');
    for (const [place, value] of Object.entries(newer[name] ?? {})) {
      const lacking = place.split('.').at(-1) ?? '';
      expect(reference.objectFaults(schema, fixture).join()).toContain(`must have required property '${lacking}'`);
      put(fixture, place, value);
    }
    expect(reference.objectFaults(schema, fixture)).toEqual([]);
  });
});

described('the check', () => {
  const reference = stripeReference;
  const ask = (method: string, path: string, params: Record<string, unknown>) =>
    reference().requestFaults({ method, path, params });

  it('The check accepts numbers, flags and lists in form encoding', () => {
    expect(
      ask('POST', '/v1/subscriptions', {
        customer: 'cus_1',
        trial_period_days: '7',
        items: [{ price: 'p', quantity: '1' }],
        expand: ['latest_invoice'],
      }),
    ).toEqual([]);
    expect(
      ask('POST', '/v1/subscriptions/sub_1', { trial_end: 'now', cancel_at_period_end: 'false', discounts: '' }),
    ).toEqual([]);
    expect(ask('GET', '/v1/prices', { active: 'true', lookup_keys: ['a', 'b'], limit: '10' })).toEqual([]);
    const expand = ['payments.data.payment.payment_intent', 'confirmation_secret'];
    expect(ask('GET', '/v1/invoices/in_1', { expand })).toEqual([]);
  });

  it.each([
    ['POST', '/v1/subscriptions', { coupon: 'HALF' }, 'must NOT have additional properties'],
    ['POST', '/v1/subscriptions', { trial_period_days: 'seven' }, '/trial_period_days must be integer'],
    ['POST', '/v1/subscriptions', { items: [{ plan: { id: 'x' } }] }, '/items/0/plan must be string'],
    ['POST', '/v1/subscriptions/sub_1', { payment_behavior: 'hope' }, '/payment_behavior must be equal to one of'],
    ['GET', '/v1/prices', { q: 'x' }, 'must NOT have additional properties'],
    ['POST', '/v1/subscriptions', { expand: ['latest_invoice.status'] }, 'latest_invoice.status cannot be expanded'],
    ['GET', '/v1/subscriptions', { expand: { 0: 'latest_invoice' } }, 'there is no latest_invoice'],
    ['GET', '/v1/invoices/in_1', { expand: ['payments.data.payment.payment_intent.payment_method'] }, 'than 4 levels'],
    ['POST', '/v1/customers', { metadata: { a: 'x'.repeat(501) } }, '/metadata/a has 501 characters'],
    ['POST', '/v1/customers', { metadata: { ['k'.repeat(41)]: 'x' } }, '/metadata has the key kkk'],
    ['POST', '/v1/customers', { name: 'n'.repeat(5_001) }, '/name has 5001 characters'],
    ['GET', '/v1/plans', {}, 'does not know this call'],
    ['PUT', '/v1/customers', {}, 'does not know this call'],
  ])('The request %s %s with %j is a fault', (method, path, params, fault) => {
    expect(ask(method, path, params)).toEqual(expect.arrayContaining([expect.stringContaining(fault)]));
  });

  it('An answer must have every field of Stripe’s object and no other', () => {
    const { price } = reference().fixtures();
    const answer = (over: Record<string, unknown>, status = 200) =>
      reference().answerFaults({ method: 'GET', path: '/v1/prices/price_1', status, answer: { ...price, ...over } });
    expect(answer({})).toEqual([]);
    expect(answer({ unit_amount: 9.99 })).toEqual([expect.stringContaining('/unit_amount must be integer')]);
    expect(answer({ amount: 999 })).toEqual([
      expect.stringContaining('must NOT have additional properties {"additionalProperty":"amount"}'),
    ]);
    expect(answer({ currency: undefined }, 200)).toHaveLength(1);
    expect(answer({}, 404)).toEqual([expect.stringContaining("must have required property 'error'")]);
  });

  it('The check ignores what the description leaves out, such as a charge', () => {
    const fixtures = reference().fixtures();
    const answer = { ...fixtures.payment_intent, latest_charge: fixtures.charge };
    const faults = reference().answerFaults({ method: 'GET', path: '/v1/payment_intents/pi_1', status: 200, answer });
    expect(faults.filter((fault) => fault.includes('latest_charge'))).toEqual([]);
  });
});
