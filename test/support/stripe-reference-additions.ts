/** Calls that Stripe's types have, and the description outside of this repository lacks. */
export const additionalPaths = {
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
