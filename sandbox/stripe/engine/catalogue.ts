import { newId } from './new-id.ts';
import type { Plan, Price, Product } from './objects.ts';
import { list, type Params, paging, Reader } from './params.ts';
import type { State } from './state.ts';
import { invalid, missing, unknownToStandIn } from './types.ts';

const productFields = ['name', 'description', 'active', 'metadata', 'unit_label', 'url', 'statement_descriptor'];

function writeProduct(product: Product, reader: Reader) {
  if (reader.has('name')) product.name = reader.need('name');
  for (const name of ['description', 'unit_label', 'url', 'statement_descriptor'] as const) {
    if (reader.has(name)) product[name] = reader.text(name) ?? null;
  }
  product.active = reader.bool('active') ?? product.active;
  product.metadata = reader.metadata(product.metadata);
}

export function createProduct(state: State, params: Params): Product {
  const reader = new Reader(params, [...productFields, 'id']);
  const id = reader.text('id') ?? newId('prod', 14);
  if (state.findVisible(id)) throw invalid(`Product already exists.`, { param: 'id', code: 'resource_already_exists' });
  const product: Product = state.put({
    id,
    object: 'product',
    active: true,
    created: state.now(),
    default_price: null,
    description: null,
    images: [],
    livemode: false,
    marketing_features: [],
    metadata: {},
    name: reader.need('name'),
    package_dimensions: null,
    shippable: null,
    statement_descriptor: null,
    tax_code: null,
    tax_details: null,
    type: 'service',
    unit_label: null,
    updated: state.now(),
    url: null,
  });
  writeProduct(product, reader);
  state.announce('product.created', product);
  return product;
}

export function updateProduct(state: State, id: string, params: Params): Product {
  const product = state.edit('product', id);
  const reader = new Reader(params, [...productFields, 'default_price']);
  writeProduct(product, reader);
  if (reader.has('default_price')) {
    product.default_price = state.get('price', reader.need('default_price'), 'default_price').id;
  }
  product.updated = state.now();
  state.announce('product.updated', product, 'updated');
  return product;
}

export function deleteProduct(state: State, id: string, params: Params) {
  new Reader(params, []);
  const product = state.get('product', id);
  if (state.all('price').some((price) => price.product === id)) {
    throw invalid('This product cannot be deleted because it has one or more user-created prices.');
  }
  state.announce('product.deleted', product);
  return state.markDeleted('product', id);
}

export function listProducts(state: State, params: Params) {
  const reader = new Reader(params, [...paging, 'active', 'ids']);
  const [active, ids] = [reader.bool('active'), reader.texts('ids')];
  return list(
    state
      .all('product')
      .filter((each) => (active === undefined || each.active === active) && (ids?.includes(each.id) ?? true)),
    '/v1/products',
  );
}

const priceFields = ['active', 'nickname', 'metadata', 'lookup_key', 'transfer_lookup_key', 'tax_behavior'];

function writePrice(state: State, price: Price, reader: Reader) {
  price.active = reader.bool('active') ?? price.active;
  if (reader.has('nickname')) price.nickname = reader.text('nickname') ?? null;
  const behaviour = reader.choice('tax_behavior', ['unspecified', 'exclusive', 'inclusive']) ?? price.tax_behavior;
  if (price.tax_behavior !== 'unspecified' && behaviour !== price.tax_behavior) {
    throw invalid('The tax behavior of a price cannot be changed once it is set.', { param: 'tax_behavior' });
  }
  price.tax_behavior = behaviour;
  price.metadata = reader.metadata(price.metadata);
  if (!reader.has('lookup_key')) return;
  const key = reader.text('lookup_key') ?? null;
  const holder = state.all('price').find((each) => each.lookup_key === key && each.id !== price.id);
  if (key !== null && holder) {
    if (!reader.bool('transfer_lookup_key')) {
      throw invalid(
        `A price (\`${holder.id}\`) already uses that lookup key. To transfer it, set transfer_lookup_key to true.`,
        { param: 'lookup_key' },
      );
    }
    const old = state.edit('price', holder.id);
    old.lookup_key = null;
    state.announce('price.updated', old, 'updated');
  }
  price.lookup_key = key;
}

