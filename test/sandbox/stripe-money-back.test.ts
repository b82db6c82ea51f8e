import type Stripe from 'stripe';
import { engineKit, visa } from './stripe-engine-kit.ts';

describe('money that goes back, in the stand-in for Stripe', () => {
  let kit: ReturnType<typeof engineKit>;
  let invoice: string;
  beforeEach(() => {
    kit = engineKit();
    invoice = String(kit.subscribe(kit.customer(visa), kit.price(4_900)).latest_invoice);
  });
  afterEach(() => expect(kit.faults).toEqual([]));

  const listed = <T>(path: string, params: Record<string, unknown> = {}) => kit.get<{ data: T[] }>(path, params).data;
  const intentOf = () =>
    String(listed<Stripe.InvoicePayment>('/v1/invoice_payments', { invoice })[0]?.payment.payment_intent);
  const chargeNow = () => {
    const [refund] = listed<Stripe.Refund>('/v1/refunds');
    return kit.engine.find(String(refund?.charge));
  };
  const typesAbout = (object: string) =>
    kit.events.filter(({ data }) => data.object.object === object).map(({ type }) => type);

  it('A refund that fails later gives its amount back to the charge', () => {
    const failing = kit.engine.refund(invoice, 900);
    kit.engine.refund(invoice, 1_000);
    expect(chargeNow()).toMatchObject({ amount_refunded: 1_900, refunded: false });
    kit.engine.endRefund(failing, 'failed');
    expect(chargeNow()).toMatchObject({ amount_refunded: 1_000 });
    expect(listed('/v1/refunds', { payment_intent: intentOf() })).toMatchObject([
      { amount: 1_000, status: 'succeeded' },
      { amount: 900, status: 'failed', failure_reason: 'expired_or_canceled_card' },
    ]);
    expect(typesAbout('refund')).toEqual(['refund.created', 'refund.created', 'refund.updated', 'refund.failed']);
    expect(kit.refused(() => kit.engine.endRefund(failing, 'succeeded')).message).toContain('failed already');
  });

  it('A pending refund counts at once and succeeds with an update', () => {
    const pending = kit.engine.refund(invoice, undefined, 'pending');
    expect(chargeNow()).toMatchObject({ amount_refunded: 4_900, refunded: true });
    kit.engine.endRefund(pending, 'succeeded');
    expect(listed('/v1/refunds')).toMatchObject([{ id: pending, status: 'succeeded' }]);
    expect(kit.events.at(-1)).toMatchObject({
      type: 'refund.updated',
      data: { previous_attributes: { status: 'pending' } },
    });
  });

  it('A refund made through the API names a payment and takes no more than is left', () => {
    const ask = (amount?: number) =>
      kit.post<Stripe.Refund>('/v1/refunds', { payment_intent: intentOf(), ...(amount !== undefined && { amount }) });
    expect(ask(900)).toMatchObject({ amount: 900, status: 'succeeded' });
    expect(ask()).toMatchObject({ amount: 4_000 });
    expect(kit.refused(() => ask(1)).code).toBe('charge_already_refunded');
  });

  it.each([
    ['won', 'needs_response', ['charge.dispute.funds_reinstated']],
    ['lost', 'needs_response', []],
    ['warning_closed', 'warning_needs_response', []],
  ] as const)('A dispute that ends as %s is announced at its beginning, review and end', (end, start, more) => {
    const dispute = kit.engine.dispute(invoice, start);
    expect(kit.refused(() => kit.engine.dispute(invoice)).code).toBe('charge_disputed');
    kit.engine.moveDispute(dispute, start === 'needs_response' ? 'under_review' : 'warning_under_review');
    kit.engine.moveDispute(dispute, end);
    expect(listed('/v1/disputes', { payment_intent: intentOf() })).toMatchObject([{ id: dispute, status: end }]);
    expect(typesAbout('dispute')).toEqual([
      'charge.dispute.created',
      ...(start === 'needs_response' ? ['charge.dispute.funds_withdrawn'] : []),
      'charge.dispute.updated',
      'charge.dispute.closed',
      ...more,
    ]);
  });

  it('A credit note on a paid invoice refunds its charge, and its parts must add up', () => {
    const note = (params: Record<string, unknown>) =>
      kit.post<Stripe.CreditNote>('/v1/credit_notes', { invoice, ...params });
    expect(note({ amount: 900, refund_amount: 900, email_type: 'none' })).toMatchObject({
      number: expect.stringMatching(/-CN-01$/),
      status: 'issued',
      post_payment_amount: 900,
      refunds: [{ amount_refunded: 900, refund: expect.stringMatching(/^re_/) }],
    });
    expect(listed('/v1/refunds')).toMatchObject([{ amount: 900, status: 'succeeded' }]);
    expect(kit.invoice(invoice).post_payment_credit_notes_amount).toBe(900);
    expect(note({ amount: 100, credit_amount: 100 })).toMatchObject({ refunds: [] });
    expect(kit.refused(() => note({ amount: 100, refund_amount: 50 })).message).toContain('must equal');
    expect(kit.refused(() => note({ amount: 4_000, refund_amount: 4_000 })).message).toContain('can be credited');
    expect(listed('/v1/credit_notes', { invoice })).toHaveLength(2);
    expect(typesAbout('credit_note')).toEqual(['credit_note.created', 'credit_note.created']);
  });

  it('Events are listed by types, at most twenty, by wildcard and by time', () => {
    kit.engine.refund(invoice, 900);
    kit.engine.advance(60_000);
    const since = Math.floor(kit.engine.nowMs() / 1_000);
    kit.engine.refund(invoice, 100);
    const types = (params: Record<string, unknown>) =>
      listed<Stripe.Event>('/v1/events', params).map(({ type }) => type);
    expect(types({ types: ['refund.created', 'charge.refunded'] })).toHaveLength(4);
    expect(types({ type: 'refund.*', created: { gte: since } })).toEqual(['refund.created']);
    expect(types({ type: 'refund.created', created: { lt: since } })).toEqual(['refund.created']);
    const many = Array.from({ length: 21 }, (_, index) => `made.up.${index}`);
    expect(kit.refused(() => types({ types: many })).message).toContain('20');
    expect(kit.refused(() => types({ types: ['refund.created'], type: 'refund.created' })).param).toBe('types');
  });
});
