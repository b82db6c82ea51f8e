import { newId } from './new-id.ts';
import type { Customer, TaxId } from './objects.ts';
import { list, type Params, paging, Reader } from './params.ts';
import type { State } from './state.ts';
import { invalid, missing } from './types.ts';

/** The formats of docs.stripe.com/billing/customer/tax-ids, by the country that the id begins with. */
const euFormats: Record<string, string> = {
  AT: 'U\\d{8}',
  BE: '[01]\\d{9}',
  BG: '\\d{9,10}',
  CY: '\\d{8}[A-Z]',
  CZ: '\\d{8,10}',
  DE: '\\d{9}',
  DK: '\\d{8}',
  EE: '\\d{9}',
  EL: '\\d{9}',
  ES: '[A-Z0-9]\\d{7}[A-Z0-9]',
  FI: '\\d{8}',
  FR: '[A-Z0-9]{2}\\d{9}',
  HR: '\\d{11}',
  HU: '\\d{8,11}',
  IE: '\\d[A-Z0-9+*]\\d{5}[A-Z]{1,2}',
  IT: '\\d{11}',
  LT: '\\d{9}|\\d{12}',
  LU: '\\d{8}',
  LV: '\\d{11}',
  MT: '\\d{8}',
  NL: '\\d{9}B\\d{2}',
  PL: '\\d{10}',
  PT: '\\d{9}',
  RO: '\\d{2,10}',
  SE: '\\d{12}',
  SI: '\\d{8}',
  SK: '\\d{10}',
  XI: '\\d{9}|\\d{12}',
};

type KnownType = 'eu_vat' | 'gb_vat' | 'ch_vat' | 'no_vat';

const otherFormats: Record<Exclude<KnownType, 'eu_vat'>, { country: string; format: RegExp }> = {
  gb_vat: { country: 'GB', format: /^GB(?:\d{9}|\d{12}|(?:GD|HA)\d{3})$/ },
  ch_vat: { country: 'CH', format: /^CHE-?\d{3}\.?\d{3}\.?\d{3} ?(?:MWST|TVA|IVA)$/ },
  no_vat: { country: 'NO', format: /^\d{9}MVA$/ },
};

type Status = NonNullable<TaxId['verification']>['status'];

/** Stripe's numbers for tests of the verification; every country may have them. */
const magic: Record<string, Status> = { '000000000': 'verified', '111111111': 'unverified', '222222222': 'pending' };

const prefixes: Record<string, string> = { EL: 'GR', XI: 'GB' };

/** The country of an id with the right format. */
function findCountry(type: KnownType, value: string): string | undefined {
  if (type !== 'eu_vat') return otherFormats[type].format.test(value) ? otherFormats[type].country : undefined;
  const [prefix, rest] = [value.slice(0, 2), value.slice(2)];
  const format = euFormats[prefix];
  if (format === undefined || !(rest in magic || new RegExp(`^(?:${format})$`).test(rest))) return undefined;
  return prefixes[prefix] ?? prefix;
}

/** The result of the registry: Stripe asks it for ids of the EU and of the United Kingdom. */
function verify(type: KnownType, value: string): Status {
  if (type !== 'eu_vat' && type !== 'gb_vat') return 'unavailable';
  return magic[value.slice(2)] ?? 'verified';
}

const types = ['eu_vat', 'gb_vat', 'ch_vat', 'no_vat'] as const;

const listOwn = (state: State, customer: string): TaxId[] =>
  state.all('tax_id').filter((each) => each.customer === customer);

/** As an invoice names them. */
export const taxIdsOnInvoice = (state: State, { id }: Pick<Customer, 'id'>) =>
  listOwn(state, id).map(({ type, value }) => ({ type, value }));

/**
 * Tests for a company of another country of the EU than the operator's: Stripe Tax leaves the tax to it. It does not
 * wait for the registry (docs.stripe.com/billing/customer/tax-ids, "Impact in Tax Calculation").
 */
export const hasForeignVatId = (state: State, { id, address }: Customer, ownCountry: string): boolean =>
  address?.country !== ownCountry &&
  listOwn(state, id).some(({ type, country }) => type === 'eu_vat' && country === address?.country);

/** The answer says `pending`; the result of the registry follows, with its own event. */
export function createTaxId(state: State, customer: string, params: Params): TaxId {
  state.get('customer', customer);
  const reader = new Reader(params, ['type', 'value']);
  const type = reader.choice('type', types) ?? types[0];
  const value = reader.need('value');
  const country = findCountry(type, value);
  if (country === undefined) {
    throw invalid(`Invalid value for ${type}.`, { param: 'value', code: 'tax_id_invalid' });
  }
  const status = verify(type, value);
  const taxId = state.put({
    id: newId('txi'),
    object: 'tax_id',
    country,
    created: state.now(),
    customer,
    customer_account: null,
    livemode: false,
    owner: { customer, customer_account: null, type: 'customer' },
    type,
    value,
    verification: {
      status: status === 'unavailable' ? status : 'pending',
      verified_address: null,
      verified_name: null,
    },
  });
  state.announce('customer.tax_id.created', taxId);
  const answer = structuredClone(taxId);
  if (taxId.verification && taxId.verification.status !== status) {
    taxId.verification.status = status;
    state.announce('customer.tax_id.updated', taxId, 'updated');
  }
  return answer;
}

function getTaxId(state: State, customer: string, id: string): TaxId {
  const taxId = state.get('tax_id', id);
  if (taxId.customer !== customer) throw missing('tax id', id);
  return taxId;
}

export function retrieveTaxId(state: State, { customer, id }: { customer: string; id: string }, params: Params): TaxId {
  new Reader(params, []);
  return getTaxId(state, customer, id);
}

export function listTaxIds(state: State, customer: string, params: Params) {
  new Reader(params, paging);
  state.get('customer', customer);
  return list(listOwn(state, customer), `/v1/customers/${customer}/tax_ids`);
}

export function deleteTaxId(state: State, { customer, id }: { customer: string; id: string }, params: Params) {
  new Reader(params, []);
  state.announce('customer.tax_id.deleted', getTaxId(state, customer, id));
  return state.markDeleted('tax_id', id);
}
