import type { StripeSubscriptionId } from '../../shared/index.ts';
import type { BillingDeps } from '../deps.ts';
import { callStripe, toStripeRefusal } from '../stripe/stripe-client.ts';

/** A discount in Stripe's parameters. */
export interface DiscountParam {
  promotion_code?: string;
  coupon?: string;
}

/**
 * Restores the discounts of a subscription. Stripe may refuse one (its code is for a first purchase, has expired or is
 * used up), or the subscription has ended: then the best that Stripe accepts, at last none.
 * @param coupon of the code
 */
export async function restoreDiscounts(
  { stripe, log }: Pick<BillingDeps, 'stripe' | 'log'>,
  subscriptionId: StripeSubscriptionId,
  before: DiscountParam[],
  coupon: string | undefined,
): Promise<void> {
  for (const discounts of [before, ...(coupon ? [[{ coupon }]] : []), []]) {
    try {
      await callStripe(stripe, (client) =>
        client.subscriptions.update(subscriptionId, { discounts: discounts.length === 0 ? '' : discounts }),
      );
      return;
    } catch (error) {
      if (!toStripeRefusal(error)) throw error;
      log.warn({ err: error, act: 'discount' }, 'could not restore a discount');
    }
  }
}
