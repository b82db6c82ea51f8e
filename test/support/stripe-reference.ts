import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { moneyBackPaths } from './stripe-money-back.ts';
import { additionalPaths } from './stripe-reference-additions.ts';
import { expandFault, lengthFaults } from './stripe-request-rules.ts';
import { stripeSchedules } from './stripe-schedules.ts';

/**
 * Checks requests to and answers from Stripe (or its stand-in) against a description of Stripe's API (OpenAPI 3.1, JSON
 * Schema 2020-12) that is outside of this repository.
 */

type Json = Record<string, unknown>;

interface Operation {
  requestBody?: { content: Record<string, { schema: Json }> };
  /** Parameters of a GET or DELETE, as one schema: the form of the description. */
  'x-query-schema'?: Json;
  responses: Record<string, { content: Record<string, { schema: Json }> }>;
}

interface Description {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json> };
}

export interface Exchange {
  method: string;
  path: string;
  /** As they came: forms and queries only have text. */
  params: Json;
  status: number;
  answer: unknown;
}

export interface StripeReference {
  /** The faults of a request, a line each; [] if there are none. */
  requestFaults(exchange: Pick<Exchange, 'method' | 'path' | 'params'> & { status?: number }): string[];
  /** The faults of an answer, a line each. Unknown properties are faults too. */
  answerFaults(exchange: Pick<Exchange, 'method' | 'path' | 'status' | 'answer'>): string[];
  /** The faults of an object of Stripe's, by its schema's name: `Invoice`. Properties of other versions are none. */
  objectFaults(schema: string, object: unknown): string[];
  /** Stripe's own published fixtures: one object for each resource. */
  fixtures(): Record<string, Json>;
}

/** Whether this run omits the description (FOYER_TEST_WITHOUT). */
export const withoutStripeReference = (env = process.env): boolean =>
  (env.FOYER_TEST_WITHOUT ?? '').split(',').some((name) => name.trim() === 'stripe-reference');

/** @throws Error with instructions if the folder is missing */
export function stripeReferenceFolder(env = process.env): string {
  const folder = env.STRIPE_REFERENCE_DIR || join(import.meta.dirname, '..', '..', '..', 'shared', 'stripe');
  if (existsSync(join(folder, 'spec3.trimmed.json')) && existsSync(join(folder, 'fixtures3.json'))) return folder;
  throw new Error(
    `Stripe’s description and fixtures are not in ${folder}: name their folder in STRIPE_REFERENCE_DIR, or leave this one ` +
      'check out on purpose: FOYER_TEST_WITHOUT=stripe-reference',
  );
}

const read = (name: string) => JSON.parse(readFileSync(join(stripeReferenceFolder(), name), 'utf8'));
/** The description of a resource without its content, for example a charge. */
const leftOut = 'pruned resource';
const formType = 'application/x-www-form-urlencoded';

/**
 * One kind of validators. References are compiled on demand: the description is so connected that one object would
 * otherwise compile all of it.
 */
function createValidators(schemas: Record<string, Json>, options: { coerce: boolean; closed: boolean }) {
  const ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    allErrors: false,
    coerceTypes: options.coerce,
    // Most validators run only a few times: optimizing them takes longer than it saves.
    code: { optimize: false },
  });
  const named = new Map<string, ValidateFunction>();
  const inline = new WeakMap<object, ValidateFunction>();
  const follow = (name: string) => {
    let validate = named.get(name);
    if (!validate) {
      const schema = schemas[name];
      if (!schema) throw new Error(`the description has no schema ${name}`);
      validate = ajv.compile(prepared(schema) as Json);
      named.set(name, validate);
    }
    return validate;
  };
  const keyword = (name: string, data: unknown, _parent?: object, at?: { instancePath: string }): boolean => {
    const validate = follow(name);
    const valid = validate(data);
    const from = at?.instancePath ?? '';
    keyword.errors = validate.errors?.map((error) => ({ ...error, instancePath: from + error.instancePath })) ?? [];
    return valid;
  };
  keyword.errors = [] as Partial<ErrorObject>[];
  ajv.addKeyword({ keyword: 'follow', schemaType: 'string', errors: 'full', validate: keyword });

  function prepared(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map(prepared);
    if (schema === null || typeof schema !== 'object') return schema;
    const { $ref, ...rest } = schema as Json;
    if (typeof $ref === 'string') return { follow: $ref.split('/').at(-1) };
    const made = Object.fromEntries(
      Object.entries(rest).map(([key, value]) => [
        key,
        key === 'properties'
          ? Object.fromEntries(Object.entries(value as Json).map(([name, inner]) => [name, prepared(inner)]))
          : key === 'enum' || key === 'const' || key === 'required'
            ? value
            : prepared(value),
      ]),
    );
    // Omitted parts of the description are not checked.
    const described = (schema as Json).description !== leftOut;
    return options.closed && described && 'properties' in made && !('additionalProperties' in made)
      ? { ...made, additionalProperties: false }
      : made;
  }

  return (schema: Json, data: unknown): string[] => {
    let validate = inline.get(schema);
    if (!validate) {
      validate = ajv.compile(prepared(schema) as Json);
      inline.set(schema, validate);
    }
    return validate(data) ? [] : (validate.errors ?? []).map(sentence);
  };
}

