import type Stripe from 'stripe';
import type { StripeCustomerId, StripeSubscriptionId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import { StripeUnavailableError } from '../results.ts';
import { callStripe } from '../stripe/stripe-client.ts';
import { toId } from '../stripe/stripe-objects.ts';
import { ensureCustomer } from './ensure-customer.ts';
import { isPaused, type Membership } from './membership.ts';
import { findMembership } from './membership-store.ts';
import { syncMember } from './sync-from-stripe.ts';

export interface ChangeableSubscription {
  membership: Membership;
  customerId: StripeCustomerId;
  subscriptionId: StripeSubscriptionId;
}

/**
 * The same for pages that show a price and change nothing: without a subscription if it would have to be created or
 * resumed.
 */
export type Viewed = Omit<ChangeableSubscription, 'subscriptionId'> & { subscriptionId: StripeSubscriptionId | null };

/**
 * The subscription for a quote. It only reads, except for a user's very first customer and trial.
 * @throws {StripeUnavailableError} also if the subscription is paused, because nothing is sold to it
 */
export async function viewedSubscription(deps: BillingDeps, user: User): Promise<Viewed> {
  const known = await findMembership(deps.database.db, user.id);
  const membership = known && hasBegun(known) ? known : await ensureCustomer(deps, user, deps.catalogue.trial.days);
  const { customerId, subscriptionId, status } = membership;
  if (customerId === null) throw new StripeUnavailableError('the customer has just been deleted');
  if (isPaused(membership)) throw new StripeUnavailableError('the subscription is paused');
  return { membership, customerId, subscriptionId: status === 'paused' ? null : subscriptionId };
}

/** Tests whether the user's first customer and subscription were created at Stripe, whatever their state is now. */
export const hasBegun = ({ customerId, subscriptionId, status }: Membership): boolean =>
  customerId !== null && (subscriptionId !== null || status !== 'none');

/** The user's customer, for actions on their card. @throws {StripeUnavailableError} */
export async function findCustomer(
  deps: BillingDeps,
  user: User,
): Promise<Viewed & { subscriptionId: StripeSubscriptionId }> {
  const membership = await ensureCustomer(deps, user, deps.catalogue.trial.days);
  const { customerId, subscriptionId } = membership;
  if (customerId === null || subscriptionId === null)
    throw new StripeUnavailableError('the subscription has just ended');
  return { membership, customerId, subscriptionId };
}

/**
 * The user's subscription in a state that can be changed: it exists and is not paused. The initial one is resumed,
 * which is free; resuming any other would charge an unannounced amount.
 * @throws {StripeUnavailableError}
 */
export async function getChangeableSubscription(
  deps: BillingDeps,
  user: User,
): Promise<ChangeableSubscription | 'paused'> {
  const { membership, subscriptionId } = await findCustomer(deps, user);
  if (isPaused(membership)) return 'paused';
  if (membership.status === 'paused') {
    await callStripe(deps.stripe, (stripe) =>
      stripe.subscriptions.resume(subscriptionId, { proration_behavior: 'none' }),
    );
    await syncMember(deps, user.id);
  }
  return findCustomer(deps, user);
}

/** @throws {StripeUnavailableError} */
export function readSubscription(
  deps: BillingDeps,
  subscriptionId: StripeSubscriptionId,
): Promise<Stripe.Subscription> {
  return callStripe(deps.stripe, (stripe) => stripe.subscriptions.retrieve(subscriptionId));
}

/** The only item of each subscription that Foyer creates. */
export function getItem(subscription: Stripe.Subscription): Stripe.SubscriptionItem {
  const [item] = subscription.items.data;
  if (!item) throw new Error(`the subscription ${subscription.id} has no item`);
  return item;
}

/** Tests whether a price is on the subscription, or waits there for its payment. */
export function priceState(subscription: Stripe.Subscription, priceId: string): 'applied' | 'pending' | 'no' {
  if (subscription.items.data.some(({ price }) => toId(price) === priceId)) return 'applied';
  const waiting = subscription.pending_update?.subscription_items?.some(({ price }) => toId(price) === priceId);
  return waiting ? 'pending' : 'no';
}
