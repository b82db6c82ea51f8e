import type Stripe from 'stripe';
import { type StripeInvoiceId, toStripeInvoiceId } from '../../shared/index.ts';
import type { BillingDeps } from '../deps.ts';
import type { DisplayedQuote } from '../results.ts';
import { trialEndKey } from '../stripe/debits.ts';
import { nextPlanKey, readInvoice } from '../stripe/read-stripe-snapshot.ts';
import { callStripe, isTaxed, switchTaxOn, toStripeRefusal } from '../stripe/stripe-client.ts';
import { toDecline, toId } from '../stripe/stripe-objects.ts';
import {
  type ChangeableSubscription,
  getItem,
  priceState,
  readSubscription,
} from '../subscription/changeable-subscription.ts';
import { isDebit, toDiscountParam, toLaterAmounts } from '../subscription/membership.ts';
import { planTrialKey } from '../subscription/plan-trial-rules.ts';
import { readScheduledPrices, releaseForUpgrade } from '../subscription/scheduled-change.ts';
import type { Charge } from './charge.ts';
import type { ChargeFacts, ChargePlace, PendingPayment } from './purchase-state.ts';
import type { StoredPurchase } from './purchase-store.ts';
import { type Priced, toStripeParams } from './quote.ts';

/**
 * The charge of a purchase at Stripe: the parameters that were stored before the call (`Charge`) are sent with one
 * idempotency key, so that a repetition after a lost answer, a crash or a second click has the same single effect.
 */

/** After this time no request can be in progress, and the announced amounts may have changed. */
const staleMs = 30 * 60_000;

const findLatestInvoice = ({ latest_invoice: latest }: Stripe.Subscription): StripeInvoiceId | null =>
  latest ? toStripeInvoiceId(toId(latest)) : null;

/** The place of the charge on its subscription. */
export function findChargePlace(
  { now }: Pick<BillingDeps, 'now'>,
  subscription: Stripe.Subscription,
  charge: Charge,
): ChargePlace {
  const has = priceState(subscription, charge);
  const invoiceId = findLatestInvoice(subscription);
  // A plan that begins with free days has no invoice of its own before its first charge.
  if (has === 'applied') return { kind: 'applied', invoiceId: charge.planTrialEnd === undefined ? invoiceId : null };
  if (has === 'pending' && invoiceId !== null) return { kind: 'pending', invoiceId };
  return { kind: 'absent', over: now() - charge.beganAt > staleMs || subscription.status === 'canceled' };
}

/** The state of the payment of a pending update. @throws {StripeUnavailableError} */
async function readPayment({ stripe }: BillingDeps, invoiceId: StripeInvoiceId): Promise<PendingPayment> {
  const { invoice, payment } = await readInvoice(stripe, invoiceId);
  if (invoice.status === 'paid' || payment?.status === 'succeeded' || payment?.status === 'processing') {
    return { kind: 'succeeded' };
  }
  // Voided by another change, while the user still answers about the earlier one.
  if (invoice.status === 'void') return { kind: 'void' };
  if (payment?.status !== 'requires_action') {
    return { kind: 'declined', ...toDecline(payment?.last_payment_error) };
  }
  const clientSecret = invoice.confirmation_secret?.client_secret ?? payment.client_secret;
  if (!clientSecret) throw new Error('a payment that waits for the member has no secret');
  return { kind: 'action-required', clientSecret, amountCents: invoice.amount_remaining };
}

/** The price changes with the request; only its paid invoice gives the plan. */
async function readDebit(
  { stripe }: BillingDeps,
  place: Extract<ChargePlace, { kind: 'applied' }>,
): Promise<Extract<ChargeFacts, { kind: 'applied' | 'debited' }>> {
  if (place.invoiceId === null) return place;
  const { invoice, payment } = await readInvoice(stripe, place.invoiceId);
  if (invoice.status === 'paid') return place;
  return payment?.status === 'processing'
    ? { kind: 'debited', payment: { kind: 'processing', amountCents: invoice.amount_remaining } }
    : { kind: 'debited', payment: { kind: 'failed', ...toDecline(payment?.last_payment_error) } };
}

/** @throws {StripeUnavailableError} */
export async function readChargeFacts(
  deps: BillingDeps,
  subscription: Stripe.Subscription,
  charge: Charge,
): Promise<ChargeFacts> {
  const place = findChargePlace(deps, subscription, charge);
  if (place.kind === 'applied' && charge.byDebit) return readDebit(deps, place);
  return place.kind === 'pending' ? { ...place, payment: await readPayment(deps, place.invoiceId) } : place;
}

function toPaymentTerms({
  byDebit,
  planTrialEnd,
}: Charge): Pick<Stripe.SubscriptionUpdateParams, 'payment_behavior' | 'trial_settings'> {
  if (planTrialEnd !== undefined) {
    return {
      // Nothing is due; and without a card at the end of the free days the plan ends.
      payment_behavior: 'error_if_incomplete',
      trial_settings: { end_behavior: { missing_payment_method: 'cancel' } },
    };
  }
  // Stripe takes no debit for a pending update.
  return { payment_behavior: byDebit ? 'allow_incomplete' : 'pending_if_incomplete' };
}

/**
 * Sends the stored request. Price, discounts, the end of the period and metadata change together when the payment
 * succeeds; until then the subscription stays as it is, and its renewal too.
 * @param subscription as it is before the call
 * @returns the subscription, or 'refused': nothing was changed, and the card is not the reason
 * @throws {StripeUnavailableError}
 */
