import { makePaymentIntent } from './charges.ts';
import { smallestCharge } from './money.ts';
import { newId } from './new-id.ts';
import type { Customer, Invoice, InvoiceLine, Subscription } from './objects.ts';
import type { State } from './state.ts';
import { taxLines } from './tax.ts';
import { taxIdsOnInvoice } from './tax-ids.ts';

/** Seconds since the epoch. */
export interface Period {
  start: number;
  end: number;
}

/** The properties of an invoice in the order of Stripe's answers, without the values of a bill. */
const emptyInvoice: Invoice = {
  id: '',
  object: 'invoice',
  account_country: 'US',
  account_name: 'Foyer sandbox',
  account_tax_ids: null,
  amount_due: 0,
  amount_overpaid: 0,
  amount_paid: 0,
  amount_remaining: 0,
  amount_shipping: 0,
  application: null,
  attempt_count: 0,
  attempted: false,
  auto_advance: true,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
  automatically_finalizes_at: null,
  billing_reason: null,
  collection_method: 'charge_automatically',
  confirmation_secret: null,
  created: 0,
  currency: '',
  custom_fields: null,
  customer: '',
  customer_account: null,
  customer_address: null,
  customer_email: null,
  customer_name: null,
  customer_phone: null,
  customer_shipping: null,
  customer_tax_exempt: 'none',
  customer_tax_ids: [],
  default_payment_method: null,
  default_source: null,
  default_tax_rates: [],
  description: null,
  discounts: [],
  due_date: null,
  effective_at: null,
  ending_balance: null,
  footer: null,
  from_invoice: null,
  hosted_invoice_url: null,
  invoice_pdf: null,
  issuer: { type: 'self' },
  last_finalization_error: null,
  latest_revision: null,
  lines: { object: 'list', data: [], has_more: false, url: '' },
  livemode: false,
  metadata: {},
  next_payment_attempt: null,
  number: null,
  on_behalf_of: null,
  parent: {
    quote_details: null,
    subscription_details: { metadata: null, subscription: '' },
    type: 'subscription_details',
  },
  payment_settings: {
    default_mandate: null,
    payment_method_options: null,
    payment_method_types: null,
  },
  payments: { object: 'list', data: [], has_more: false, url: '' },
  period_end: 0,
  period_start: 0,
  post_payment_credit_notes_amount: 0,
  pre_payment_credit_notes_amount: 0,
  receipt_number: null,
  rendering: null,
  shipping_cost: null,
  shipping_details: null,
  starting_balance: 0,
  statement_descriptor: null,
  status: 'open',
  status_transitions: { finalized_at: null, marked_uncollectible_at: null, paid_at: null, voided_at: null },
  subtotal: 0,
  subtotal_excluding_tax: 0,
  test_clock: null,
  total: 0,
  total_discount_amounts: [],
  total_excluding_tax: 0,
  total_pretax_credit_amounts: [],
  total_taxes: [],
  webhooks_delivered_at: null,
};

interface InvoiceDraft {
  id: string;
  reason: Invoice['billing_reason'];
  lines: InvoiceLine[];
  period: Period;
  /** Of the subscription. */
  discounts: string[];
}

/** The sums of the lines' discounts, those of the subscription first. */
function sumDiscounts({ lines, discounts }: InvoiceDraft): { amount: number; discount: string }[] {
  const sums = new Map(discounts.map((discount) => [discount, 0]));
  for (const { discount, amount } of lines.flatMap((line) => line.discount_amounts)) {
    sums.set(discount, (sums.get(discount) ?? 0) + amount);
  }
  return [...sums].map(([discount, amount]) => ({ amount, discount }));
}

/** The amount due of a total, and the balance before and after. */
function splitTotal(customer: Customer, total: number, currency: string) {
  // Below 0 the customer has credit; amounts that are too small to charge are carried to the next invoice.
  const owed = total + customer.balance;
  const due = owed >= smallestCharge(currency) ? owed : 0;
  return { due, starting: customer.balance, ending: owed - due };
}

