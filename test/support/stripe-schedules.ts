/**
 * Subscription schedules as the types of the library have them (stripe 23.1.0), in the form of the description of Stripe's
 * API that is outside of this repository and lacks them.
 */

type Json = Record<string, unknown>;

const text = { type: 'string' };
const flag = { type: 'boolean' };
const whole = { type: 'integer' };
const nothing = { type: 'null' };
const none = (schema: Json) => ({ anyOf: [schema, nothing] });
const oneOf = (...values: string[]) => ({ type: 'string', enum: values });
const listOf = (items: Json) => ({ type: 'array', items });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const idOf = (name: string) => ({ anyOf: [text, ref(name)] });
const cleared = { type: 'string', enum: [''] };
const metadata = { type: 'object', additionalProperties: text };
const prorations = oneOf('always_invoice', 'create_prorations', 'none');

/** An object all of whose properties are there, except the optional ones. */
const object = (properties: Json, optional: Json = {}) => ({
  type: 'object',
  required: Object.keys(properties),
  properties: { ...properties, ...optional },
});
const parameters = (properties: Json) => ({ type: 'object', properties, additionalProperties: false });

const discount = object({
  coupon: none(idOf('Coupon')),
  discount: none(idOf('Discount')),
  promotion_code: none(idOf('PromotionCode')),
});
const thresholds = none(object({ amount_gte: none(whole), reset_billing_cycle_anchor: none(flag) }));
const transfer = none(object({ amount_percent: none({ type: 'number' }), destination: text }));
const issuer = object({ type: oneOf('account', 'self') }, { account: text });
const customFields = none(listOf(object({ name: text, value: text })));
const invoiceSettings = (by: Json) =>
  object({
    account_tax_ids: none(listOf(text)),
    custom_fields: customFields,
    days_until_due: none(whole),
    description: none(text),
    footer: none(text),
    issuer: by,
  });
const tax = object({ disabled_reason: none(text), enabled: flag, liability: none(issuer) });
const collection = none(oneOf('charge_automatically', 'send_invoice'));
const anchor = oneOf('automatic', 'phase_start');

const phase = object(
  {
    add_invoice_items: listOf({ type: 'object' }),
    application_fee_percent: none({ type: 'number' }),
    billing_cycle_anchor: none(anchor),
    billing_thresholds: thresholds,
    collection_method: collection,
    currency: text,
    default_payment_method: none(idOf('PaymentMethod')),
    description: none(text),
    discounts: listOf(discount),
    end_date: whole,
    invoice_settings: none(invoiceSettings(none(issuer))),
    items: listOf(
      object(
        {
          billing_thresholds: none(object({ usage_gte: none(whole) })),
          discounts: listOf(discount),
          metadata: none(metadata),
          plan: text,
          price: idOf('Price'),
        },
        { quantity: whole, tax_rates: none(listOf({ type: 'object' })) },
      ),
    ),
    metadata: none(metadata),
    on_behalf_of: none(text),
    proration_behavior: prorations,
    start_date: whole,
    transfer_data: transfer,
    trial_end: none(whole),
  },
  { automatic_tax: tax, default_tax_rates: none(listOf({ type: 'object' })), trial: flag },
);

const statusOf = (...values: string[]) =>
  object({ type: oneOf(...values) }, { error: object({ message: text }, { code: text }) });
const usage = object({ type: oneOf('none', 'pause_at') });
const unused = object({ type: oneOf('item_current_period_start', 'none', 'pause_at') });
const invoicing = oneOf('invoice', 'pending_invoice_item');
const anchors = oneOf('resume_at', 'unchanged');
const resumptions = oneOf('resume_on_payment_attempt', 'resume_on_payment_success');

const pauseSchedule = object({
  key: text,
  pause: object({
    pause_at: whole,
    settings: none(
      object({
        bill_for: object({ outstanding_usage_through: usage, unused_time_from: unused }),
        invoicing_behavior: invoicing,
        type: oneOf('subscription'),
      }),
    ),
    status: statusOf('error', 'scheduled', 'succeeded'),
  }),
  resume: none(
    object({
      resume_at: whole,
      settings: object({
        billing_cycle_anchor: anchors,
        payment_behavior: resumptions,
        proration_behavior: prorations,
      }),
      status: statusOf('error', 'pending', 'requires_action', 'scheduled', 'succeeded'),
    }),
  ),
});

