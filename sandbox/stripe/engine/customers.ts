import { addressFields, canPlace, toAddress } from './address.ts';
import { newId } from './new-id.ts';
import type { Customer, Deleted } from './objects.ts';
import { list, type Params, paging, Reader } from './params.ts';
import { attach, detachAll } from './payment-methods.ts';
import type { State } from './state.ts';
import { invalid, missing, unknownToStandIn } from './types.ts';

const names = ['business_name', 'individual_name'] as const;
const known = [
  ...['email', 'name', 'description', 'phone', 'metadata', 'preferred_locales', 'invoice_settings', 'address'],
  ...['tax', 'tax_exempt', ...names],
];

/** With `immediately` a place that Stripe Tax does not know is refused; otherwise an invoice says so later. */
function checkLocation({ address }: Customer, reader: Reader): void {
  const tax = reader.object('tax', ['validate_location']);
  if (tax?.choice('validate_location', ['auto', 'deferred', 'immediately']) !== 'immediately' || canPlace(address))
    return;
  throw invalid("The customer's location isn't recognized. Set a valid customer address in order to calculate tax.", {
    param: 'address',
    code: 'customer_tax_location_invalid',
  });
}

/**
 * Stripe does not publish its rule. Known is that it refuses a domain without a dot; here also a name that is no dot-atom
 * (RFC 5321, section 4.1.2), as `ada..l@example.com`, which browsers accept in an e-mail field.
 */
const emailPattern = /^[^@\s.]+(?:\.[^@\s.]+)*@[^@\s.]+(?:\.[^@\s.]+)+$/;

/** @throws StandInError for an address that Stripe refuses */
function writeNames(customer: Customer, reader: Reader): void {
  for (const name of ['email', 'name', 'description', 'phone'] as const) {
    if (reader.has(name)) customer[name] = reader.text(name) ?? null;
  }
  for (const name of names) {
    const text = reader.text(name);
    if (text !== undefined) customer[name] = text;
    else if (reader.has(name)) delete customer[name];
  }
  if (customer.email !== null && !emailPattern.test(customer.email)) {
    throw invalid(`Invalid email address: ${customer.email}`, { param: 'email', code: 'email_invalid' });
  }
}

function write(state: State, customer: Customer, reader: Reader) {
  writeNames(customer, reader);
  if (reader.has('address')) customer.address = toAddress(reader.object('address', addressFields));
  checkLocation(customer, reader);
  customer.tax_exempt = reader.choice('tax_exempt', ['none', 'exempt', 'reverse']) ?? customer.tax_exempt;
  if (reader.has('preferred_locales')) customer.preferred_locales = reader.texts('preferred_locales') ?? [];
  customer.metadata = reader.metadata(customer.metadata);
  const settings = reader.object('invoice_settings', ['default_payment_method']);
  if (settings?.has('default_payment_method')) {
    const id = settings.text('default_payment_method') ?? null;
    if (id !== null && state.get('payment_method', id, 'payment_method').customer !== customer.id) {
      throw invalid(
        'The customer does not have a payment method with the ID ' +
          `${id}. The payment method must be attached to the customer.`,
        { param: 'invoice_settings[default_payment_method]', code: 'resource_missing' },
      );
    }
    customer.invoice_settings.default_payment_method = id;
  }
}

export function createCustomer(state: State, params: Params): Customer {
  const reader = new Reader(params, [...known, 'payment_method', 'balance']);
  const customer: Customer = state.put({
    id: newId('cus', 14),
    object: 'customer',
    address: null,
    balance: reader.int('balance') ?? 0,
    created: state.now(),
    currency: null,
    customer_account: null,
    default_source: null,
    delinquent: false,
    description: null,
    discount: null,
    email: null,
    invoice_prefix: newId('x', 8).slice(2).toUpperCase(),
    invoice_settings: { custom_fields: null, default_payment_method: null, footer: null, rendering_options: null },
    livemode: false,
    metadata: {},
    name: null,
    next_invoice_sequence: 1,
    phone: null,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  });
  const paymentMethod = reader.text('payment_method');
  if (paymentMethod) attach(state, paymentMethod, customer.id);
  write(state, customer, reader);
  state.announce('customer.created', customer);
  return customer;
}

export function updateCustomer(state: State, id: string, params: Params): Customer {
  const customer = state.edit('customer', id);
  const reader = new Reader(params, [...known, 'balance']);
  write(state, customer, reader);
  customer.balance = reader.int('balance') ?? customer.balance;
  state.announce('customer.updated', customer, 'updated');
  return customer;
}

export function retrieveCustomer(state: State, id: string, params: Params): Customer | Deleted<'customer'> {
  new Reader(params, []);
  const found = state.findVisible(id);
  if (found?.object !== 'customer') throw missing('customer', id);
  return found as unknown as Customer | Deleted<'customer'>;
}

export function listCustomers(state: State, params: Params) {
  const reader = new Reader(params, [...paging, 'email', 'created']);
  const email = reader.text('email'); // case-sensitive, says Stripe
  const since = reader.object('created', ['gte'])?.int('gte') ?? null;
  return list(
    state
      .all('customer')
      .filter((customer) => email === undefined || customer.email === email)
      .filter(({ created }) => since === null || created >= since),
    '/v1/customers',
  );
}

/** Stripe finds new objects in less than a minute (docs.stripe.com/search, "data freshness"). */
const searchDelay = 60;
const metadataQuery = /^metadata\['(?<key>[^']+)'\]:'(?<value>[^']*)'$/;

/** The one query that is known here: customers by the value of a metadata key. */
export function searchCustomers(state: State, params: Params) {
  const query = new Reader(params, ['query', 'limit']).need('query');
  const { key, value } = metadataQuery.exec(query)?.groups ?? {};
  if (key === undefined) throw unknownToStandIn(`the search query ${query}`, 'query');
  const found = state
    .all('customer')
    .filter(({ created, metadata }) => created <= state.now() - searchDelay && metadata[key] === value);
  return { ...list(found, '/v1/customers/search'), object: 'search_result' as const, next_page: null };
}

/** @param cancelAll ends the customer's subscriptions at once, as Stripe does */
export function deleteCustomer(
  state: State,
  { id, params }: { id: string; params: Params },
  cancelAll: (customer: string) => void,
) {
  new Reader(params, []);
  const customer = state.get('customer', id);
  cancelAll(id);
  detachAll(state, id);
  state.announce('customer.deleted', customer);
  return state.markDeleted('customer', id);
}
