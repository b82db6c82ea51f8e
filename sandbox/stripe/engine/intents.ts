import { testCard } from './cards.ts';
import { attemptPayment, failAuthentication, lastError, nextAction, type Payment } from './charges.ts';
import { afterFailedPay, markPaid } from './collect.ts';
import { newId } from './new-id.ts';
import type { Invoice, PaymentIntent, SetupIntent } from './objects.ts';
import { checkSetupMethod, isRedirect, readMethodTypes, recordRedirect } from './other-methods.ts';
import { list, type Params, paging, Reader } from './params.ts';
import { attach, getHiddenCard, makePaymentMethod, resolveMethod } from './payment-methods.ts';
import type { State } from './state.ts';
import { invalid, type KeyKind, missing, StandInError } from './types.ts';

/** A call about one intent. */
interface IntentRequest {
  id: string;
  params: Params;
  as: KeyKind;
}

/** A browser identifies an intent only by its secret. */
function checkSecret(intent: SetupIntent | PaymentIntent, reader: Reader, as: KeyKind) {
  const secret = reader.text('client_secret');
  if (
    as === 'publishable' ? secret !== intent.client_secret : secret !== undefined && secret !== intent.client_secret
  ) {
    throw missing(intent.object, intent.id, 'intent');
  }
}

export function retrieveIntent(
  state: State,
  kind: 'setup_intent' | 'payment_intent',
  { id, params, as }: IntentRequest,
) {
  const intent = state.get(kind, id, 'intent');
  checkSecret(intent, new Reader(params, ['client_secret']), as);
  return intent;
}

export function createSetupIntent(state: State, params: Params): SetupIntent {
  const reader = new Reader(params, [
    'customer',
    'usage',
    'allowed_payment_method_types',
    'metadata',
    'description',
    'payment_method',
    'confirm',
    'return_url',
    'use_stripe_sdk',
  ]);
  const types = readMethodTypes(reader);
  const customer = reader.text('customer') ?? null;
  if (customer !== null) state.get('customer', customer, 'customer');
  const id = newId('seti');
  const intent: SetupIntent = state.put({
    id,
    object: 'setup_intent',
    allowed_payment_method_types: types,
    application: null,
    automatic_payment_methods: null,
    cancellation_reason: null,
    client_secret: newId(`${id}_secret`),
    created: state.now(),
    customer,
    customer_account: null,
    description: reader.text('description') ?? null,
    excluded_payment_method_types: null,
    flow_directions: null,
    last_setup_error: null,
    latest_attempt: null,
    livemode: false,
    managed_payments: null,
    mandate: null,
    metadata: reader.metadata(),
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types: types,
    single_use_mandate: null,
    status: 'requires_payment_method',
    usage: reader.choice('usage', ['off_session', 'on_session']) ?? 'off_session',
  });
  state.announce('setup_intent.created', intent);
  const method = reader.text('payment_method');
  if (method !== undefined) {
    intent.payment_method = resolveMethod(state, method).id;
    intent.status = 'requires_confirmation';
  }
  if (!reader.bool('confirm')) return intent;
  return confirmSetup(state, intent, reader.text('return_url'));
}

const confirmFields = [
  'client_secret',
  'payment_method',
  'payment_method_data',
  'return_url',
  'use_stripe_sdk',
  'mandate_data',
  'allowed_payment_method_types',
  'setup_future_usage',
  'off_session',
];
const mandateFields = ['customer_acceptance'];

/** The card of a confirmation: by id, or with its data. @returns undefined without both */
function readMethod(state: State, reader: Reader, params: Params): string | undefined {
  reader.object('mandate_data', mandateFields);
  const data = params.payment_method_data;
  if (data !== undefined) return makePaymentMethod(state, data as Params).id;
  const methodId = reader.text('payment_method');
  return methodId === undefined ? undefined : resolveMethod(state, methodId).id;
}

/** Stripe.js opens a card's page itself, and leaves to a bank's. */
const returnUrl = (reader: Reader, type: string) =>
  reader.bool('use_stripe_sdk') && !isRedirect(type) ? undefined : reader.text('return_url');

function unexpectedState(intent: SetupIntent | PaymentIntent) {
  const setup = intent.object === 'setup_intent';
  return new StandInError(
    `You cannot confirm this ${setup ? 'SetupIntent' : 'PaymentIntent'} because it has a status of ${intent.status}.`,
    {
      code: `${intent.object}_unexpected_state`,
      ...(setup ? { setupIntent: structuredClone(intent) } : { paymentIntent: structuredClone(intent) }),
    },
  );
}

export function confirmSetupIntent(state: State, { id, params, as }: IntentRequest): SetupIntent {
  const reader = new Reader(params, confirmFields);
  const intent = state.edit('setup_intent', id);
  checkSecret(intent, reader, as);
  readMethodTypes(reader);
  if (intent.status === 'succeeded' || intent.status === 'canceled') throw unexpectedState(intent);
  const method = readMethod(state, reader, params) ?? intent.payment_method;
  if (method === null) throw invalid('You must provide a payment method.', { param: 'payment_method' });
  intent.payment_method = method;
  return confirmSetup(state, intent, returnUrl(reader, state.get('payment_method', method).type));
}

