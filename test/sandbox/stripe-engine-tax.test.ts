import type Stripe from 'stripe';
import { day, engineKit, visa } from './stripe-engine-kit.ts';

const berlin = { country: 'DE', postal_code: '10115' };
const on = { automatic_tax: { enabled: true } };
type Address = Record<string, string>;

describe('the stand-in’s tax', () => {
  let kit = engineKit();
  beforeEach(() => {
    kit = engineKit();
  });
  afterEach(() => expect(kit.faults).toEqual([]));

  function customerIn(address: Address, more: Record<string, unknown> = {}): string {
    const id = kit.customer(visa);
    kit.post(`/v1/customers/${id}`, { address, ...more });
    return id;
  }
  const priceOf = (cents: number, tax_behavior: 'inclusive' | 'exclusive') =>
    kit.price(cents, 'month', { tax_behavior });
  const amounts = ({ total, amount_due, total_excluding_tax, total_taxes }: Stripe.Invoice) => ({
    total,
    due: amount_due,
    net: total_excluding_tax,
    taxes: total_taxes?.map(({ amount }) => amount),
  });

  it.each<['exclusive' | 'inclusive', unknown]>([
    ['exclusive', { total: 11_781, due: 11_781, net: 9_900, taxes: [1_881] }],
    ['inclusive', { total: 9_900, due: 9_900, net: 8_319, taxes: [1_581] }],
  ])(
    'Tax of an %s price is computed by the country of the customer, the same in preview and invoice',
    (behaviour, are) => {
      const customer = customerIn(berlin);
      const price = priceOf(9_900, behaviour);
      const preview = kit.preview({ customer, subscription_details: { items: [{ price }] }, ...on });
      expect(amounts(preview)).toEqual(are);
      expect(preview.automatic_tax).toMatchObject({ enabled: true, status: 'complete' });
      const invoice = kit.invoice(kit.subscribe(customer, price, on));
      expect(amounts(invoice)).toEqual(are);
      const id = invoice.total_taxes?.[0]?.tax_rate_details?.tax_rate;
      expect(kit.get(`/v1/tax_rates/${id}`)).toMatchObject({ percentage: 19, inclusive: behaviour === 'inclusive' });
      expect(invoice.lines.data[0]?.taxes).toMatchObject([{ taxability_reason: 'standard_rated' }]);
    },
  );

  it.each([
    ['FR', 'FR000000000', 'reverse_charge', 9_900],
    ['FR', 'FR222222222', 'reverse_charge', 9_900],
    ['FR', 'DE000000000', 'standard_rated', 11_880],
    ['DE', 'DE000000000', 'standard_rated', 11_781],
  ])('A company in %s with the VAT id %s has the reason %s, and pays %i', (country, value, reason, total) => {
    const customer = customerIn({ country });
    kit.post(`/v1/customers/${customer}/tax_ids`, { type: 'eu_vat', value });
    const invoice = kit.invoice(kit.subscribe(customer, priceOf(9_900, 'exclusive'), on));
    expect([invoice.total, invoice.total_taxes?.[0]?.taxability_reason]).toEqual([total, reason]);
    expect(invoice.customer_tax_ids).toEqual([{ type: 'eu_vat', value }]);
  });

  it('Without automatic tax nothing is taxed, whatever the price says', () => {
    const invoice = kit.invoice(kit.subscribe(customerIn(berlin), priceOf(9_900, 'exclusive')));
    expect(amounts(invoice)).toEqual({ total: 9_900, due: 9_900, net: 9_900, taxes: [] });
    expect(invoice.automatic_tax).toMatchObject({ enabled: false, status: null });
  });

  it('Several rates apply together, and a country without a registration has none', () => {
    const price = priceOf(10_000, 'exclusive');
    const [west, swiss] = [{ country: 'US', state: 'CA', postal_code: '94107' }, { country: 'CH' }];
    const first = kit.invoice(kit.subscribe(customerIn(west), price, on));
    expect(amounts(first)).toEqual({ total: 10_725, due: 10_725, net: 10_000, taxes: [600, 125] });
    const second = kit.invoice(kit.subscribe(customerIn(swiss), price, on));
    expect(amounts(second)).toMatchObject({ total: 10_000, taxes: [0] });
    expect(second.total_taxes).toMatchObject([{ taxability_reason: 'not_collecting' }]);
  });

  it('A reverse charge is a tax of 0 with its reason', () => {
    const customer = customerIn(berlin, { tax_exempt: 'reverse' });
    const invoice = kit.invoice(kit.subscribe(customer, priceOf(9_900, 'exclusive'), on));
    expect(amounts(invoice)).toMatchObject({ total: 9_900, taxes: [0] });
    expect(invoice.total_taxes).toMatchObject([{ taxability_reason: 'reverse_charge' }]);
    expect(invoice.customer_tax_exempt).toBe('reverse');
  });

  it('Tax follows discounts, and a credit for unused time has the tax that was paid for it', () => {
    const customer = customerIn(berlin);
    kit.post('/v1/coupons', { id: 'HALF', percent_off: 50, duration: 'once' });
    const [small, large] = [priceOf(10_000, 'exclusive'), priceOf(20_000, 'exclusive')];
    const subscription = kit.subscribe(customer, small, { ...on, discounts: [{ coupon: 'HALF' }] });
    expect(amounts(kit.invoice(subscription))).toMatchObject({ total: 5_950, net: 5_000, taxes: [950] });
    const change = { ...kit.to(subscription, large), proration_behavior: 'always_invoice' };
    const preview = kit.preview({ customer, subscription: subscription.id, subscription_details: change, ...on });
    expect(amounts(preview)).toMatchObject({ total: 17_850, net: 15_000, taxes: [2_850] });
    const changed = kit.post<Stripe.Subscription>(`/v1/subscriptions/${subscription.id}`, change);
    expect(amounts(kit.invoice(changed))).toEqual(amounts(preview));
  });

  it('A credit for time that was not taxed has no tax', () => {
    const customer = customerIn(berlin);
    const subscription = kit.subscribe(customer, priceOf(10_000, 'exclusive'));
    kit.post(`/v1/subscriptions/${subscription.id}`, on);
    const changed = kit.post<Stripe.Subscription>(`/v1/subscriptions/${subscription.id}`, {
      ...kit.to(subscription, priceOf(20_000, 'exclusive')),
      proration_behavior: 'always_invoice',
    });
    expect(amounts(kit.invoice(changed))).toMatchObject({ total: 13_800, net: 10_000, taxes: [3_800] });
  });

  it('An unknown location is refused when automatic tax is switched on, and named by a preview', () => {
    const customer = kit.customer(visa);
    const price = priceOf(9_900, 'exclusive');
    const code = 'customer_tax_location_invalid';
    expect(kit.refused(() => kit.subscribe(customer, price, on))).toMatchObject({ status: 400, code });
    const { id } = kit.subscribe(customer, price);
    expect(kit.refused(() => kit.post(`/v1/subscriptions/${id}`, on)).code).toBe(code);
    const preview = kit.preview({ customer, subscription_details: { items: [{ price }] }, ...on });
    expect(preview.automatic_tax).toMatchObject({ enabled: true, status: 'requires_location_inputs' });
    expect(amounts(preview)).toMatchObject({ total: 9_900, taxes: [] });
  });

  it('A renewal whose location has become unknown is charged without tax, and automatic tax is switched off', () => {
    const customer = customerIn(berlin);
    const { id } = kit.subscribe(customer, priceOf(9_900, 'exclusive'), on);
    kit.post(`/v1/customers/${customer}`, { address: '' });
    kit.engine.advance(29 * day);
    const renewed = kit.subscription(id);
    expect(renewed.automatic_tax).toMatchObject({ enabled: false, disabled_reason: 'requires_location_inputs' });
    const invoice = kit.invoice(renewed);
    expect(invoice.billing_reason).toBe('subscription_cycle');
    expect(invoice.automatic_tax.disabled_reason).toBe('finalization_requires_location_inputs');
    expect(invoice.total).toBe(9_900);
  });

  it('Automatic tax cannot be switched on by a change that waits for its payment', () => {
    const subscription = kit.subscribe(customerIn(berlin), priceOf(9_900, 'exclusive'));
    const change = { ...kit.to(subscription, priceOf(20_000, 'exclusive')), payment_behavior: 'pending_if_incomplete' };
    expect(kit.refused(() => kit.post(`/v1/subscriptions/${subscription.id}`, { ...change, ...on })).message).toMatch(
      /You passed: automatic_tax\.$/,
    );
  });

  it('A phase of a schedule can switch automatic tax on', () => {
    const subscription = kit.subscribe(customerIn(berlin), priceOf(20_000, 'exclusive'));
    const price = priceOf(9_900, 'exclusive');
    const path = '/v1/subscription_schedules';
    const schedule = kit.post<Stripe.SubscriptionSchedule>(path, { from_subscription: subscription.id });
    const [phase] = schedule.phases;
    const current = {
      items: [{ price: phase?.items[0]?.price }],
      start_date: phase?.start_date,
      end_date: phase?.end_date,
    };
    const next = { items: [{ price }], duration: { interval: 'month' }, ...on };
    kit.post(`${path}/${schedule.id}`, { end_behavior: 'release', phases: [current, next] });
    expect(amounts(kit.preview({ schedule: schedule.id }))).toMatchObject({ total: 11_781 });
    kit.engine.advance(29 * day);
    expect(amounts(kit.invoice(kit.subscription(subscription.id)))).toMatchObject({ total: 11_781, taxes: [1_881] });
  });

  it('Rates that an operator sets by hand are on the invoice without automatic tax', () => {
    const rate = kit.post<Stripe.TaxRate>('/v1/tax_rates', { display_name: 'VAT', percentage: 19, inclusive: false });
    const more = { default_tax_rates: [rate.id] };
    const invoice = kit.invoice(kit.subscribe(kit.customer(visa), kit.price(9_900), more));
    expect(amounts(invoice)).toEqual({ total: 11_781, due: 11_781, net: 9_900, taxes: [1_881] });
    expect(kit.get(`/v1/tax_rates/${rate.id}`)).toMatchObject({ percentage: 19 });
  });

  it('The settings of Stripe Tax are active', () => {
    expect(kit.get('/v1/tax/settings')).toMatchObject({ object: 'tax.settings', status: 'active' });
  });
});