function calculateAmounts(state: State, subscription: Subscription, draft: InvoiceDraft) {
  const customer = state.edit('customer', subscription.customer);
  const { lines, reason } = draft;
  const tax = taxLines(state, { subscription, customer }, { lines, renews: reason === 'subscription_cycle' });
  const subtotal = lines.reduce((sum, line) => sum + line.amount, 0);
  const discounts = sumDiscounts(draft);
  const net = subtotal - discounts.reduce((sum, each) => sum + each.amount, 0);
  const total = net + tax.added;
  return { customer, tax, subtotal, discounts, net, total, ...splitTotal(customer, total, subscription.currency) };
}

/** The seconds for which Stripe keeps the invoice of a renewal as a draft. */
const draftSeconds = 3_600;

/** The customer on an invoice; their data are copied until it is finalized. */
const aboutCustomer = (state: State, customer: Customer) => ({
  customer_address: customer.address ?? null,
  customer_email: customer.email,
  customer_name: customer.name ?? null,
  customer_phone: customer.phone ?? null,
  customer_tax_exempt: customer.tax_exempt ?? null,
  customer_tax_ids: taxIdsOnInvoice(state, customer),
});

/** A new draft: it has no number and no payment, and does not change the customer's balance yet. */
export function draftInvoice(state: State, subscription: Subscription, draft: InvoiceDraft): Invoice {
  const now = state.now();
  const { id, period } = draft;
  const { currency } = subscription;
  const amounts = calculateAmounts(state, subscription, draft);
  const { customer, tax, subtotal, discounts, net, total, due, starting } = amounts;
  customer.currency ??= currency;
  const empty = structuredClone(emptyInvoice);
  return state.put({
    ...empty,
    object: 'invoice',
    id,
    amount_due: due,
    amount_remaining: due,
    automatic_tax: tax.automatic,
    automatically_finalizes_at: now + draftSeconds,
    billing_reason: draft.reason,
    created: now,
    currency,
    customer: customer.id,
    ...aboutCustomer(state, customer),
    default_tax_rates: subscription.default_tax_rates ?? [],
    discounts: draft.discounts,
    lines: { ...empty.lines, data: draft.lines, url: `/v1/invoices/${id}/lines` },
    parent: {
      ...empty.parent,
      subscription_details: { metadata: { ...subscription.metadata }, subscription: subscription.id },
    },
    payment_settings: {
      ...empty.payment_settings,
      payment_method_types: subscription.payment_settings?.payment_method_types ?? null,
    },
    payments: { ...empty.payments, url: `/v1/invoice_payments?invoice=${id}` },
    period_end: period.end,
    period_start: period.start,
    starting_balance: starting,
    status: 'draft',
    subtotal,
    subtotal_excluding_tax: subtotal - tax.included,
    total,
    total_discount_amounts: discounts,
    total_excluding_tax: net - tax.included,
    total_taxes: tax.totals,
    webhooks_delivered_at: now,
  });
}

/** Makes a draft an open invoice with a number and a payment intent; nothing is charged yet. */
export function finalizeInvoice(state: State, id: string): Invoice {
  const invoice = state.edit('invoice', id);
  const customer = state.edit('customer', invoice.customer);
  const subscription = state.get('subscription', invoice.parent.subscription_details.subscription);
  const now = state.now();
  const { due, starting, ending } = splitTotal(customer, invoice.total, invoice.currency);
  const number = `${customer.invoice_prefix}-${String(customer.next_invoice_sequence).padStart(4, '0')}`;
  customer.next_invoice_sequence = (customer.next_invoice_sequence ?? 1) + 1;
  customer.balance = ending;
  Object.assign(invoice, {
    ...aboutCustomer(state, customer),
    amount_due: due,
    amount_remaining: due,
    automatically_finalizes_at: null,
    effective_at: now,
    ending_balance: ending,
    hosted_invoice_url: `${state.origin}/stand-in/invoices/${id}`,
    invoice_pdf: `${state.origin}/stand-in/invoices/${id}/pdf`,
    number,
    starting_balance: starting,
    status: 'open',
  });
  invoice.status_transitions.finalized_at = now;
  if (due > 0 && !state.isRehearsal()) addPayment(state, invoice, subscription);
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
