type Json = Record<string, unknown>;

const text = { type: 'string' };
const textOrNull = { type: ['string', 'null'] };
const flag = { type: 'boolean' };
const expand = { type: 'array', items: text };

/** Every property is there, and no other. */
const exactly = (properties: Json) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const parameters = (properties: Json, required: string[] = []) => ({
  type: 'object',
  properties: { ...properties, expand },
  required,
  additionalProperties: false,
});
const toForm = (schema: Json) => ({ content: { 'application/x-www-form-urlencoded': { schema } } });
const answers = (schema: Json) => ({
  200: { content: { 'application/json': { schema } } },
  default: { content: { 'application/json': { schema: { $ref: '#/components/schemas/error' } } } },
});

const taxRate = exactly({
  id: text,
  object: { const: 'tax_rate' },
  active: flag,
  country: textOrNull,
  created: { type: 'integer' },
  description: textOrNull,
  display_name: text,
  effective_percentage: { type: ['number', 'null'] },
  flat_amount: { type: ['object', 'null'] },
  inclusive: flag,
  jurisdiction: textOrNull,
  jurisdiction_level: { enum: ['city', 'country', 'county', 'district', 'multiple', 'state', null] },
  livemode: flag,
  metadata: { type: ['object', 'null'] },
  percentage: { type: 'number' },
  rate_type: { enum: ['flat_amount', 'percentage', null] },
  state: textOrNull,
  tax_type: textOrNull,
});

const taxSettings = exactly({
  object: { const: 'tax.settings' },
  defaults: exactly({
    provider: { enum: ['anrok', 'avalara', 'sphere', 'stripe'] },
    tax_behavior: { enum: ['exclusive', 'inclusive', 'inferred_by_currency', null] },
    tax_code: textOrNull,
  }),
  head_office: {
    anyOf: [
      { type: 'null' },
      exactly({
        address: exactly({
          city: textOrNull,
          country: textOrNull,
          line1: textOrNull,
          line2: textOrNull,
          postal_code: textOrNull,
          state: textOrNull,
        }),
      }),
    ],
  },
  livemode: flag,
  status: { enum: ['active', 'pending'] },
  status_details: {
    anyOf: [
      exactly({ active: exactly({}) }),
      exactly({ pending: exactly({ missing_fields: { type: ['array', 'null'], items: text } }) }),
    ],
  },
});

const taxPaths = {
  '/v1/tax_rates': {
    post: {
      requestBody: toForm(
        parameters(
          { display_name: text, percentage: { type: 'number' }, inclusive: flag, country: text, description: text },
          ['display_name', 'inclusive', 'percentage'],
        ),
      ),
      responses: answers(taxRate),
    },
  },
  '/v1/tax_rates/{id}': { get: { 'x-query-schema': parameters({}), responses: answers(taxRate) } },
  '/v1/tax/settings': { get: { 'x-query-schema': parameters({}), responses: answers(taxSettings) } },
};

const form = (properties: object, required: string[]) => ({
  content: {
    'application/x-www-form-urlencoded': {
      schema: { type: 'object', properties, required, additionalProperties: false },
    },
  },
});
const answer = (name: string) => ({
  200: { content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } } },
});
const taxIdList = {
  type: 'object',
  required: ['object', 'data', 'has_more', 'url'],
  properties: {
    object: { const: 'list' },
    data: { type: 'array', items: { $ref: '#/components/schemas/TaxId' } },
    has_more: { type: 'boolean' },
    url: text,
  },
};

/** Calls that Stripe's types have, and the description outside of this repository lacks. */
export const additionalPaths = {
  '/v1/customers/{customer}/tax_ids': {
    post: {
      requestBody: form({ type: { enum: ['eu_vat', 'gb_vat', 'ch_vat', 'no_vat'] }, value: text }, ['type', 'value']),
      responses: answer('TaxId'),
    },
    get: {
      'x-query-schema': { type: 'object', properties: { limit: { type: 'integer' } }, additionalProperties: false },
      responses: { 200: { content: { 'application/json': { schema: taxIdList } } } },
    },
  },
  '/v1/customers/{customer}/tax_ids/{id}': { delete: { responses: answer('DeletedTaxId') } },
  ...taxPaths,
  '/v1/subscriptions/{id}/migrate': {
    post: {
      requestBody: {
        content: {
          'application/x-www-form-urlencoded': {
            schema: {
              type: 'object',
              properties: {
                billing_mode: { $ref: '#/components/schemas/SubscriptionCreateParams.BillingMode' },
                expand: { type: 'array', items: { type: 'string' } },
              },
              required: ['billing_mode'],
              additionalProperties: false,
            },
          },
        },
      },
      responses: {
        200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Subscription' } } } },
      },
    },
  },
};
