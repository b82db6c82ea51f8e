import * as catalogue from './catalogue.ts';
import * as customers from './customers.ts';
import { list, type Params, paging, Reader } from './params.ts';
import * as methods from './payment-methods.ts';
import type { Kind, State } from './state.ts';

type Method = 'GET' | 'POST' | 'DELETE';
export type Answer = (state: State, params: Params, as: 'secret' | 'publishable') => unknown;
type Handler = (state: State, params: Params, ids: [string, string], as: 'secret' | 'publishable') => unknown;

const retrieve =
  (kind: Kind): Handler =>
  (state, params, [id]) => {
    new Reader(params, []);
    return state.get(kind, id);
  };

/** Every call that the engine answers. `:` stands for an id; `*` marks what a publishable key may call. */
const handlers: Record<string, Handler> = {
  'POST customers': (state, params) => customers.createCustomer(state, params),
  'GET customers': (state, params) => customers.listCustomers(state, params),
  'GET customers/:': (state, params, [id]) => customers.retrieveCustomer(state, id, params),
  'POST customers/:': (state, params, [id]) => customers.updateCustomer(state, id, params),
  'DELETE customers/:': (state, params, [id]) => customers.deleteCustomer(state, id, params, () => {}),
  'GET customers/:/payment_methods': (state, params, [id]) => {
    state.get('customer', id);
    return methods.listPaymentMethods(state, { ...params, customer: id }, `/v1/customers/${id}/payment_methods`);
  },

  'POST products': (state, params) => catalogue.createProduct(state, params),
  'GET products': (state, params) => catalogue.listProducts(state, params),
  'GET products/:': retrieve('product'),
  'POST products/:': (state, params, [id]) => catalogue.updateProduct(state, id, params),
  'DELETE products/:': (state, params, [id]) => catalogue.deleteProduct(state, id, params),
  'POST prices': (state, params) => catalogue.createPrice(state, params),
  'GET prices': (state, params) => catalogue.listPrices(state, params),
  'GET prices/:': retrieve('price'),
  'POST prices/:': (state, params, [id]) => catalogue.updatePrice(state, id, params),

  '*POST payment_methods': (state, params) => methods.makePaymentMethod(state, params),
  'GET payment_methods': (state, params) => methods.listPaymentMethods(state, params, '/v1/payment_methods'),
  'GET payment_methods/:': retrieve('payment_method'),
  'POST payment_methods/:': (state, params, [id]) => methods.updatePaymentMethod(state, id, params),
  'POST payment_methods/:/attach': (state, params, [id]) =>
    methods.attach(state, id, new Reader(params, ['customer']).need('customer')),
  'POST payment_methods/:/detach': (state, params, [id]) => {
    new Reader(params, []);
    return methods.detach(state, id);
  },
  '*POST tokens': (state, params) => methods.createToken(state, params),
  'GET tokens/:': retrieve('token'),

  'GET events': (state, params) => {
    const reader = new Reader(params, [...paging, 'type', 'types']);
    const types = reader.texts('types') ?? (reader.has('type') ? [reader.need('type')] : undefined);
    return list(
      state.all('event').filter((event) => types?.includes(event.type) ?? true),
      '/v1/events',
    );
  },
  'GET events/:': retrieve('event'),
};

const table = Object.entries(handlers).map(([pattern, handler]) => {
  const publishable = pattern.startsWith('*');
  const [method, path = ''] = pattern.slice(publishable ? 1 : 0).split(' ');
  return { method, publishable, handler, path: new RegExp(`^/v1/${path.replaceAll(':', '([^/]+)')}$`) };
});

export function routeOf(method: Method, path: string): { publishable: boolean; answer: Answer } | undefined {
  for (const route of table) {
    const match = route.method === method ? route.path.exec(path) : null;
    if (!match) continue;
    const ids: [string, string] = [decodeURIComponent(match[1] ?? ''), decodeURIComponent(match[2] ?? '')];
    return {
      publishable: route.publishable,
      answer: (state, params, as) => route.handler(state, params, ids, as),
    };
  }
  return undefined;
}
