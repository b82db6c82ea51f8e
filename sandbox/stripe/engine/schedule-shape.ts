import { newId } from './new-id.ts';
import type { SchedulePhase, Subscription, SubscriptionSchedule } from './objects.ts';
import type { State } from './state.ts';
import { endsWithPeriod, getItem } from './subscription-shape.ts';

export function makePhase(
  about: Pick<SchedulePhase, 'currency' | 'start_date' | 'end_date'> & { price: string; quantity: number },
): SchedulePhase {
  const { price, quantity, ...times } = about;
  return {
    ...times,
    add_invoice_items: [],
    application_fee_percent: null,
    billing_cycle_anchor: null,
    billing_thresholds: null,
    collection_method: null,
    default_payment_method: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    invoice_settings: null,
    items: [{ billing_thresholds: null, discounts: [], metadata: {}, plan: price, price, quantity, tax_rates: [] }],
    metadata: {},
    on_behalf_of: null,
    proration_behavior: 'create_prorations',
    transfer_data: null,
    trial_end: null,
  };
}

export const inPhase = (discount: string) => ({ coupon: null, discount, promotion_code: null });

/** A schedule with one phase: the subscription as it is, until its period ends. */
export function makeSchedule(state: State, subscription: Subscription): SubscriptionSchedule {
  const item = getItem(subscription);
  const { current_period_start: start_date, current_period_end: end_date } = item;
  const times = { start_date, end_date };
  const phase = makePhase({
    ...times,
    currency: subscription.currency,
    price: item.price.id,
    quantity: item.quantity,
  });
  return {
    id: newId('sub_sched'),
    object: 'subscription_schedule',
    application: null,
    billing_mode: structuredClone(subscription.billing_mode),
    canceled_at: null,
    completed_at: null,
    created: state.now(),
    current_phase: times,
    customer: subscription.customer,
    customer_account: null,
    default_settings: {
      application_fee_percent: null,
      automatic_tax: structuredClone(subscription.automatic_tax),
      billing_cycle_anchor: 'automatic',
      billing_thresholds: null,
      collection_method: 'charge_automatically',
      default_payment_method: subscription.default_payment_method,
      description: null,
      invoice_settings: {
        account_tax_ids: null,
        custom_fields: null,
        days_until_due: null,
        description: null,
        footer: null,
        issuer: { type: 'self' },
      },
      on_behalf_of: null,
      transfer_data: null,
    },
    end_behavior: endsWithPeriod(subscription) ? 'cancel' : 'release',
    livemode: false,
    metadata: {},
    pause_schedules: [],
    phases: [
      {
        ...phase,
        automatic_tax: structuredClone(subscription.automatic_tax),
        discounts: subscription.discounts.map(inPhase),
      },
    ],
    released_at: null,
    released_subscription: null,
    status: 'active',
    subscription: subscription.id,
    test_clock: null,
  };
}
