import type Stripe from 'stripe';
import { day, declinesLater, engineKit, visa } from './stripe-engine-kit.ts';

const hour = 3_600_000;

describe('the stand-in’s engine: the draft of a renewal', () => {
  let kit = engineKit({ draftsRenewals: true });
  beforeEach(() => {
    kit = engineKit({ draftsRenewals: true });
  });
  afterEach(() => expect(kit.faults).toEqual([]));

  /** A subscription at the moment of its first renewal. */
  function atRenewal(cents = 9_900) {
    const customer = kit.customer(visa);
    const { id } = kit.subscribe(customer, kit.price(cents)); // 31 January
    kit.engine.advance(28 * day);
    return { customer, id };
  }

  it('A first invoice is charged at once, without a draft', () => {
    const customer = kit.customer(visa);
    const subscription = kit.subscribe(customer, kit.price(9_900));
    expect(kit.invoice(subscription)).toMatchObject({ status: 'paid', automatically_finalizes_at: null });
  });

  it('The invoice of a renewal is a draft for an hour, and the subscription is active meanwhile', () => {
    const { id } = atRenewal();
    const subscription = kit.subscription(id);
    const draft = kit.invoice(subscription);
    expect(subscription.status).toBe('active');
    expect(draft).toMatchObject({
      status: 'draft',
      amount_due: 9_900,
      amount_paid: 0,
      attempted: false,
      auto_advance: true,
      ending_balance: null,
      number: null,
    });
    expect(draft.automatically_finalizes_at).toBe(draft.created + 3_600);
    expect(draft.payments?.data).toEqual([]);
    kit.engine.advance(hour - 1_000);
    expect(kit.invoice(kit.subscription(id)).status).toBe('draft');
    kit.engine.advance(1_000);
    expect(kit.invoice(kit.subscription(id))).toMatchObject({ status: 'paid', amount_paid: 9_900, ending_balance: 0 });
    const told = kit.types().filter((type) => type.startsWith('invoice.'));
    expect(told.slice(-4)).toEqual([
      'invoice.created',
      'invoice.finalized',
      'invoice.paid',
      'invoice.payment_succeeded',
    ]);
  });

  it('A renewal that the card declines is past due after the hour, not before', () => {
    const { customer, id } = atRenewal();
    const card = String(kit.customerNow(customer).invoice_settings.default_payment_method);
    kit.engine.setCardBehaviour(card, declinesLater);
    expect(kit.subscription(id).status).toBe('active');
    kit.engine.advance(hour);
    expect(kit.subscription(id).status).toBe('past_due');
    expect(kit.invoice(kit.subscription(id))).toMatchObject({ status: 'open', attempt_count: 1 });
  });

  it('Credit that a customer gets within the hour pays a part of the renewal', () => {
    const { customer, id } = atRenewal();
    kit.post(`/v1/customers/${customer}`, { balance: -4_000 });
    kit.engine.advance(hour);
    expect(kit.invoice(kit.subscription(id))).toMatchObject({ status: 'paid', amount_paid: 5_900 });
    expect(kit.customerNow(customer).balance).toBe(0);
  });

  it('A draft can be finalized by request without being collected, and then be voided', () => {
    const { id } = atRenewal();
    const { id: invoiceId } = kit.invoice(kit.subscription(id));
    expect(kit.refused(() => kit.post(`/v1/invoices/${invoiceId}/void`)).message).toMatch(/only void open/);
    kit.post(`/v1/invoices/${invoiceId}/finalize`, { auto_advance: false });
    kit.post(`/v1/invoices/${invoiceId}/void`);
    kit.engine.advance(2 * hour);
    expect(kit.get<Stripe.Invoice>(`/v1/invoices/${invoiceId}`)).toMatchObject({ status: 'void', amount_paid: 0 });
    expect(kit.refused(() => kit.post(`/v1/invoices/${invoiceId}/finalize`)).code).toBe('invoice_not_editable');
  });

  it('The draft of a subscription that ends within the hour is never charged', () => {
    const { id } = atRenewal();
    const { id: invoiceId } = kit.invoice(kit.subscription(id));
    kit.call('DELETE', `/v1/subscriptions/${id}`);
    kit.engine.advance(2 * hour);
    expect(kit.get<Stripe.Invoice>(`/v1/invoices/${invoiceId}`)).toMatchObject({
      status: 'draft',
      auto_advance: false,
    });
  });
});
