import { makePaymentIntent } from './charges.ts';
import { calculateCuts, runningDiscounts } from './discounts.ts';
import { type DraftLine, makeLine } from './invoice-lines.ts';
import type { HiddenDebit } from './kinds.ts';
import { smallestCharge } from './money.ts';
import { newId } from './new-id.ts';
import type { Invoice, InvoiceLine, Subscription } from './objects.ts';
import { list, type Params, paging, Reader } from './params.ts';
import type { State } from './state.ts';

export interface Billed {
  invoice: Invoice;
  /** The basis of later credits. */
  debits: HiddenDebit[];
  /** Discounts that reduced an amount. */
  used: Set<string>;
  /** Waiting prorations that the invoice billed. */
  swept: string[];
}

/**
 * Bills lines and the prorations that wait: discounts, the customer's balance, a number, a payment intent. Nothing is
 * charged yet.
 */
export function bill(
  state: State,
  subscription: Subscription,
  reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update',
  drafts: readonly DraftLine[],
  period: { start: number; end: number },
): Billed {
  const waiting = state
    .all('hidden.item')
    .filter((each) => each.subscription === subscription.id && !each.invoiced)
    .map((each) => state.edit('hidden.item', each.id));
  const draftLines = drafts.map((draft) => ({ draft, line: makeLine(subscription, draft) }));
  const discounts = runningDiscounts(state, subscription);
  const discountable = draftLines.filter(({ draft }) => !draft.proration && draft.cents > 0);
  const cuts = calculateCuts(
    state,
    discounts,
    discountable.map(({ draft }) => ({ cents: draft.cents, product: draft.item.price.product })),
  );
  for (const [index, { line }] of discountable.entries()) line.discount_amounts = cuts[index] ?? [];
  const prorated = draftLines.some(({ draft }) => draft.proration && draft.debit);
  const used = new Set(
    discounts.filter(
      (id) => prorated || cuts.some((cut) => cut.some((each) => each.discount === id && each.amount > 0)),
    ),
  );
  const lines = [...waiting.map((each) => structuredClone(each.line)), ...draftLines.map(({ line }) => line)];
  const id = newId('in');
  for (const line of lines) line.invoice = id;
  const totalCuts = discounts.map((discount) => ({
    amount: cuts.flat().reduce((sum, each) => sum + (each.discount === discount ? each.amount : 0), 0),
    discount,
  }));
  const invoice = finalized(state, subscription, {
    id,
    reason,
    lines,
    period,
    discounts: totalCuts,
  });
  for (const each of waiting) each.invoiced = true;
  const debits = draftLines.flatMap(({ draft, line }): HiddenDebit[] => {
    if (!draft.debit) return [];
    const cut = line.discount_amounts.reduce((sum, each) => sum + each.amount, 0);
    return [
      {
        id: `hidden_debit_${draft.item.id}`,
        object: 'hidden.debit',
        cents: draft.cents - cut,
        ...draft.period,
        invoice: id,
        line: line.id,
      },
    ];
  });
  return { invoice, debits, used, swept: waiting.map((each) => each.id) };
}

function finalized(
  state: State,
  subscription: Subscription,
  about: {
    id: string;
    reason: Invoice['billing_reason'];
    lines: InvoiceLine[];
    period: { start: number; end: number };
    discounts: { amount: number; discount: string }[];
  },
): Invoice {
  const customer = state.edit('customer', subscription.customer);
  const now = state.now();
  const subtotal = about.lines.reduce((sum, line) => sum + line.amount, 0);
  const total = subtotal - about.discounts.reduce((sum, each) => sum + each.amount, 0);
  const starting = customer.balance;
  // Below 0 the customer has credit; amounts that are too small to charge are carried to the next invoice.
  const owed = total + starting;
  const due = owed >= smallestCharge(subscription.currency) ? owed : 0;
  const ending = owed - due;
  const number = `${customer.invoice_prefix}-${String(customer.next_invoice_sequence).padStart(4, '0')}`;
  customer.next_invoice_sequence = (customer.next_invoice_sequence ?? 1) + 1;
  customer.currency ??= subscription.currency;
  customer.balance = ending;
  const invoice: Invoice = state.put({
    id: about.id,
    object: 'invoice',
    account_country: 'US',
    account_name: 'Foyer sandbox',
    account_tax_ids: null,
    amount_due: due,
    amount_overpaid: 0,
    amount_paid: 0,
    amount_remaining: due,
    amount_shipping: 0,
    application: null,
    attempt_count: 0,
    attempted: false,
    auto_advance: true,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
    automatically_finalizes_at: null,
    billing_reason: about.reason,
    collection_method: 'charge_automatically',
    confirmation_secret: null,
    created: now,
    currency: subscription.currency,
    custom_fields: null,
    customer: customer.id,
    customer_account: null,
    customer_address: customer.address ?? null,
    customer_email: customer.email,
    customer_name: customer.name ?? null,
    customer_phone: customer.phone ?? null,
    customer_shipping: null,
    customer_tax_exempt: 'none',
    customer_tax_ids: [],
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: about.discounts.map((each) => each.discount),
    due_date: null,
    effective_at: now,
    ending_balance: ending,
    footer: null,
    from_invoice: null,
    hosted_invoice_url: `${state.origin}/stand-in/invoices/${about.id}`,
    invoice_pdf: `${state.origin}/stand-in/invoices/${about.id}/pdf`,
    issuer: { type: 'self' },
    last_finalization_error: null,
    latest_revision: null,
    lines: { object: 'list', data: about.lines, has_more: false, url: `/v1/invoices/${about.id}/lines` },
    livemode: false,
    metadata: {},
    next_payment_attempt: null,
    number,
    on_behalf_of: null,
    parent: {
      quote_details: null,
      subscription_details: { metadata: { ...subscription.metadata }, subscription: subscription.id },
      type: 'subscription_details',
    },
    payment_settings: {
      default_mandate: null,
      payment_method_options: null,
      payment_method_types: subscription.payment_settings?.payment_method_types ?? null,
    },
    payments: {
      object: 'list',
      data: [],
      has_more: false,
      url: `/v1/invoice_payments?invoice=${about.id}`,
    },
    period_end: about.period.end,
    period_start: about.period.start,
    post_payment_credit_notes_amount: 0,
    pre_payment_credit_notes_amount: 0,
    receipt_number: null,
    rendering: null,
    shipping_cost: null,
    shipping_details: null,
    starting_balance: starting,
    statement_descriptor: null,
    status: 'open',
    status_transitions: { finalized_at: now, marked_uncollectible_at: null, paid_at: null, voided_at: null },
    subtotal,
    subtotal_excluding_tax: subtotal,
    test_clock: null,
    total,
    total_discount_amounts: about.discounts,
    total_excluding_tax: total,
    total_pretax_credit_amounts: [],
    total_taxes: [],
    webhooks_delivered_at: now,
  });
  if (due > 0 && !state.isRehearsal()) addPayment(state, invoice, subscription);
  state.announce('invoice.created', invoice);
  state.announce('invoice.finalized', invoice);
  return invoice;
}

