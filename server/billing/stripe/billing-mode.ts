import type Stripe from 'stripe';
import type { StripeSubscriptionId } from '../../shared/index.ts';
import { callStripe, type StripeClient } from './stripe-client.ts';

/**
 * The billing mode of every subscription. Unused time is credited as it was paid, and discounts stand beside the amounts
 * that they reduce: otherwise a change of plan with a code of 100 % has lines of 0 and no code.
 */
export const billingMode = { type: 'flexible', flexible: { proration_discounts: 'itemized' } } as const;

/** The other mode of a subscription; undefined: it has this one. */
export function otherBillingMode({ billing_mode: mode }: Stripe.Subscription): string | undefined {
  if (mode.type !== billingMode.type) return mode.type;
  const discounts = mode.flexible?.proration_discounts ?? 'included';
  return discounts === billingMode.flexible.proration_discounts ? undefined : `${mode.type}, ${discounts}`;
}

/** For a subscription of an earlier release, or one that was made by hand. @throws {StripeUnavailableError} */
export async function migrateBillingMode(client: StripeClient, id: StripeSubscriptionId): Promise<void> {
  await callStripe(client, (stripe) => stripe.subscriptions.migrate(id, { billing_mode: billingMode }));
}
