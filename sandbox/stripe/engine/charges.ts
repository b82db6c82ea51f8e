import type Stripe from 'stripe';
import { type Answer, authenticationRequired, chargeAnswer, type Decline, testCard } from './cards.ts';
import { newId } from './new-id.ts';
import type { Charge, PaymentIntent, PaymentMethod, SetupIntent } from './objects.ts';
import { getHiddenCard } from './payment-methods.ts';
import type { State } from './state.ts';

/** A bank's answer to one payment attempt. */
export type Attempt =
  | { outcome: 'paid' }
  /** A debit: the bank answers later. */
  | { outcome: 'processing' }
  | { outcome: 'requires_action' }
  | { outcome: 'declined'; decline: Decline };

const authenticationFailed = (kind: 'setup_intent' | 'payment_intent') => ({
  type: 'card_error' as const,
  code: `${kind}_authentication_failure` as const,
  message: 'We are unable to authenticate your payment method. Please choose a different payment method and try again.',
});

/** An error as intents store it. */
export const lastError = (decline: Decline, method: PaymentMethod) => ({
  type: 'card_error' as const,
  code: decline.code,
  ...(decline.declineCode && { decline_code: decline.declineCode }),
  doc_url: `https://stripe.com/docs/error-codes/${decline.code.replaceAll('_', '-')}`,
  message: decline.message,
  payment_method: structuredClone(method) as never,
});

/** The address of the bank's page; the browser's script opens it, or is redirected there. */
export function nextAction(state: State, intent: { id: string }, returnUrl: string | undefined) {
  const url = `${state.origin}/stand-in/authenticate/${intent.id}`;
  return returnUrl === undefined
    ? { type: 'use_stripe_sdk', use_stripe_sdk: { type: 'three_d_secure_redirect', stripe_js: url } }
    : { type: 'redirect_to_url', redirect_to_url: { return_url: returnUrl, url } };
}

/** The card of a charge, as a bank's answer has it. */
function chargedCard(card: Stripe.PaymentMethod.Card, amount: number): Stripe.Charge.PaymentMethodDetails.Card {
  const { brand, checks, country, exp_month, exp_year, funding, last4 } = card;
  return {
    amount_authorized: amount,
    authorization_code: null,
    brand,
    checks,
    country,
    electronic_commerce_indicator: null,
    exp_month,
    exp_year,
    fingerprint: card.fingerprint ?? null,
    funding,
    installments: null,
    last4,
    mandate: null,
    network: brand,
    network_transaction_id: null,
    regulated_status: null,
    three_d_secure: null,
    transaction_link_id: null,
    wallet: null,
  };
}

function chargedDetails({ type, card, sepa_debit }: PaymentMethod, amount: number): Charge['payment_method_details'] {
  if (card) return { type, card: chargedCard(card, amount) };
  if (!sepa_debit) return { type, link: { country: null } };
  const { bank_code, branch_code, country, fingerprint, last4 } = sepa_debit;
  return { type, sepa_debit: { bank_code, branch_code, country, fingerprint, last4, mandate: null } };
}

const toOutcome = (decline: Decline | undefined): Stripe.Charge.Outcome => ({
  advice_code: null,
  network_advice_code: null,
  network_decline_code: null,
  network_status: decline ? 'declined_by_network' : 'approved_by_network',
  reason: decline?.declineCode ?? null,
  seller_message: decline ? 'The bank did not return any further details with this decline.' : 'Payment complete.',
  type: decline ? 'issuer_declined' : 'authorized',
});

/** The properties of a charge that no payment here has. */
const absent = {
  application: null,
  application_fee: null,
  application_fee_amount: null,
  balance_transaction: null,
  failure_balance_transaction: null,
  fraud_details: null,
  on_behalf_of: null,
  receipt_email: null,
  receipt_number: null,
  receipt_url: null,
  review: null,
  shipping: null,
  source: null,
  source_transfer: null,
  statement_descriptor: null,
  statement_descriptor_suffix: null,
  transfer_data: null,
  transfer_group: null,
} satisfies Partial<Charge>;

function createCharge(
  state: State,
  intent: PaymentIntent,
  { method, decline }: { method: PaymentMethod; decline?: Decline },
): Charge {
  const captured = decline ? 0 : intent.amount;
  const charge: Charge = state.put({
    ...absent,
    id: newId('ch'),
    object: 'charge',
    amount: intent.amount,
    amount_captured: captured,
    amount_refunded: 0,
    billing_details: method.billing_details,
    calculated_statement_descriptor: 'FOYER',
    captured: !decline,
    created: state.now(),
    currency: intent.currency,
    customer: intent.customer,
    description: intent.description,
    disputed: false,
    failure_code: decline?.code ?? null,
    failure_message: decline?.message ?? null,
    livemode: false,
    metadata: {},
    outcome: toOutcome(decline),
    paid: !decline,
    payment_intent: intent.id,
    payment_method: method.id,
    payment_method_details: chargedDetails(method, captured),
    refunded: false,
    status: decline ? 'failed' : 'succeeded',
  });
  state.announce(decline ? 'charge.failed' : 'charge.succeeded', charge);
  return charge;
}

