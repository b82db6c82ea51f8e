import type Stripe from 'stripe';
import { hourMs, minuteMs, type StripeCustomerId, type StripeSubscriptionId, type UserId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import { isReturned, listOrders } from '../orders/order-store.ts';
import { findOpenPurchase } from '../purchase/purchase-store.ts';
import { type PendingRenewal, StripeUnavailableError } from '../results.ts';
import { callStripe } from '../stripe/stripe-client.ts';
import { toId, toMs } from '../stripe/stripe-objects.ts';
import { ensureCustomer, findCreatedSubscription } from './ensure-customer.ts';
import { isPaused, type Membership, trialPlanKey } from './membership.ts';
import { type ChangeKind, changeKind, isOnHold } from './membership-state.ts';
import { findMembership } from './membership-store.ts';
import { awaitsFirstCharge } from './plan-trial-rules.ts';
import { type MemberReading, readMember, syncMember } from './sync-from-stripe.ts';

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

/** Tests whether the stored period is over: Stripe has renewed or ended it, and its events may still be on their way. */
const isPeriodOver = ({ subscriptionId, status, periodEnd }: Membership, nowMs: number): boolean =>
  subscriptionId !== null && status !== 'paused' && periodEnd !== null && periodEnd <= nowMs;

/**
 * The membership that a price is calculated from. It is read again if its period is over, or if the answer to a payment
 * may have been lost: the amounts of what was stored before would be announced and never charged.
 * @throws {StripeUnavailableError}
 */
async function findPresentMembership(deps: BillingDeps, userId: UserId): Promise<Membership | undefined> {
  const { database, now } = deps;
  const known = await findMembership(database.db, userId);
  if (!known) return undefined;
  const isOld = isPeriodOver(known, now()) || (await findOpenPurchase(database.db, userId))?.state === 'charging';
  return isOld ? syncMember(deps, userId) : known;
}

/**
 * The subscription for a quote. It only reads, except for a user's very first customer and trial.
 * @throws {StripeUnavailableError} also if the subscription is paused, because nothing is sold to it
 */
export async function viewedSubscription(deps: BillingDeps, user: User): Promise<Viewed> {
  const known = await findPresentMembership(deps, user.id);
  const membership = known && hasBegun(known) ? known : await ensureCustomer(deps, user, deps.catalogue.trial.days);
  const { customerId, subscriptionId, status } = membership;
  if (customerId === null) throw new StripeUnavailableError('the customer has just been deleted');
  if (isOnHold(membership)) throw new StripeUnavailableError('the subscription is paused');
  const subscription = findCreatedSubscription(deps, user, membership);
  return {
    membership,
    customerId,
    subscriptionId: status === 'paused' ? null : subscriptionId,
    ...(subscription && { subscription }),
  };
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

/** Tests whether a price, with its quantity, is on the subscription, or waits there for its payment. */
export function priceState(
  subscription: Stripe.Subscription,
  { priceId, quantity: target }: { priceId: string; quantity?: number | undefined },
): 'applied' | 'pending' | 'no' {
  const isTarget = ({ price, quantity }: Stripe.SubscriptionItem) =>
    toId(price) === priceId && (target === undefined || (quantity ?? 1) === target);
  if (subscription.items.data.some(isTarget)) return 'applied';
  const waiting = subscription.pending_update?.subscription_items?.some(isTarget);
  return waiting ? 'pending' : 'no';
}

/** After a draft is finalized Stripe needs some minutes for the payment and its event. */
const paymentMs = 10 * minuteMs;

/** Tests whether the stored period is paid and still running: then no renewal is under way. */
const isSettled = ({ paidUntil, periodEnd }: Membership, nowMs: number): boolean =>
  periodEnd === null || (paidUntil !== null && paidUntil >= periodEnd && periodEnd > nowMs);

/**
 * The renewal that Stripe has begun and not charged yet: its invoice is a draft for about an hour. Meanwhile the unused
 * time of the new period is not paid, so an upgrade cannot credit it.
 * @throws {StripeUnavailableError}
 */
export async function findPendingRenewal(
  { stripe, now }: Pick<BillingDeps, 'stripe' | 'now'>,
  membership: Membership,
): Promise<PendingRenewal | undefined> {
  const { subscriptionId, paidPlanId } = membership;
  if (subscriptionId === null || (paidPlanId === null && !awaitsFirstCharge(membership))) return undefined;
  if (isSettled(membership, now())) return undefined;
  const { data } = await callStripe(stripe, (client) =>
    client.invoices.list({ subscription: subscriptionId, limit: 10 }),
  );
  const renewal = data.find(
    ({ billing_reason: why, status, attempted }) =>
      // Stripe may call the first invoice of a scheduled plan an update; an update by a member is never a draft.
      (status === 'draft' && why !== 'manual') || (why === 'subscription_cycle' && status === 'open' && !attempted),
  );
  if (!renewal) return undefined;
  const { automatically_finalizes_at: finalizesAt, auto_advance: advances, created, lines } = renewal;
  const chargedAt = finalizesAt === null ? toMs(created) + hourMs : toMs(finalizesAt);
  return {
    amountCents: renewal.amount_due,
    currency: renewal.currency,
    periodEnd: toMs(Math.max(...lines.data.map(({ period }) => period.end), renewal.period_end)),
    // The operator keeps the draft (pause_collection): its end is unknown.
    changeableAt: advances ? Math.max(chargedAt, now()) + paymentMs : null,
  };
}

/** The same, of a user. @throws {StripeUnavailableError} */
export async function loadPendingRenewal(deps: BillingDeps, userId: UserId): Promise<PendingRenewal | undefined> {
  const membership = await findMembership(deps.database.db, userId);
  return membership && findPendingRenewal(deps, membership);
}

/** A scheduled plan has begun, and its first payment is not there: the plan before is no longer the one that goes on. */
const isBetweenPlans = ({ status, pricedPlanId, paidPlanId, nextPlanId }: Membership): boolean =>
  status === 'active' && nextPlanId === null && pricedPlanId !== trialPlanKey && pricedPlanId !== paidPlanId;

/**
 * The renewal that is being charged, if a change to this plan has to wait for it: an upgrade, and every change from a
 * plan whose period has just ended.
 * @throws {StripeUnavailableError}
 */
export async function findRenewalToWaitFor(
  deps: BillingDeps,
  membership: Membership,
  plan: Plan,
): Promise<PendingRenewal | undefined> {
  const waits = changeKind(deps.catalogue, membership, plan) === 'upgrade' || isBetweenPlans(membership);
  return waits ? findPendingRenewal(deps, membership) : undefined;
}

/** The same for a user. @throws {StripeUnavailableError} */
export async function findRenewalBefore(
  deps: BillingDeps,
  { id }: User,
  plan: Plan,
): Promise<PendingRenewal | undefined> {
  const membership = await findPresentMembership(deps, id);
  return membership && findRenewalToWaitFor(deps, membership, plan);
}

/**
 * How a user changes to a plan. A payment that went back, or that a bank may take back, gives no credit for its time: a
 * higher plan begins after that time.
 */
export async function readChangeKind(
  { catalogue, database, now }: Pick<BillingDeps, 'catalogue' | 'database' | 'now'>,
  membership: Membership,
  plan: Plan,
): Promise<ChangeKind> {
  const kind = changeKind(catalogue, membership, plan);
  if (kind !== 'upgrade') return kind;
  const orders = await listOrders(database.db, membership.userId);
  const isOfThisTime = orders.some(
    (order) =>
      isReturned(order) &&
      order.subscriptionId === membership.subscriptionId &&
      order.renewsAt !== null &&
      order.renewsAt > now(),
  );
  return isOfThisTime ? 'later' : kind;
}
