const text = { type: 'string' };
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