export interface Payment {
  /** The id of the payment method. */
  method: string;
  /** Whether the customer has just authenticated for it. */
  authenticated?: boolean;
  /** The customer is not there to authenticate (`off_session`). */
  absent?: boolean | undefined;
  /** The address after the bank's page; without it the browser's script opens that page. */
  returnUrl?: string;
}

/** Asks the card's bank for the intent's amount, and writes its answer into the intent. */
export function attemptPayment(state: State, intentId: string, payment: Payment): Attempt {
  const intent = state.edit('payment_intent', intentId);
  const { method: methodId } = payment;
  const method = state.get('payment_method', methodId, 'payment_method');
  const hiddenCard = getHiddenCard(state, methodId);
  const card = testCard(hiddenCard.number);
  const asksCustomer = card.alwaysAuthenticates || (card.save === 'authenticate' && !hiddenCard.authenticated);
  intent.payment_method = methodId;
  const isUnproven = asksCustomer && !payment.authenticated;
  if (isUnproven && !payment.absent) {
    intent.status = 'requires_action';
    intent.next_action = nextAction(state, intent, payment.returnUrl);
    intent.last_payment_error = null;
    state.announce('payment_intent.requires_action', intent);
    return { outcome: 'requires_action' };
  }
  intent.next_action = null;
  if (card.debit) {
    intent.status = 'processing';
    intent.last_payment_error = null;
    const at = state.now() + card.debit.seconds;
    state.put({ id: `hidden_settlement_${intentId}`, object: 'hidden.settlement', intent: intentId, at });
    state.announce('payment_intent.processing', intent);
    return { outcome: 'processing' };
  }
  const answer = chargeAnswer(hiddenCard.number, method.card, state.now() * 1000);
  return chargeNow(state, intent, { method, answer: isUnproven ? authenticationRequired : answer });
}

/** The bank's answer to a debit, days later. */
export function settlePayment(state: State, intentId: string): Attempt {
  const intent = state.edit('payment_intent', intentId);
  const method = state.get('payment_method', intent.payment_method ?? '');
  return chargeNow(state, intent, { method, answer: testCard(getHiddenCard(state, method.id).number).charge });
}

function chargeNow(
  state: State,
  intent: PaymentIntent,
  { method, answer: decline }: { method: PaymentMethod; answer: Answer },
): Attempt {
  if (typeof decline === 'object') {
    const charge = createCharge(state, intent, { method, decline });
    intent.latest_charge = charge.id;
    intent.status = 'requires_payment_method';
    intent.payment_method = null;
    intent.last_payment_error = { ...lastError(decline, method), charge: charge.id };
    state.announce('payment_intent.payment_failed', intent);
    return { outcome: 'declined', decline };
  }
  const charge = createCharge(state, intent, { method });
  intent.latest_charge = charge.id;
  intent.amount_received = intent.amount;
  intent.status = 'succeeded';
  intent.last_payment_error = null;
  state.announce('payment_intent.succeeded', intent);
  return { outcome: 'paid' };
}

/** The customer failed the bank's authentication. */
export function failAuthentication(state: State, intent: SetupIntent | PaymentIntent) {
  const error = {
    ...authenticationFailed(intent.object),
    ...(intent.payment_method && {
      payment_method: structuredClone(state.get('payment_method', intent.payment_method)) as never,
    }),
  };
  intent.status = 'requires_payment_method';
  intent.next_action = null;
  intent.payment_method = null;
  if (intent.object === 'setup_intent') intent.last_setup_error = error;
  else intent.last_payment_error = error;
  state.announce(
    intent.object === 'setup_intent' ? 'setup_intent.setup_failed' : 'payment_intent.payment_failed',
    intent,
  );
}

export function makePaymentIntent(
  state: State,
  about: { amount: number; currency: string; customer: string; description: string; saves: boolean },
): PaymentIntent {
  const id = newId('pi');
  const intent: PaymentIntent = state.put({
    id,
    object: 'payment_intent',
    allowed_payment_method_types: ['card'],
    amount: about.amount,
    amount_capturable: 0,
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic',
    client_secret: newId(`${id}_secret`),
    confirmation_method: 'automatic',
    created: state.now(),
    currency: about.currency,
    customer: about.customer,
    customer_account: null,
    description: about.description,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: false,
    managed_payments: null,
    metadata: {},
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types: ['card'],
    payment_record: null,
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: about.saves ? 'off_session' : null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: 'requires_payment_method',
    transfer_group: null,
  });
  state.announce('payment_intent.created', intent);
  return intent;
}