const schemas: Record<string, Json> = {
  SubscriptionSchedule: object({
    id: text,
    object: { const: 'subscription_schedule' },
    application: none(text),
    billing_mode: object(
      {
        flexible: none(object({}, { proration_discounts: oneOf('included', 'itemized') })),
        type: oneOf('classic', 'flexible'),
      },
      { updated_at: whole },
    ),
    canceled_at: none(whole),
    completed_at: none(whole),
    created: whole,
    current_phase: none(object({ end_date: whole, start_date: whole })),
    customer: idOf('Customer'),
    customer_account: none(text),
    default_settings: object(
      {
        application_fee_percent: none({ type: 'number' }),
        billing_cycle_anchor: anchor,
        billing_thresholds: thresholds,
        collection_method: collection,
        default_payment_method: none(idOf('PaymentMethod')),
        description: none(text),
        invoice_settings: invoiceSettings(issuer),
        on_behalf_of: none(text),
        transfer_data: transfer,
      },
      { automatic_tax: tax },
    ),
    end_behavior: oneOf('cancel', 'none', 'release', 'renew'),
    livemode: flag,
    metadata: none(metadata),
    pause_schedules: listOf(pauseSchedule),
    phases: listOf(phase),
    released_at: none(whole),
    released_subscription: none(text),
    status: oneOf('active', 'canceled', 'completed', 'not_started', 'released'),
    subscription: none(idOf('Subscription')),
    test_clock: none(text),
  }),
};

/** A phase has the same parameters as in the preview of a schedule, which the description has. */
const givenPhase = ref('InvoiceCreatePreviewParams.ScheduleDetails.Phase');
const expand = listOf(text);
const givenPauses = listOf(
  parameters({
    key: text,
    pause: parameters({
      pause_at: parameters({ timestamp: whole, type: oneOf('now', 'timestamp') }),
      settings: parameters({
        bill_for: parameters({
          outstanding_usage_through: parameters({ type: oneOf('none', 'pause_at') }),
          unused_time_from: parameters({ type: oneOf('item_current_period_start', 'none', 'pause_at') }),
        }),
        invoicing_behavior: invoicing,
        type: oneOf('subscription'),
      }),
    }),
    resume: parameters({
      resume_at: parameters({
        duration: parameters({ interval: oneOf('day', 'month', 'week', 'year'), interval_count: whole }),
        timestamp: whole,
        type: oneOf('duration', 'now', 'timestamp'),
      }),
      settings: parameters({
        billing_cycle_anchor: anchors,
        payment_behavior: resumptions,
        proration_behavior: prorations,
      }),
    }),
  }),
);
const createParams = parameters({
  customer: text,
  end_behavior: oneOf('cancel', 'none', 'release', 'renew'),
  expand,
  from_subscription: text,
  metadata: { anyOf: [metadata, cleared] },
  pause_schedules: givenPauses,
  phases: listOf(givenPhase),
  start_date: { anyOf: [whole, oneOf('now')] },
});
const updateParams = parameters({
  default_settings: parameters({ collection_method: text, default_payment_method: text }),
  end_behavior: oneOf('cancel', 'none', 'release', 'renew'),
  expand,
  metadata: { anyOf: [metadata, cleared] },
  pause_schedules: { anyOf: [givenPauses, cleared] },
  phases: listOf(givenPhase),
  proration_behavior: prorations,
});
const listParams = parameters({
  customer: text,
  ending_before: text,
  expand,
  limit: whole,
  scheduled: flag,
  starting_after: text,
});

const answers = (schema: Json) => ({
  200: { content: { 'application/json': { schema } } },
  default: { content: { 'application/json': { schema: ref('error') } } },
});
const schedule = answers(ref('SubscriptionSchedule'));
const form = (schema: Json) => ({ content: { 'application/x-www-form-urlencoded': { schema } } });
const page = object({
  object: { const: 'list' },
  data: listOf(ref('SubscriptionSchedule')),
  has_more: flag,
  url: text,
});

const paths = {
  '/v1/subscription_schedules': {
    get: { responses: answers(page), 'x-query-schema': listParams },
    post: { responses: schedule, requestBody: form(createParams) },
  },
  '/v1/subscription_schedules/{id}': {
    get: { responses: schedule, 'x-query-schema': parameters({ expand }) },
    post: { responses: schedule, requestBody: form(updateParams) },
  },
  '/v1/subscription_schedules/{id}/release': {
    post: { responses: schedule, requestBody: form(parameters({ expand, preserve_cancel_date: flag })) },
  },
  '/v1/subscription_schedules/{id}/cancel': {
    post: { responses: schedule, requestBody: form(parameters({ expand, invoice_now: flag, prorate: flag })) },
  },
};

export const stripeSchedules = { paths, schemas };