/** The period of a new price; null for a price that is paid once. */
function readRecurring(reader: Reader): Price['recurring'] {
  const recurring = reader.object('recurring', ['interval', 'interval_count', 'usage_type']);
  if (!recurring) return null;
  if ((recurring.choice('usage_type', ['licensed', 'metered']) ?? 'licensed') === 'metered') {
    throw unknownToStandIn('metered prices', 'recurring[usage_type]');
  }
  const count = recurring.int('interval_count') ?? 1;
  if (count < 1) throw invalid('interval_count must be at least 1', { param: 'recurring[interval_count]' });
  const interval = recurring.choice('interval', ['day', 'week', 'month', 'year']);
  if (interval === undefined) throw invalid('Missing required param: recurring[interval].');
  return { interval, interval_count: count, meter: null, trial_period_days: null, usage_type: 'licensed' };
}

export function createPrice(state: State, params: Params): Price {
  const reader = new Reader(params, [
    ...priceFields,
    'currency',
    'product',
    'product_data',
    'unit_amount',
    'unit_amount_decimal',
    'recurring',
    'billing_scheme',
  ]);
  if ((reader.choice('billing_scheme', ['per_unit', 'tiered']) ?? 'per_unit') === 'tiered') {
    throw unknownToStandIn('tiered prices', 'billing_scheme');
  }
  const data = reader.object('product_data', ['name', 'metadata', 'active', 'unit_label']);
  const product = data
    ? createProduct(state, { name: data.need('name'), metadata: data.metadata() }).id
    : state.get('product', reader.need('product'), 'product').id;
  const cents = reader.int('unit_amount') ?? reader.int('unit_amount_decimal');
  if (cents === undefined || cents < 0) {
    throw invalid('You must specify a whole, not negative `unit_amount`.', { param: 'unit_amount' });
  }
  const recurring = readRecurring(reader);
  const price: Price = state.put({
    id: newId('price'),
    object: 'price',
    active: true,
    billing_scheme: 'per_unit',
    created: state.now(),
    currency: reader.need('currency').toLowerCase(),
    custom_unit_amount: null,
    livemode: false,
    lookup_key: null,
    metadata: {},
    nickname: null,
    product,
    recurring,
    tax_behavior: 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: recurring ? 'recurring' : 'one_time',
    unit_amount: cents,
    unit_amount_decimal: String(cents),
  });
  writePrice(state, price, reader);
  state.announce('price.created', price);
  return price;
}

export function updatePrice(state: State, id: string, params: Params): Price {
  const price = state.edit('price', id);
  writePrice(state, price, new Reader(params, priceFields));
  state.announce('price.updated', price, 'updated');
  return price;
}

export function listPrices(state: State, params: Params) {
  const reader = new Reader(params, [...paging, 'active', 'lookup_keys', 'product', 'type', 'currency']);
  // The description of the API calls this "your active prices"; archived ones are asked for.
  const active = reader.bool('active') ?? true;
  const [keys, product] = [reader.texts('lookup_keys'), reader.text('product')];
  const [type, currency] = [reader.text('type'), reader.text('currency')];
  return list(
    state
      .all('price')
      .filter(
        (each) =>
          each.active === active &&
          (keys === undefined || (each.lookup_key !== null && keys.includes(each.lookup_key))) &&
          (product === undefined || each.product === product) &&
          (type === undefined || each.type === type) &&
          (currency === undefined || each.currency === currency),
      ),
    '/v1/prices',
  );
}

/** The older form of a recurring price, which subscription items still have. */
export function toPlan(price: Price): Plan {
  if (!price.recurring) throw missing('plan', price.id);
  return {
    id: price.id,
    object: 'plan',
    active: price.active,
    amount: price.unit_amount,
    amount_decimal: price.unit_amount_decimal,
    billing_scheme: 'per_unit',
    created: price.created,
    currency: price.currency,
    interval: price.recurring.interval,
    interval_count: price.recurring.interval_count,
    livemode: false,
    metadata: price.metadata,
    meter: null,
    nickname: price.nickname,
    product: price.product,
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: 'licensed',
  };
}
