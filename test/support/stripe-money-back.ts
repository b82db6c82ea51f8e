type Json = Record<string, unknown>;

// The calls of Stripe's API that its description outside of this repository leaves out, by the types of Stripe's library.

const text = { type: 'string' };
const amount = { type: 'integer' };
const range = { type: 'object', properties: { gt: amount, gte: amount, lt: amount, lte: amount } };
const created = { anyOf: [range, amount] };
const metadata = { type: 'object' };
const expand = { type: 'array', items: text };
const pages = { limit: amount, starting_after: text, ending_before: text, expand };

const closed = (properties: Json, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const answers = (schema: Json) => ({
  200: { description: 'ok', content: { 'application/json': { schema } } },
  default: {
    description: 'error',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/error' } } },
  },
});
const listOf = (schema: Json) => ({
  type: 'object',
  required: ['object', 'data', 'has_more', 'url'],
  properties: {
    object: { const: 'list' },
    data: { type: 'array', items: schema },
    has_more: { type: 'boolean' },
    url: text,
  },
});

/** Properties that the published fixture of an object lacks: optional ones, and those of the newest version. */
const unpublished: Record<string, string[]> = {
  refund: ['failure_reason', 'pending_reason', 'description'],
  dispute: ['intended_submission_method', 'is_charge_refundable', 'network_reason_code', 'payment_method_details'],
  credit_note: [],
};

/** Every property of the fixture, and no other; its values are not checked. */
function schemaOf(fixture: Json, name: string): Json {
  const optional = unpublished[name] ?? [];
  const names = [...Object.keys(fixture), ...optional];
  return {
    type: 'object',
    required: Object.keys(fixture).filter((each) => !optional.includes(each)),
    properties: { ...Object.fromEntries(names.map((each) => [each, {}])), object: { const: name } },
  };
}

interface Calls {
  list: Json;
  create?: { properties: Json; required: string[] };
}

const calls: Record<string, Calls> = {
  refund: {
    list: { payment_intent: text, charge: text, created },
    create: {
      properties: { payment_intent: text, charge: text, amount, reason: text, metadata, expand },
      required: [],
    },
  },
  dispute: { list: { payment_intent: text, charge: text, created } },
  credit_note: {
    list: { customer: text, invoice: text, created },
    create: {
      properties: {
        invoice: text,
        amount,
        refund_amount: amount,
        credit_amount: amount,
        out_of_band_amount: amount,
        reason: text,
        memo: text,
        metadata,
        expand,
        email_type: { enum: ['credit_note', 'none'] },
      },
      required: ['invoice'],
    },
  },
};

/** The paths of refunds, disputes and credit notes, in the description's form. */
export function moneyBackPaths(fixtures: Record<string, Json>) {
  const paths: Record<string, Record<string, Json>> = {};
  for (const [name, { list, create }] of Object.entries(calls)) {
    const schema = schemaOf(fixtures[name] ?? {}, name);
    const form = create && closed(create.properties, create.required);
    paths[`/v1/${name}s`] = {
      get: { 'x-query-schema': closed({ ...pages, ...list }), responses: answers(listOf(schema)) },
      ...(form && {
        post: {
          requestBody: { content: { 'application/x-www-form-urlencoded': { schema: form } } },
          responses: answers(schema),
        },
      }),
    };
    paths[`/v1/${name}s/{id}`] = { get: { 'x-query-schema': closed({ expand }), responses: answers(schema) } };
  }
  return paths;
}
