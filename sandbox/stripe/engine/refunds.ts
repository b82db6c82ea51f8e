import { testCard } from './cards.ts';
import { readCreated } from './created.ts';
import { toIntentId } from './invoices.ts';
import { newId } from './new-id.ts';
import type { Charge, Refund } from './objects.ts';
import { list, type Params, paging, Reader } from './params.ts';
import { getHiddenCard } from './payment-methods.ts';
import type { State } from './state.ts';
import { invalid, type RefundEnd } from './types.ts';

/** Refunds in these states have reduced what the charge has brought. */
const counting: ReadonlySet<string | null> = new Set(['pending', 'requires_action', 'succeeded']);

export function getPaidCharge(state: State, intentId: string | undefined): Charge {
  const charge = intentId === undefined ? null : state.get('payment_intent', intentId).latest_charge;
  const found = charge === null ? undefined : state.find('charge', charge);
  if (!found?.paid) throw invalid('Nothing was charged for this invoice.');
  return state.edit('charge', found.id);
}

export const getChargeOfInvoice = (state: State, invoiceId: string): Charge =>
  getPaidCharge(state, toIntentId(state.get('invoice', invoiceId)));

/** A failed or cancelled refund gives its amount back to the charge. */
function updateCharge(state: State, chargeId: string): Charge {
  const charge = state.edit('charge', chargeId);
  charge.amount_refunded = state
    .all('refund')
    .filter((one) => one.charge === chargeId && counting.has(one.status))
    .reduce((sum, one) => sum + one.amount, 0);
  charge.refunded = charge.amount_refunded === charge.amount;
  return charge;
}

interface RefundDraft {
  cents?: number | undefined;
  status?: 'succeeded' | 'pending' | undefined;
  reason?: Refund['reason'] | undefined;
  metadata?: Record<string, string> | undefined;
}

/** The states of a dispute in which the bank has the money; an inquiry has not taken it yet. */
const takesCharge: ReadonlySet<string> = new Set(['needs_response', 'under_review', 'lost']);

/** Refunds a charge; the invoice stays paid, as at Stripe. */
export function refundCharge(state: State, charge: Charge, draft: RefundDraft = {}): Refund {
  const { cents, status = 'succeeded', reason = null, metadata = {} } = draft;
  const amount = cents ?? charge.amount - charge.amount_refunded;
  if (state.all('dispute').some((one) => one.charge === charge.id && takesCharge.has(one.status)))
    throw invalid('The charge you’re attempting to refund has been charged back.', { code: 'charge_disputed' });
  if (!Number.isInteger(amount) || amount <= 0 || charge.amount_refunded + amount > charge.amount) {
    throw invalid(`Refund amount (${amount}) is greater than unrefunded amount on charge.`, {
      code: 'charge_already_refunded',
    });
  }
  const created: Refund = state.put({
    id: newId('re'),
    object: 'refund',
    amount,
    balance_transaction: null,
    charge: charge.id,
    created: state.now(),
    currency: charge.currency,
    customer: charge.customer,
    customer_account: null,
    destination_details: { card: { type: 'refund' }, type: 'card' },
    metadata,
    payment_intent: charge.payment_intent,
    payment_method: charge.payment_method,
    reason,
    receipt_number: null,
    source_transfer_reversal: null,
    status,
    transfer_reversal: null,
    ...(status === 'pending' && { pending_reason: 'processing' as const }),
  });
  state.announce('refund.created', created);
  state.announce('charge.refunded', updateCharge(state, charge.id));
  return created;
}

/** The bank's last word on a refund: also one that has succeeded may fail days later. */
export function endRefund(state: State, refundId: string, end: RefundEnd): void {
  const refund = state.edit('refund', refundId);
  if (!counting.has(refund.status)) throw invalid(`The refund is ${refund.status} already.`);
  refund.status = end;
  delete refund.pending_reason;
  if (end === 'failed') refund.failure_reason = 'expired_or_canceled_card';
  if (refund.charge !== null) updateCharge(state, refund.charge);
  state.announce('refund.updated', refund, 'updated');
  if (end === 'failed') state.announce('refund.failed', refund);
}

const reasons = ['duplicate', 'fraudulent', 'requested_by_customer'] as const;

export function createRefund(state: State, params: Params): Refund {
  const reader = new Reader(params, ['payment_intent', 'charge', 'amount', 'reason', 'metadata']);
  const charge = reader.has('charge')
    ? state.edit('charge', reader.need('charge'))
    : getPaidCharge(state, reader.need('payment_intent'));
  const [cents, reason] = [reader.int('amount'), reader.choice('reason', reasons)];
  return refundCharge(state, charge, { cents, reason, metadata: reader.metadata() });
}

export function listRefunds(state: State, params: Params) {
  const reader = new Reader(params, [...paging, 'payment_intent', 'charge', 'created']);
  const [intent, charge, isCreated] = [reader.text('payment_intent'), reader.text('charge'), readCreated(reader)];
  if (intent !== undefined) state.get('payment_intent', intent, 'payment_intent');
  return list(
    state
      .all('refund')
      .filter(
        (one) =>
          (intent === undefined || one.payment_intent === intent) &&
          (charge === undefined || one.charge === charge) &&
          isCreated(one),
      ),
    '/v1/refunds',
  );
}

export function setCardBehaviour(state: State, paymentMethodId: string, cardNumber: string) {
  testCard(cardNumber);
  const card = getHiddenCard(state, paymentMethodId);
  state.edit('hidden.card', card.id).number = cardNumber;
}
