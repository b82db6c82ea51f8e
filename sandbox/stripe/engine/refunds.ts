import { testCard } from './cards.ts';
import { toIntentId } from './invoices.ts';
import { newId } from './new-id.ts';
import type { Charge } from './objects.ts';
import { getHiddenCard } from './payment-methods.ts';
import type { State } from './state.ts';
import { invalid } from './types.ts';

function getCharge(state: State, invoiceId: string): Charge {
  const intent = toIntentId(state.get('invoice', invoiceId));
  const charge = intent === undefined ? null : state.get('payment_intent', intent).latest_charge;
  const found = charge === null ? undefined : state.find('charge', charge);
  if (!found?.paid) throw invalid('Nothing was charged for this invoice.');
  return state.edit('charge', found.id);
}

/** Refunds a payment; the invoice stays paid, as at Stripe. */
export function refund(state: State, invoiceId: string, cents?: number) {
  const charge = getCharge(state, invoiceId);
  const amount = cents ?? charge.amount - charge.amount_refunded;
  if (!Number.isInteger(amount) || amount <= 0 || charge.amount_refunded + amount > charge.amount) {
    throw invalid(`Refund amount (${amount}) is greater than unrefunded amount on charge.`, {
      code: 'charge_already_refunded',
    });
  }
  charge.amount_refunded += amount;
  charge.refunded = charge.amount_refunded === charge.amount;
  const created = state.put({
    id: newId('re'),
    object: 'refund',
    amount,
    charge: charge.id,
    created: state.now(),
    currency: charge.currency,
    metadata: {},
    payment_intent: charge.payment_intent,
    reason: null,
    status: 'succeeded',
  });
  state.announce('refund.created', created);
  state.announce('charge.refunded', charge);
}

export function dispute(state: State, invoiceId: string) {
  const charge = getCharge(state, invoiceId);
  if (charge.disputed) throw invalid('The charge is disputed already.', { code: 'charge_disputed' });
  charge.disputed = true;
  const created = state.put({
    id: newId('du'),
    object: 'dispute',
    amount: charge.amount,
    charge: charge.id,
    created: state.now(),
    currency: charge.currency,
    livemode: false,
    metadata: {},
    payment_intent: charge.payment_intent,
    reason: 'fraudulent',
    status: 'needs_response',
  });
  state.announce('charge.dispute.created', created);
}

export function setCardBehaviour(state: State, paymentMethodId: string, cardNumber: string) {
  testCard(cardNumber);
  const card = getHiddenCard(state, paymentMethodId);
  state.edit('hidden.card', card.id).number = cardNumber;
}
