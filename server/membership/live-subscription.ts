import type Stripe from 'stripe';
import type { User } from '../account/index.ts';
import type { MembershipDeps } from './deps.ts';
import { ensureMembership } from './ensure.ts';
import { findMembership } from './membership-store.ts';
import { BillingUnavailable } from './results.ts';
import { isPaused, type Membership } from './standing.ts';
import { asking } from './stripe.ts';
import { idOf } from './stripe-objects.ts';
import { syncMember } from './sync.ts';

export interface Live {
  membership: Membership;
  customerId: string;
  subscriptionId: string;
}

/** The same for pages that show a price and change nothing: without a subscription where it would have to be made or resumed. */
export type Viewed = Omit<Live, 'subscriptionId'> & { subscriptionId: string | null };

/**
 * The subscription for which a price is quoted. Reads alone, but for a member's very first customer and trial.
 * @throws {BillingUnavailable} also where the subscription is paused, as nothing is sold to it
 */
export async function viewedSubscription(deps: MembershipDeps, user: User): Promise<Viewed> {
  const known = await findMembership(deps.database.db, user.id);
  const membership = known && hasBegun(known) ? known : await ensureMembership(deps, user, deps.catalogue.trial.days);
  const { customerId, subscriptionId, status } = membership;
  if (customerId === null) throw new BillingUnavailable('the customer has just been deleted');
  if (isPaused(membership)) throw new BillingUnavailable('the subscription is paused');
  return { membership, customerId, subscriptionId: status === 'paused' ? null : subscriptionId };
}

/** Whether Stripe has made the member's first customer and subscription, whatever has become of them. */
export const hasBegun = ({ customerId, subscriptionId, status }: Membership): boolean =>
  customerId !== null && (subscriptionId !== null || status !== 'none');

/** The member's customer, for acts on their card. @throws {BillingUnavailable} */
export async function customerOf(deps: MembershipDeps, user: User): Promise<Viewed & { subscriptionId: string }> {
  const membership = await ensureMembership(deps, user, deps.catalogue.trial.days);
  const { customerId, subscriptionId } = membership;
  if (customerId === null || subscriptionId === null) throw new BillingUnavailable('the subscription has just ended');
  return { membership, customerId, subscriptionId };
}

/**
 * The member's subscription, able to be changed: there is one, and it is not paused. The one on which members begin is
 * resumed, which costs nothing; any other would be charged by that, and no page has announced it.
 * @throws {BillingUnavailable}
 */
export async function liveSubscription(deps: MembershipDeps, user: User): Promise<Live | 'paused'> {
  const { membership, subscriptionId } = await customerOf(deps, user);
  if (isPaused(membership)) return 'paused';
  if (membership.status === 'paused') {
    await asking(deps.stripe, (stripe) => stripe.subscriptions.resume(subscriptionId, { proration_behavior: 'none' }));
    await syncMember(deps, user.id);
  }
  return customerOf(deps, user);
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