function confirmSetup(state: State, intent: SetupIntent, url: string | undefined): SetupIntent {
  const method = state.get('payment_method', intent.payment_method ?? '', 'payment_method');
  if (method.customer !== null && method.customer !== intent.customer) {
    throw invalid('The payment method belongs to another customer.', { param: 'payment_method' });
  }
  checkSetupMethod(intent, method, url);
  const { save } = testCard(getHiddenCard(state, method.id).number);
  if (save === 'authenticate' || isRedirect(method.type)) {
    intent.status = 'requires_action';
    intent.next_action = nextAction(state, intent, url);
    intent.last_setup_error = null;
    state.announce('setup_intent.requires_action', intent);
    return intent;
  }
  if (save === 'approve') return completeSetup(state, intent);
  intent.status = 'requires_payment_method';
  intent.payment_method = null;
  intent.next_action = null;
  intent.last_setup_error = lastError(save, method);
  state.announce('setup_intent.setup_failed', intent);
  throw new StandInError(save.message, {
    status: 402,
    type: 'card_error',
    code: save.code,
    declineCode: save.declineCode,
    setupIntent: structuredClone(intent),
    keeps: true,
  });
}

function completeSetup(state: State, intent: SetupIntent): SetupIntent {
  const method = intent.payment_method ?? '';
  intent.status = 'succeeded';
  intent.next_action = null;
  intent.last_setup_error = null;
  state.edit('hidden.card', `hidden_${method}`).authenticated = true;
  const used = state.get('payment_method', method);
  const saved = isRedirect(used.type) ? recordRedirect(state, intent, used).id : method;
  if (intent.customer !== null) attach(state, saved, intent.customer);
  state.announce('setup_intent.succeeded', intent);
  return intent;
}

export function cancelSetupIntent(state: State, id: string, params: Params): SetupIntent {
  const reason = new Reader(params, ['cancellation_reason']).choice('cancellation_reason', [
    'abandoned',
    'duplicate',
    'requested_by_customer',
  ]);
  const intent = state.edit('setup_intent', id);
  if (intent.status === 'succeeded' || intent.status === 'canceled') throw unexpectedState(intent);
  intent.status = 'canceled';
  intent.cancellation_reason = reason ?? null;
  intent.next_action = null;
  state.announce('setup_intent.canceled', intent);
  return intent;
}

export function listIntents(state: State, kind: 'setup_intent' | 'payment_intent', params: Params) {
  const customer = new Reader(params, [...paging, 'customer']).text('customer');
  const intents: (SetupIntent | PaymentIntent)[] = state.all(kind);
  return list(
    intents.filter((each) => customer === undefined || each.customer === customer),
    `/v1/${kind}s`,
  );
}

function getInvoice(state: State, intent: string): Invoice {
  const payment = state.all('invoice_payment').find((each) => each.payment.payment_intent === intent);
  return state.get('invoice', payment?.invoice ?? '');
}

/** A payment behind an invoice, confirmed by the browser. */
export function confirmPaymentIntent(state: State, { id, params, as }: IntentRequest): PaymentIntent {
  const reader = new Reader(params, confirmFields);
  const intent = state.edit('payment_intent', id);
  checkSecret(intent, reader, as);
  readMethodTypes(reader);
  if (intent.status === 'succeeded' || intent.status === 'canceled') throw unexpectedState(intent);
  const method = readMethod(state, reader, params) ?? intent.payment_method;
  if (method === null) {
    throw invalid('You cannot confirm this PaymentIntent because it’s missing a payment method.', {
      code: 'payment_intent_unexpected_state',
      param: 'payment_method',
    });
  }
  const { customer, type } = state.get('payment_method', method);
  if (customer !== null && customer !== intent.customer) {
    throw invalid('The payment method belongs to another customer.', { param: 'payment_method' });
  }
  const invoice = state.edit('invoice', getInvoice(state, id).id);
  if (invoice.attempt_count === 0) invoice.attempt_count += 1;
  payIntent(state, intent, { method, returnUrl: returnUrl(reader, type) });
  return intent;
}

/** Attempts a payment and updates its invoice. @throws StandInError if it is declined */
function payIntent(state: State, intent: PaymentIntent, payment: Payment) {
  const result = attemptPayment(state, intent.id, payment);
  const invoice = state.edit('invoice', getInvoice(state, intent.id).id);
  if (result.outcome === 'paid') {
    markPaid(state, invoice.id, payment.method);
    return;
  }
  invoice.attempted = true;
  if (result.outcome !== 'declined') return;
  state.announce('invoice.payment_failed', invoice);
  afterFailedPay(state, invoice);
  const { code, declineCode, message } = result.decline;
  throw new StandInError(message, {
    status: 402,
    type: 'card_error',
    code,
    declineCode,
    paymentIntent: structuredClone(intent),
    keeps: true,
  });
}

/** The customer answers the bank's question. The intent then contains a decline of the payment. */
export function authenticate(state: State, id: string, outcome: 'succeed' | 'fail') {
  const found = state.find('setup_intent', id) ?? state.find('payment_intent', id);
  if (!found) throw missing('intent', id);
  if (found.status !== 'requires_action') throw unexpectedState(found);
  if (found.object === 'setup_intent') {
    const intent = state.edit('setup_intent', id);
    if (outcome === 'succeed') completeSetup(state, intent);
    else failAuthentication(state, intent);
    return;
  }
  const intent = state.edit('payment_intent', id);
  if (outcome === 'fail') {
    failAuthentication(state, intent);
    const invoice = state.edit('invoice', getInvoice(state, id).id);
    state.announce('invoice.payment_failed', invoice);
    afterFailedPay(state, invoice);
    return;
  }
  const method = intent.payment_method ?? '';
  state.edit('hidden.card', `hidden_${method}`).authenticated = true;
  payIntent(state, intent, { method, authenticated: true });
}
