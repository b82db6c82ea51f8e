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
import { type MemberReading, readMember } from './sync-from-stripe.ts';

/** A subscription as it was read at the beginning of an act: the act decides on it, and reads once more at its end. */
export interface ChangeableSubscription {
  membership: Membership;
  customerId: StripeCustomerId;
  subscriptionId: StripeSubscriptionId;
  subscription: Stripe.Subscription;
}

/**
 * The same for pages that show a price and change nothing: without a subscription if it would have to be created or
 * resumed, and without Stripe's own object if it was not read.
 */
export type Viewed = Pick<ChangeableSubscription, 'membership' | 'customerId'> & {
  subscriptionId: StripeSubscriptionId | null;
  subscription?: Stripe.Subscription;
};

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

/** The subscription in a read; undefined: there is none that runs. */
export function toChangeable({ membership, facts }: MemberReading): ChangeableSubscription | undefined {
  const { customerId, subscriptionId } = membership;
  const subscription = facts.subscriptions.find(({ id }) => id === subscriptionId);
  if (customerId === null || subscriptionId === null || !subscription) return undefined;
  return { membership, customerId, subscriptionId, subscription };
}

/** One more: a trial that is paused is resumed, and a subscription that has just ended is created anew. */
const maxReads = 3;

/**
 * The user's subscription in a state that can be changed. The initial one is resumed, which is free; any other that is
 * paused stays so, because resuming it would charge an unannounced amount.
 * @throws {StripeUnavailableError}
 */
export async function getChangeableSubscription(deps: BillingDeps, user: User): Promise<ChangeableSubscription> {
  for (let reads = 0; reads < maxReads; reads += 1) {
    await findCustomer(deps, user);
    const reading = await readMember(deps, user.id);
    const found = reading && toChangeable(reading);
    if (!found) continue;
    const { membership, subscriptionId } = found;
    if (membership.status !== 'paused' || isPaused(membership)) return found;
    await callStripe(deps.stripe, (stripe) =>
      stripe.subscriptions.resume(subscriptionId, { proration_behavior: 'none' }),
    );
  }
  throw new StripeUnavailableError('the subscription has just ended');
}

/** With its schedule. @throws {StripeUnavailableError} */
export function readSubscription(
  deps: BillingDeps,
  subscriptionId: StripeSubscriptionId,
): Promise<Stripe.Subscription> {
  return callStripe(deps.stripe, (stripe) => stripe.subscriptions.retrieve(subscriptionId, { expand: ['schedule'] }));
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