export async function sendCharge(
  deps: BillingDeps,
  { id, attempt, planId, charge }: StoredPurchase & { charge: Charge },
  subscription: Stripe.Subscription,
): Promise<Stripe.Subscription | 'refused'> {
  const { subscriptionId, itemId, priceId, quantity, discounts, endTrial, prorationDate, trialEnd } = charge;
  const tried = charge.planTrialEnd === undefined ? '' : planId;
  const item = {
    id: itemId,
    // Stripe refuses a price that is archived, also the one that is there.
    ...(toId(getItem(subscription).price) !== priceId && { price: priceId }),
    ...(quantity !== undefined && { quantity }),
  };
  const params: Stripe.SubscriptionUpdateParams = {
    ...toStripeParams({ items: [item], endTrial, trialEnd: charge.planTrialEnd, prorationDate }),
    ...(discounts !== null && { discounts: discounts.length === 0 ? '' : discounts }),
    // A purchase cancels what was to follow the earlier plan.
    metadata: {
      [nextPlanKey]: '',
      ...(trialEnd !== undefined && { [trialEndKey]: String(trialEnd) }),
      // Also of a plan that follows a trial of another one.
      ...((tried || subscription.metadata[planTrialKey]) && { [planTrialKey]: tried }),
    },
    cancel_at_period_end: false,
    ...toPaymentTerms(charge),
  };
  const idempotencyKey = `foyer:purchase:${id}:${attempt}:change`;
  try {
    await releaseForUpgrade(deps, subscription);
    await switchTaxOn(deps, subscription);
    return await callStripe(deps.stripe, (stripe) =>
      stripe.subscriptions.update(subscriptionId, params, { idempotencyKey }),
    );
  } catch (error) {
    const refusal = toStripeRefusal(error);
    if (!refusal) throw error;
    deps.log.warn({ act: 'purchase', outcome: refusal.code ?? refusal.type }, 'purchase refused by Stripe');
    if (refusal.type !== 'StripeCardError') return 'refused';
    return readSubscription(deps, subscriptionId);
  }
}

/** Tries a declined payment again with the user's present card. @throws {StripeUnavailableError} */
export async function payInvoice(deps: BillingDeps, invoiceId: StripeInvoiceId, cardId: string): Promise<void> {
  try {
    await callStripe(deps.stripe, (stripe) =>
      // Without an idempotency key: Stripe pays an invoice once however often the call is repeated, and the attempts of
      // a user have no number that could distinguish them.
      stripe.invoices.pay(invoiceId, { payment_method: cardId, off_session: false }),
    );
  } catch (error) {
    // Declined, or paid meanwhile: the state is read again.
    if (!toStripeRefusal(error)) throw error;
  }
}

/** @returns false: it has just been paid @throws {StripeUnavailableError} */
export async function voidInvoice(deps: BillingDeps, invoiceId: StripeInvoiceId): Promise<boolean> {
  try {
    await callStripe(deps.stripe, (stripe) => stripe.invoices.voidInvoice(invoiceId));
    return true;
  } catch (error) {
    if (!toStripeRefusal(error)) throw error;
    return false;
  }
}

type AnnouncedLater = Pick<Charge, 'laterCents' | 'followingPriceId' | 'scheduledPrices' | 'requestToBegin'>;

/** The later amounts, if the page has named them, and the prices that the charge keeps. */
export async function readLater(
  deps: BillingDeps,
  { due: { following }, previewNext }: Priced,
  { announced, subscription }: { announced: DisplayedQuote; subscription: Stripe.Subscription },
): Promise<AnnouncedLater> {
  const laterCents = announced.laterCents === undefined ? undefined : toLaterAmounts(await previewNext());
  return {
    laterCents,
    ...(following && { followingPriceId: await deps.prices.priceIdFor(following) }),
    ...(subscription.schedule !== null && { scheduledPrices: await readScheduledPrices(deps, subscription) }),
  };
}

/** The record that is written before the call to Stripe. */
export function toCharge(
  { now, catalogue }: Pick<BillingDeps, 'now' | 'catalogue'>,
  { subscription, subscriptionId, membership }: ChangeableSubscription,
  { due, params, ...later }: Pick<Priced, 'due' | 'params'> & AnnouncedLater,
): Charge {
  const { promotion, dueCents } = due;
  const item = getItem(subscription);
  // Without its own, the subscription has the discount of its customer.
  const withoutCode = params.prorationDate === null && membership.discount ? [] : null;
  return {
    subscriptionId,
    itemId: item.id,
    priceId: params.items[0]?.price ?? toId(item.price),
    quantity: params.items[0]?.quantity,
    prorationDate: params.prorationDate,
    endTrial: params.endTrial,
    planTrialEnd: params.trialEnd,
    discounts: promotion === null ? withoutCode : [toDiscountParam(promotion)],
    scheduledPlanId: membership.nextPlanId ?? undefined,
    announcedCents: dueCents,
    ...later,
    // A trial costs nothing, so its tax is none.
    ...(!params.endTrial && !isTaxed(catalogue, subscription) && { switchesTaxOn: true }),
    ...(isDebit(membership.card) && {
      byDebit: true,
      ...(params.endTrial && { trialEnd: subscription.trial_end ?? undefined }),
    }),
    beganAt: now(),
  };
}
