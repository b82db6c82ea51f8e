import type { Subscription } from './objects.ts';
import { type Params, Reader } from './params.ts';
import type { State } from './state.ts';
import { invalid } from './types.ts';

type BillingMode = Subscription['billing_mode'];

/** How prorations are calculated and shown (https://docs.stripe.com/billing/subscriptions/billing-mode). */
export function prorationMode({ billing_mode: mode }: Subscription): 'classic' | 'included' | 'itemized' {
  if (mode.type === 'classic') return 'classic';
  return mode.flexible?.proration_discounts === 'itemized' ? 'itemized' : 'included';
}

/** The parameter of a creation, a preview or a migration; undefined without one. */
export function readBillingMode(reader: Reader): BillingMode | undefined {
  const mode = reader.object('billing_mode', ['type', 'flexible']);
  if (!mode) return undefined;
  const type = mode.choice('type', ['classic', 'flexible']);
  if (type === undefined) throw invalid('Missing required param: billing_mode[type].', { param: 'billing_mode[type]' });
  const discounts = mode
    .object('flexible', ['proration_discounts'])
    ?.choice('proration_discounts', ['included', 'itemized']);
  if (type === 'classic') {
    if (discounts) throw invalid('`billing_mode[flexible]` belongs to the type flexible.', { param: 'billing_mode' });
    return { flexible: null, type };
  }
  return { flexible: { proration_discounts: discounts ?? 'included' }, type };
}

/** Only forward: from classic to flexible, from included to itemized. */
export function migrateSubscription(state: State, id: string, params: Params): Subscription {
  const subscription = state.edit('subscription', id);
  const to = readBillingMode(new Reader(params, ['billing_mode']));
  if (to?.type !== 'flexible') {
    throw invalid('A subscription can only be migrated to the flexible billing mode.', { param: 'billing_mode[type]' });
  }
  if (subscription.status === 'canceled' || subscription.status === 'incomplete_expired') {
    throw invalid('A subscription that has ended cannot be migrated.');
  }
  if (prorationMode(subscription) === 'itemized' && to.flexible?.proration_discounts === 'included') {
    throw invalid('Proration discounts cannot be migrated from itemized to included.', {
      param: 'billing_mode[flexible][proration_discounts]',
    });
  }
  subscription.billing_mode = { ...to, updated_at: state.now() };
  state.announce('customer.subscription.updated', subscription, 'updated');
  return subscription;
}
