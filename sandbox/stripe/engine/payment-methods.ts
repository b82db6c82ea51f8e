import { checkCard, fingerprint, numberOfName, testCard } from './cards.ts';
import { newId } from './new-id.ts';
import type { Metadata, PaymentMethod, Token } from './objects.ts';
import { billingDetails, isOtherMethod, makeOtherMethod } from './other-methods.ts';
import { list, type Params, paging, Reader } from './params.ts';
import type { State } from './state.ts';
import { invalid, missing, StandInError, unknownToStandIn } from './types.ts';

interface CardData {
  number: string;
  expMonth: number;
  expYear: number;
  cvc?: string;
}

const year = 365 * 86_400_000;

function readCard(state: State, reader: Reader): CardData {
  const expYear = reader.int('exp_year') ?? Number.NaN;
  const card = {
    number: reader.need('number').replaceAll(/[\s-]/g, ''),
    expMonth: reader.int('exp_month') ?? Number.NaN,
    expYear: expYear < 100 ? 2_000 + expYear : expYear,
    cvc: reader.text('cvc'),
  };
  checkCard(card, state.nowMs());
  return card;
}

const createTestCard = (state: State, number: string): CardData => ({
  number,
  expMonth: 12,
  expYear: new Date(state.nowMs() + 4 * year).getUTCFullYear(),
  cvc: '123',
});

function createMethod(
  state: State,
  card: CardData,
  { billing, metadata = {} }: { billing: PaymentMethod['billing_details']; metadata?: Metadata },
): PaymentMethod {
  const { brand, country = 'US' } = testCard(card.number);
  const created: PaymentMethod = state.put({
    id: newId('pm'),
    object: 'payment_method',
    allow_redisplay: 'unspecified',
    billing_details: billing,
    card: {
      brand,
      checks: {
        address_line1_check: null,
        address_postal_code_check: billing.address?.postal_code ? 'pass' : null,
        cvc_check: card.cvc === undefined ? null : 'pass',
      },
      country,
      display_brand: brand === 'amex' ? 'american_express' : brand,
      exp_month: card.expMonth,
      exp_year: card.expYear,
      fingerprint: fingerprint(card.number),
      funding: 'credit',
      generated_from: null,
      last4: card.number.slice(-4),
      networks: { available: [brand], preferred: null },
      regulated_status: 'unregulated',
      three_d_secure_usage: { supported: true },
      wallet: null,
    },
    created: state.now(),
    customer: null,
    customer_account: null,
    livemode: false,
    metadata,
    type: 'card',
  });
  state.put({ id: `hidden_${created.id}`, object: 'hidden.card', number: card.number, authenticated: false });
  return created;
}

/** The hidden facts of a saved card: its number decides how its bank answers. */
export const getHiddenCard = (state: State, paymentMethod: string) =>
  state.get('hidden.card', `hidden_${paymentMethod}`);

const methodFields = [
  'type',
  'card',
  'sepa_debit',
  'link',
  'ideal',
  'bancontact',
  'billing_details',
  'metadata',
  'allow_redisplay',
  'radar_options',
];

/** Makes a payment method from card data or a token, as a browser or a server sends it. */
export function makePaymentMethod(state: State, params: Params): PaymentMethod {
  const reader = new Reader(params, methodFields);
  const type = reader.text('type') ?? 'card';
  if (isOtherMethod(type)) return makeOtherMethod(state, type, reader);
  if (type !== 'card') throw unknownToStandIn('this type of payment method', 'type');
  const card = reader.object('card', ['number', 'exp_month', 'exp_year', 'cvc', 'token']);
  if (!card) throw invalid('Missing required param: card.', { param: 'card', code: 'parameter_missing' });
  const token = card.text('token');
  const method = createMethod(state, token === undefined ? readCard(state, card) : spendToken(state, token), {
    billing: billingDetails(reader),
    metadata: reader.metadata(),
  });
  const redisplay = reader.choice('allow_redisplay', ['always', 'limited', 'unspecified']);
  if (redisplay) method.allow_redisplay = redisplay;
  return method;
}

/** A payment method by its id; `pm_card_visa` and similar ids create a new one. */
export function resolveMethod(state: State, id: string, param = 'payment_method'): PaymentMethod {
  const number = id.startsWith('pm_card_') ? numberOfName(id) : undefined;
  if (number !== undefined)
    return createMethod(state, createTestCard(state, number), { billing: billingDetails(undefined) });
  const token = id.startsWith('tok_') ? spendToken(state, id) : undefined;
  if (token !== undefined) return createMethod(state, token, { billing: billingDetails(undefined) });
  const found = state.find('payment_method', id);
  if (!found) throw missing('PaymentMethod', id, param);
  return found;
}

