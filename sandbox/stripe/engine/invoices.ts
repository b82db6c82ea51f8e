import { calculateCuts, runningDiscounts } from './discounts.ts';
import { draftInvoice, finalizeInvoice, type Period } from './finalize-invoice.ts';
import { type DraftLine, makeLine } from './invoice-lines.ts';
import type { HiddenDebit } from './kinds.ts';
import { newId } from './new-id.ts';
import type { Invoice, Subscription } from './objects.ts';
import { list, type Params, paging, Reader } from './params.ts';
import type { State } from './state.ts';
import { invalid } from './types.ts';

type BillingReason = 'subscription_create' | 'subscription_cycle' | 'subscription_update';

export interface BillingResult {
  invoice: Invoice;
  /** The basis of later credits. */
  debits: HiddenDebit[];
  /** Discounts that reduced an amount. */
  used: Set<string>;
  /** Ids of the pending prorations that the invoice billed. */
  swept: string[];
}

/**
 * Bills lines and the pending prorations: discounts, the customer's balance, a number, a payment intent. Nothing is
 * charged yet.
 * @param about.keepsDraft the invoice stays a draft, for `finalizeRenewal`
 */
export function bill(
  state: State,
  subscription: Subscription,
  about: { reason: BillingReason; drafts: readonly DraftLine[]; period: Period; keepsDraft?: boolean },
): BillingResult {
  const { reason, drafts, period, keepsDraft = false } = about;
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
  const invoice = draftInvoice(state, subscription, { id, reason, lines, period, discounts });
  if (!keepsDraft) finalizeInvoice(state, id);
  state.announce('invoice.created', invoice);
  if (!keepsDraft) state.announce('invoice.finalized', invoice);
  for (const each of waiting) each.invoiced = true;
  const debits = draftLines.flatMap(({ draft, line }): HiddenDebit[] => {
    if (!draft.debit) return [];
    const cut = line.discount_amounts.reduce((sum, each) => sum + each.amount, 0);
    return [
      {
        id: `hidden_debit_${draft.item.id}`,
        object: 'hidden.debit',
        cents: draft.cents - cut,
        cuts: line.discount_amounts.filter(({ amount }) => amount > 0),
        ...draft.period,
        invoice: id,
        line: line.id,
      },
    ];
  });
  return { invoice, debits, used, swept: waiting.map((each) => each.id) };
}

/** Finalizes a draft at a request; with `auto_advance: false` nothing collects it afterwards. */
export function finalizeDraft(state: State, id: string, params: Params): Invoice {
  const reader = new Reader(params, ['auto_advance']);
  const invoice = state.edit('invoice', id);
  if (invoice.status !== 'draft') {
    throw invalid("This invoice is already finalized, you can't re-finalize a non-draft invoice.", {
      code: 'invoice_not_editable',
    });
  }
  invoice.auto_advance = reader.bool('auto_advance') ?? invoice.auto_advance;
  finalizeInvoice(state, id);
  state.announce('invoice.finalized', invoice);
  return invoice;
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