/** The payment intent of an invoice with an amount due. */
function addPayment(state: State, invoice: Invoice, subscription: Subscription) {
  const intent = makePaymentIntent(state, {
    amount: invoice.amount_due,
    currency: invoice.currency,
    customer: invoice.customer,
    description: invoice.billing_reason === 'subscription_create' ? 'Subscription creation' : 'Subscription update',
    saves: subscription.payment_settings?.save_default_payment_method === 'on_subscription',
  });
  const payment = state.put({
    id: newId('inpay'),
    object: 'invoice_payment',
    amount_paid: null,
    amount_requested: invoice.amount_due,
    created: state.now(),
    currency: invoice.currency,
    invoice: invoice.id,
    is_default: true,
    livemode: false,
    payment: { payment_intent: intent.id, type: 'payment_intent' },
    status: 'open',
    status_transitions: { canceled_at: null, paid_at: null },
  });
  invoice.confirmation_secret = { client_secret: intent.client_secret ?? '', type: 'payment_intent' };
  invoice.payments.data = [structuredClone(payment)];
}

/** The invoice's payment, changed in its own object and in the invoice's list. */
export function changePayment(
  state: State,
  invoice: Invoice,
  change: (payment: Invoice['payments']['data'][0]) => void,
) {
  for (const { id } of invoice.payments.data) {
    const payment = state.edit('invoice_payment', id);
    change(payment);
    invoice.payments.data = [structuredClone(payment)];
  }
}

export const toIntentId = (invoice: Invoice): string | undefined => invoice.payments.data[0]?.payment.payment_intent;

export function listInvoices(state: State, params: Params) {
  const reader = new Reader(params, [...paging, 'customer', 'subscription', 'status', 'collection_method']);
  const [customer, subscription, status] = [
    reader.text('customer'),
    reader.text('subscription'),
    reader.text('status'),
  ];
  return list(
    state
      .all('invoice')
      .filter(
        (each) =>
          (customer === undefined || each.customer === customer) &&
          (subscription === undefined || each.parent.subscription_details.subscription === subscription) &&
          (status === undefined || each.status === status),
      ),
    '/v1/invoices',
  );
}

export function listInvoicePayments(state: State, params: Params) {
  const reader = new Reader(params, [...paging, 'invoice', 'payment', 'status']);
  const payment = reader.object('payment', ['type', 'payment_intent']);
  const [invoice, intent, status] = [reader.text('invoice'), payment?.text('payment_intent'), reader.text('status')];
  return list(
    state
      .all('invoice_payment')
      .filter(
        (each) =>
          (invoice === undefined || each.invoice === invoice) &&
          (intent === undefined || each.payment.payment_intent === intent) &&
          (status === undefined || each.status === status),
      ),
    '/v1/invoice_payments',
  );
}

export function updateInvoice(state: State, id: string, params: Params): Invoice {
  const invoice = state.edit('invoice', id);
  const reader = new Reader(params, ['metadata', 'auto_advance']);
  invoice.metadata = reader.metadata(invoice.metadata ?? {});
  invoice.auto_advance = reader.bool('auto_advance') ?? invoice.auto_advance;
  state.announce('invoice.updated', invoice, 'updated');
  return invoice;
}