export function attach(state: State, id: string, customer: string): PaymentMethod {
  state.get('customer', customer, 'customer');
  const method = state.edit('payment_method', resolveMethod(state, id).id);
  if (method.customer === customer) return method;
  if (method.customer !== null) {
    throw invalid('The payment method you provided has already been attached to a customer.', {
      code: 'payment_method_unexpected_state',
    });
  }
  const { save } = testCard(getHiddenCard(state, method.id).number);
  if (typeof save === 'object') {
    throw new StandInError(save.message, {
      status: 402,
      type: 'card_error',
      code: save.code,
      declineCode: save.declineCode,
    });
  }
  method.customer = customer;
  state.announce('payment_method.attached', method);
  return method;
}

/** Removes a card from its customer: neither customer nor subscriptions keep it as their default. */
export function detach(state: State, id: string): PaymentMethod {
  const method = state.edit('payment_method', id);
  if (method.customer === null) {
    throw invalid('The payment method you provided is not attached to a customer so detachment is impossible.');
  }
  const customer = state.edit('customer', method.customer);
  method.customer = null;
  state.announce('payment_method.detached', method, 'updated');
  if (customer.invoice_settings.default_payment_method === id) {
    customer.invoice_settings.default_payment_method = null;
    state.announce('customer.updated', customer, 'updated');
  }
  for (const { id: each, default_payment_method } of state.all('subscription')) {
    if (default_payment_method !== id) continue;
    const subscription = state.edit('subscription', each);
    subscription.default_payment_method = null;
    state.announce('customer.subscription.updated', subscription, 'updated');
  }
  return method;
}

export function detachAll(state: State, customer: string) {
  for (const method of state.all('payment_method')) if (method.customer === customer) detach(state, method.id);
}

export function updatePaymentMethod(state: State, id: string, params: Params): PaymentMethod {
  const method = state.edit('payment_method', id);
  const reader = new Reader(params, ['metadata', 'billing_details', 'card']);
  method.metadata = reader.metadata(method.metadata ?? {});
  if (reader.has('billing_details')) method.billing_details = billingDetails(reader);
  const card = reader.object('card', ['exp_month', 'exp_year']);
  if (method.card) {
    method.card.exp_month = card?.int('exp_month') ?? method.card.exp_month;
    method.card.exp_year = card?.int('exp_year') ?? method.card.exp_year;
  }
  state.announce('payment_method.updated', method, 'updated');
  return method;
}

export function listPaymentMethods(state: State, params: Params, url: string) {
  const reader = new Reader(params, [...paging, 'customer', 'type']);
  const customer = reader.text('customer');
  const type = reader.text('type');
  const isListed = (one: PaymentMethod) =>
    one.customer === (customer ?? null) && (type === undefined || one.type === type);
  return list(state.all('payment_method').filter(isListed), url);
}

const tokenFields = ['number', 'exp_month', 'exp_year', 'cvc', 'name', 'address_zip', 'address_country'];

/** Card data for an id of a payment method. The token keeps the number, hidden, until it is used. */
export function createToken(state: State, params: Params): Token {
  const reader = new Reader(params, ['card']).object('card', tokenFields);
  if (!reader) throw unknownToStandIn('tokens of anything but cards', 'card');
  const card = readCard(state, reader);
  const { brand, country = 'US' } = testCard(card.number);
  const token: Token = state.put({
    id: newId('tok'),
    object: 'token',
    card: {
      id: newId('card'),
      object: 'card',
      address_city: null,
      address_country: reader.text('address_country') ?? null,
      address_line1: null,
      address_line1_check: null,
      address_line2: null,
      address_state: null,
      address_zip: reader.text('address_zip') ?? null,
      address_zip_check: reader.has('address_zip') ? 'unchecked' : null,
      brand: { visa: 'Visa', mastercard: 'MasterCard', amex: 'American Express' }[brand],
      country,
      cvc_check: card.cvc === undefined ? null : 'unchecked',
      dynamic_last4: null,
      exp_month: card.expMonth,
      exp_year: card.expYear,
      fingerprint: fingerprint(card.number),
      funding: 'credit',
      last4: card.number.slice(-4),
      metadata: {},
      name: reader.text('name') ?? null,
      networks: { preferred: null },
      regulated_status: 'unregulated',
      tokenization_method: null,
    },
    client_ip: null,
    created: state.now(),
    livemode: false,
    type: 'card',
    used: false,
  });
  state.put({ id: `hidden_${token.id}`, object: 'hidden.card', number: card.number, authenticated: false });
  return token;
}

function spendToken(state: State, id: string): CardData {
  const number = numberOfName(id);
  if (number !== undefined) return createTestCard(state, number);
  const token = state.find('token', id);
  if (!token?.card) throw missing('token', id, 'card[token]');
  if (token.used) {
    throw invalid('You cannot use a Stripe token more than once.', { code: 'token_already_used' });
  }
  state.edit('token', id).used = true;
  const card = state.get('hidden.card', `hidden_${id}`);
  const data = { number: card.number, expMonth: token.card.exp_month, expYear: token.card.exp_year };
  return token.card.cvc_check === null ? data : { ...data, cvc: '000' };
}
