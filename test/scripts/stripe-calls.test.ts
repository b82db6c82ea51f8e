import { findUnreached, listStripeCalls } from '../../scripts/lib/stripe-calls.mjs';

const calls = listStripeCalls();
const requestOf = (name: string) => calls.find((call) => call.name === name)?.request;

it('The calls of the product to Stripe are found in its source, with the requests of the library', () => {
  expect(requestOf('customers.retrieve')).toBe('GET /v1/customers/ID');
  expect(requestOf('customers.search')).toBe('GET /v1/customers/search');
  expect(requestOf('subscriptions.update')).toBe('POST /v1/subscriptions/ID');
  expect(requestOf('invoices.createPreview')).toBe('POST /v1/invoices/create_preview');
  expect(calls.length).toBeGreaterThan(38);
});

it('A call without a request in any test is named', () => {
  const made = calls.map(({ request }) => request.replace('/ID', '/id_1'));
  expect(findUnreached(calls, made)).toEqual([]);
  const without = made.filter((request) => request !== 'GET /v1/customers/search');
  expect(findUnreached(calls, without).map(({ name }) => name)).toEqual(['customers.search']);
});

it('A search of customers does not count as reading a customer', () => {
  const some = calls.filter(({ name }) => name === 'customers.retrieve' || name === 'customers.search');
  expect(findUnreached(some, ['GET /v1/customers/search']).map(({ name }) => name)).toEqual(['customers.retrieve']);
});