const sentence = ({ instancePath, message, params }: ErrorObject) =>
  `${instancePath || '/'} ${message} ${JSON.stringify(params)}`;

/** A list as forms and queries carry it: an array, or numbered entries. */
const listTexts = (list: unknown): string[] =>
  typeof list === 'object' && list !== null ? Object.values(list).map(String) : [];

let opened: StripeReference | undefined;

/** The description, read once. @throws Error with instructions if it is missing */
export function stripeReference(): StripeReference {
  opened ??= open();
  return opened;
}

function open(): StripeReference {
  const description: Description = read('spec3.trimmed.json');
  const paths: Description['paths'] = {
    ...description.paths,
    ...additionalPaths,
    ...stripeSchedules.paths,
    ...moneyBackPaths(read('fixtures3.json').resources),
  };
  const schemas = { ...description.components.schemas, ...stripeSchedules.schemas };
  const requests = createValidators(schemas, { coerce: true, closed: false });
  const answers = createValidators(schemas, { coerce: false, closed: true });
  const objects = createValidators(schemas, { coerce: false, closed: false });
  // /v1/invoices/create_preview before /v1/invoices/{id}.
  const routes = Object.entries(paths)
    .map(([path, operations]) => ({
      named: path.split('{').length,
      pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      operations,
    }))
    .sort((a, b) => a.named - b.named);
  const operationOf = (method: string, path: string) =>
    routes.find(({ pattern, operations }) => pattern.test(path) && operations[method.toLowerCase()])?.operations[
      method.toLowerCase()
    ];
  const about = (method: string, path: string, what: string) => (fault: string) =>
    `${method} ${path} ${what}: ${fault}`;
  return {
    requestFaults({ method, path, params, status }) {
      const operation = operationOf(method, path);
      if (!operation) return [`${method} ${path}: the description does not know this call`];
      const schema = operation['x-query-schema'] ?? operation.requestBody?.content[formType]?.schema;
      if (!schema) return Object.keys(params).map(about(method, path, 'takes no parameters'));
      const answer = operation.responses['200']?.content['application/json']?.schema;
      // The stand-in has refused such a property itself.
      const expanded = status === 400 ? [] : listTexts(params.expand);
      return [
        // Coercion changes its input.
        ...requests(schema, structuredClone(params)),
        ...lengthFaults(params),
        ...expanded.flatMap((property) => expandFault(schemas, answer, property) ?? []),
      ].map(about(method, path, 'request'));
    },
    answerFaults({ method, path, status, answer }) {
      const operation = operationOf(method, path);
      // An unknown address is answered with an error like any other.
      const response = operation?.responses[status] ?? operation?.responses.default;
      const schema = response?.content['application/json']?.schema ?? { $ref: '#/components/schemas/error' };
      return answers(schema, answer).map(about(method, path, `answer ${status}`));
    },
    objectFaults: (schema, object) => objects({ $ref: `#/components/schemas/${schema}` }, object),
    fixtures: () => read('fixtures3.json').resources,
  };
}
