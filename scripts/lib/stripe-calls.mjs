/** Compares the calls of the product to Stripe, by its source, with the requests that tests have made. */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'rolldown/utils';
import Stripe from 'stripe';
import { root } from './processes.mjs';

/** @typedef {{ type: string } & Record<string, unknown>} Node of a syntax tree (ESTree) */
/** @typedef {{ name: string, request: string }} StripeCall `customers.retrieve`, `GET /v1/customers/ID` */

/** @param {unknown} value @returns {value is Node} */
const isNode = (value) => typeof value === 'object' && value !== null && 'type' in value;

/** @param {Node} node @returns {Node[]} */
const nodesOf = (node) => [node, ...Object.values(node).flat().filter(isNode).flatMap(nodesOf)];

/** @param {unknown} node @returns {string | undefined} */
const nameOf = (node) => (isNode(node) && node.type === 'Identifier' ? String(node.name) : undefined);

/** The names of the library's client in the source. */
const clients = new Set(['stripe', 'client', 'library']);

/**
 * @param {Node} node
 * @returns {[resource: string, method: string] | undefined} of a call like `stripe.customers.retrieve(…)`
 */
function toMethod({ type, callee }) {
  if (type !== 'CallExpression' || !isNode(callee) || callee.type !== 'MemberExpression') return undefined;
  const { object, property } = callee;
  if (!isNode(object) || object.type !== 'MemberExpression') return undefined;
  const [client, resource, method] = [nameOf(object.object), nameOf(object.property), nameOf(property)];
  return client !== undefined && clients.has(client) && resource && method ? [resource, method] : undefined;
}

/** @typedef {Record<string, (...args: unknown[]) => unknown>} Resource of the library */

/**
 * @param {string} resource
 * @param {string} method
 * @returns {string | undefined} the request that the library makes; nothing if it has no such method, or makes none
 */
function toRequest(resource, method) {
  const library = /** @type {Record<string, Resource | undefined>} */ (
    /** @type {unknown} */ (new Stripe('sk_test_of_nobody', { telemetry: false }))
  );
  const call = library[resource]?.[method];
  /** @type {string | undefined} */
  let request;
  const recorder = {
    /** @param {string} verb @param {string} path */
    _makeRequest(verb, path) {
      request = `${verb} ${path}`;
    },
  };
  // An object of a customer has two ids; parameters in their place are not read here.
  if (typeof call === 'function') call.call(recorder, 'ID', 'ID');
  return request;
}

/** @returns {StripeCall[]} every kind of call in `server/`, by its name */
export function listStripeCalls() {
  /** @type {Map<string, string>} */
  const calls = new Map();
  for (const file of globSync('server/**/*.ts', { cwd: root })) {
    const text = readFileSync(join(root, file), 'utf8');
    if (!/\b(?:stripe|client|library)\.\w+\.\w+\(/.test(text)) continue;
    for (const node of nodesOf({ ...parseSync(file, text).program })) {
      const [resource, method] = toMethod(node) ?? [];
      const request = resource && method ? toRequest(resource, method) : undefined;
      if (request !== undefined) calls.set(`${resource}.${method}`, request);
    }
  }
  return [...calls].map(([name, request]) => ({ name, request })).toSorted((a, b) => a.name.localeCompare(b.name));
}

/**
 * @param {StripeCall[]} calls
 * @param {Iterable<string>} requests that were made: `GET /v1/customers/cus_1`
 * @returns {StripeCall[]} the calls that none of them is
 */
export function findUnreached(calls, requests) {
  const made = new Set(requests);
  // `GET /v1/customers/search` is no customer.
  const fixed = new Set(calls.flatMap(({ request }) => (request.includes('/ID') ? [] : [request])));
  const ofIds = [...made].filter((request) => !fixed.has(request));
  return calls.filter(({ request }) => {
    if (fixed.has(request)) return !made.has(request);
    const pattern = new RegExp(`^${request.replaceAll('/ID', '/[^/]+')}$`);
    return !ofIds.some((one) => pattern.test(one));
  });
}

/** @param {string} folder in which each process of the tests has written its requests, a line each */
export const readRequests = (folder) =>
  readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean));
