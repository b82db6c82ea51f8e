import { toPlan } from './catalogue.ts';
import { newId } from './new-id.ts';
import type { Price, Subscription, SubscriptionItem } from './objects.ts';
import type { Reader } from './params.ts';
import { resolveMethod } from './payment-methods.ts';
import type { State } from './state.ts';
import { writeAutomaticTax, writeTaxRates } from './tax.ts';
import { invalid, unknownToStandIn } from './types.ts';

/** The one item of a subscription. */
export function getItem(subscription: Subscription): SubscriptionItem {
  const [item] = subscription.items.data;
  if (!item) throw unknownToStandIn('subscriptions without an item');
  return item;
}

/** Whether it ends when its period does: by its own wish, or by that of its schedule. */
export const endsWithPeriod = (subscription: Subscription): boolean =>
  subscription.cancel_at_period_end ||
  (subscription.cancel_at !== null && subscription.cancel_at <= getItem(subscription).current_period_end);

export const calculateCost = (item: { price: Price; quantity: number }): number =>
  item.price.unit_amount * item.quantity;

export interface ItemChange {
  price: Price;
  quantity: number;
}

const refusePrice = (message: string) => invalid(message, { param: 'items[0][price]' });

function checkActive(price: Price) {
  if (!price.active) {
    throw refusePrice('The price specified is inactive. This field only accepts active prices.');
  }
}

function checkSubscribable(price: Price, current: SubscriptionItem | undefined) {
  if (!price.recurring) {
    throw refusePrice(
      'The price specified is set to `type=one_time` but this field only accepts prices with `type=recurring`.',
    );
  }
  if (current && price.currency !== current.price.currency) {
    throw refusePrice('The price’s currency is not the currency of the subscription.');
  }
}

/** The `items` of a call. Only one item per subscription is supported. */
export function readItem(state: State, reader: Reader, current?: SubscriptionItem): ItemChange | undefined {
  const items = reader.objects('items', ['id', 'price', 'quantity']);
  if (!items) return undefined;
  const [first, ...more] = items;
  if (!first || more.length > 0) throw unknownToStandIn('subscriptions with other than one item', 'items');
  const id = first.text('id');
  if (current && id === undefined) throw unknownToStandIn('how to add an item to a subscription', 'items');
  if (current && id !== current.id) {
    throw invalid(`No such subscription item: '${id}'`, { param: 'items[0][id]', code: 'resource_missing' });
  }
  const priceId = first.text('price');
  const price =
    priceId === undefined && current ? current.price : state.get('price', first.need('price'), 'items[0][price]');
  if (priceId !== undefined) checkActive(price);
  checkSubscribable(price, current);
  const quantity = first.int('quantity') ?? current?.quantity ?? 1;
  if (quantity < 1) throw unknownToStandIn('quantities below 1', 'items[0][quantity]');
  return { price: structuredClone(price), quantity };
}

/** Sets another price or quantity of an item, which keeps its id. */
export function setItem(item: SubscriptionItem, { price, quantity }: ItemChange) {
  item.price = price;
  item.plan = toPlan(price);
  item.quantity = quantity;
}

export function setPeriod(item: SubscriptionItem, start: number, end: number) {
  item.current_period_start = start;
  item.current_period_end = end;
}

/** A card for a subscription, which must be its customer's. */
export function readMethod(state: State, reader: Reader, customer: string): string | null {
  const id = reader.text('default_payment_method');
  if (id === undefined) return null;
  const method = resolveMethod(state, id, 'default_payment_method');
  if (method.customer !== customer) {
    throw invalid(
      `The customer does not have a payment method with the ID ${id}. The payment method must be attached to the customer.`,
      { param: 'default_payment_method', code: 'resource_missing' },
    );
  }
  return method.id;
}

type InvoicedType = 'card' | 'link' | 'sepa_debit';
const isInvoiced = (type: string): type is InvoicedType => type === 'card' || type === 'link' || type === 'sepa_debit';

/** The settings without an effect on the lines of an invoice, for create and update alike. */
export function writeSettings(state: State, subscription: Subscription, reader: Reader) {
  subscription.metadata = reader.metadata(subscription.metadata);
  writeAutomaticTax(state, subscription, reader);
  writeTaxRates(state, subscription, reader);
  if (reader.has('description')) subscription.description = reader.text('description') ?? null;
  if (reader.has('default_payment_method')) {
    subscription.default_payment_method = readMethod(state, reader, subscription.customer);
  }
  const payment = reader.object('payment_settings', ['payment_method_types', 'save_default_payment_method']);
  if (payment) {
    const types = payment.texts('payment_method_types');
    const invoiced = types?.flatMap((type) => (isInvoiced(type) ? [type] : []));
    if (invoiced?.length !== types?.length) {
      throw unknownToStandIn('these types of payment methods', 'payment_settings[payment_method_types]');
    }
    const before = subscription.payment_settings;
    subscription.payment_settings = {
      payment_method_options: null,
      payment_method_types: invoiced?.length ? invoiced : (before?.payment_method_types ?? null),
      save_default_payment_method:
        payment.choice('save_default_payment_method', ['off', 'on_subscription']) ??
        before?.save_default_payment_method ??
        'off',
    };
  }
  const behaviour = reader
    .object('trial_settings', ['end_behavior'])
    ?.object('end_behavior', ['missing_payment_method'])
    ?.choice('missing_payment_method', ['cancel', 'create_invoice', 'pause']);
  if (behaviour)
    subscription.trial_settings = { end_behavior: { billing_cycle_anchor: null, missing_payment_method: behaviour } };
}

function createItem(change: ItemChange, subscription: string, now: number): SubscriptionItem {
  return {
    id: newId('si', 14),
    object: 'subscription_item',
    billing_thresholds: null,
    created: now,
    current_period_end: now,
    current_period_start: now,
    current_trial: null,
    discounts: [],
    metadata: {},
    plan: toPlan(change.price),
    price: change.price,
    quantity: change.quantity,
    subscription,
    tax_rates: [],
  };
}

export function makeSubscription(state: State, customer: string, change: ItemChange): Subscription {
  const id = newId('sub');
  const now = state.now();
  return {
    id,
    object: 'subscription',
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: now,
    billing_cycle_anchor_config: null,
    billing_mode: { flexible: { proration_discounts: 'included' }, type: 'flexible' },
    billing_schedules: [],
    billing_thresholds: null,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
    collection_method: 'charge_automatically',
    created: now,
    currency: change.price.currency,
    customer,
    customer_account: null,
    days_until_due: null,
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    ended_at: null,
    invoice_settings: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: { type: 'self' },
    },
    items: {
      object: 'list',
      data: [createItem(change, id, now)],
      has_more: false,
      url: `/v1/subscription_items?subscription=${id}`,
    },
    latest_invoice: null,
    livemode: false,
    managed_payments: null,
    metadata: {},
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: null,
    payment_settings: {
      payment_method_options: null,
      payment_method_types: null,
      save_default_payment_method: 'off',
    },
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null,
    schedule: null,
    start_date: now,
    status: 'active',
    test_clock: null,
    transfer_data: null,
    trial_end: null,
    trial_settings: { end_behavior: { billing_cycle_anchor: null, missing_payment_method: 'create_invoice' } },
    trial_start: null,
  };
}
