import { readCreated } from './created.ts';
import { newId } from './new-id.ts';
import type { CreditNote, Invoice } from './objects.ts';
import { list, type Params, paging, Reader } from './params.ts';
import { getChargeOfInvoice, refundCharge } from './refunds.ts';
import type { State } from './state.ts';
import { invalid, unknownToStandIn } from './types.ts';

const reasons = ['duplicate', 'fraudulent', 'order_change', 'product_unsatisfactory'] as const;

interface Parts {
  amount: number;
  refund: number;
  credit: number;
  outside: number;
}

/** The parts of a credit note on a paid invoice, which must add up to its amount. */
function readParts(reader: Reader, invoice: Invoice): Parts {
  const [refund, credit, outside] = [
    reader.int('refund_amount') ?? 0,
    reader.int('credit_amount') ?? 0,
    reader.int('out_of_band_amount') ?? 0,
  ];
  const amount = reader.int('amount') ?? 0;
  if (amount <= 0) throw invalid('One of `amount`, `lines`, or `shipping_cost` must be provided.', { param: 'amount' });
  if (refund + credit + outside !== amount) {
    throw invalid(
      'The sum of credit amount, refund amount and out of band amount must equal the amount of the credit note.',
    );
  }
  if (invoice.post_payment_credit_notes_amount + amount > invoice.total) {
    throw invalid(`The credit note amount (${amount}) is greater than the amount that can be credited.`, {
      param: 'amount',
    });
  }
  return { amount, refund, credit, outside };
}

function putNote(
  state: State,
  invoice: Invoice,
  { parts, refundId, reader }: { parts: Parts; refundId: string | undefined; reader: Reader },
): CreditNote {
  const id = newId('cn');
  const count = state.all('credit_note').filter((one) => one.invoice === invoice.id).length + 1;
  const { amount, refund, outside } = parts;
  return state.put({
    id,
    object: 'credit_note',
    amount,
    amount_shipping: 0,
    created: state.now(),
    currency: invoice.currency,
    customer: invoice.customer,
    customer_account: null,
    customer_balance_transaction: null,
    discount_amount: 0,
    discount_amounts: [],
    effective_at: state.now(),
    invoice: invoice.id,
    lines: { object: 'list', data: [], has_more: false, url: `/v1/credit_notes/${id}/lines` },
    livemode: false,
    memo: reader.text('memo') ?? null,
    metadata: reader.metadata(),
    number: `${invoice.number}-CN-${String(count).padStart(2, '0')}`,
    out_of_band_amount: outside > 0 ? outside : null,
    pdf: `${state.origin}/stand-in/invoices/${invoice.id}/pdf`,
    post_payment_amount: amount,
    pre_payment_amount: 0,
    pretax_credit_amounts: [],
    reason: reader.choice('reason', reasons) ?? null,
    refunds:
      refundId === undefined
        ? []
        : [{ amount_refunded: refund, payment_record_refund: null, refund: refundId, type: 'refund' }],
    shipping_cost: null,
    status: 'issued',
    subtotal: amount,
    subtotal_excluding_tax: amount,
    total: amount,
    total_excluding_tax: amount,
    total_taxes: [],
    type: 'post_payment',
    voided_at: null,
  });
}

/** A credit note on a paid invoice: it refunds, credits the balance, or states what was paid back elsewhere. */
export function createCreditNote(state: State, params: Params): CreditNote {
  const reader = new Reader(params, [
    ...['invoice', 'amount', 'refund_amount', 'credit_amount', 'out_of_band_amount'],
    ...['reason', 'memo', 'metadata', 'email_type'],
  ]);
  const invoice = state.edit('invoice', reader.need('invoice'));
  if (invoice.status !== 'paid') throw unknownToStandIn('credit notes on an invoice that is not paid', 'invoice');
  const parts = readParts(reader, invoice);
  const refund =
    parts.refund > 0 ? refundCharge(state, getChargeOfInvoice(state, invoice.id), { cents: parts.refund }) : undefined;
  const note = putNote(state, invoice, { parts, refundId: refund?.id, reader });
  invoice.post_payment_credit_notes_amount += parts.amount;
  state.edit('customer', invoice.customer).balance -= parts.credit;
  state.announce('credit_note.created', note);
  state.announce('invoice.updated', invoice, 'updated');
  return note;
}

/** Stripe voids only the notes of open invoices. */
export function voidCreditNote(state: State, id: string, params: Params): never {
  new Reader(params, []);
  state.get('credit_note', id);
  throw invalid('You can only void a credit note if the associated invoice is open.');
}

export function listCreditNotes(state: State, params: Params) {
  const reader = new Reader(params, [...paging, 'customer', 'invoice', 'created']);
  const [customer, invoice, isCreated] = [reader.text('customer'), reader.text('invoice'), readCreated(reader)];
  return list(
    state
      .all('credit_note')
      .filter(
        (one) =>
          (customer === undefined || one.customer === customer) &&
          (invoice === undefined || one.invoice === invoice) &&
          isCreated(one),
      ),
    '/v1/credit_notes',
  );
}
