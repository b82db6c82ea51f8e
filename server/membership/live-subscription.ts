import type Stripe from 'stripe';
import type { User } from '../account/index.ts';
import type { MembershipDeps } from './deps.ts';
import { ensureMembership } from './ensure.ts';
import { BillingUnavailable } from './results.ts';
import { type Membership, trialPlan } from './standing.ts';
import { asking } from './stripe.ts';
import { idOf } from './stripe-objects.ts';
import { syncMember } from './sync.ts';

export interface Live {
  membership: Membership;
  customerId: string;
  subscriptionId: string;
}

/**
 * The member's subscription, able to be changed: there is one, and it is not paused. Nothing is charged by that, because what
 * pauses is the plan on which members begin.
 * @throws {BillingUnavailable}
 */
export async function liveSubscription(deps: MembershipDeps, user: User): Promise<Live> {
  let membership = await ensureMembership(deps, user, deps.catalogue.trial.days);
  if (membership.status === 'paused' && membership.subscriptionId !== null) {
    const { subscriptionId, pricedPlanId } = membership;
    await asking(deps.stripe, (stripe) =>
      pricedPlanId === trialPlan
        ? stripe.subscriptions.resume(subscriptionId, { proration_behavior: 'none' })
        : // Going on with a price would charge it, and no page has announced that.
          stripe.subscriptions.cancel(subscriptionId),
    );
    await syncMember(deps, user.id);
    membership = await ensureMembership(deps, user, deps.catalogue.trial.days);
  }
  const { customerId, subscriptionId } = membership;
  if (customerId === null || subscriptionId === null) throw new BillingUnavailable('the subscription has just ended');
  return { membership, customerId, subscriptionId };
}

/** @throws {BillingUnavailable} */
export function readSubscription(deps: MembershipDeps, subscriptionId: string): Promise<Stripe.Subscription> {
  return asking(deps.stripe, (stripe) => stripe.subscriptions.retrieve(subscriptionId));
}

/** The one item that each of our subscriptions has. */
export function onlyItem(subscription: Stripe.Subscription): Stripe.SubscriptionItem {
  const [item] = subscription.items.data;
  if (!item) throw new Error(`the subscription ${subscription.id} has no item`);
  return item;
}

/** Whether a price is on the subscription, or waits there for its payment. */
export function hasPrice(subscription: Stripe.Subscription, priceId: string): 'applied' | 'pending' | 'no' {
  if (subscription.items.data.some(({ price }) => idOf(price) === priceId)) return 'applied';
  const waiting = subscription.pending_update?.subscription_items?.some(({ price }) => idOf(price) === priceId);
  return waiting ? 'pending' : 'no';
}

/**
 * Whether the running period is still to be charged: for about an hour Stripe keeps a renewal's invoice as a draft. What is left
 * of a period is given back by an upgrade only once it is paid.
 * @throws {BillingUnavailable}
 */
export async function renewalUnderWay(
  { stripe }: Pick<MembershipDeps, 'stripe'>,
  { subscriptionId, paidUntil, periodEnd }: Membership,
): Promise<boolean> {
  if (subscriptionId === null || periodEnd === null || (paidUntil !== null && paidUntil >= periodEnd)) return false;
  const { data } = await asking(stripe, (client) => client.invoices.list({ subscription: subscriptionId, limit: 10 }));
  return data.some(
    ({ billing_reason: why, status, attempted }) =>
      why === 'subscription_cycle' && (status === 'draft' || (status === 'open' && !attempted)),
  );
}
