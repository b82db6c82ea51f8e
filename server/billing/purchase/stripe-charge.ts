import { setTimeout as sleep } from 'node:timers/promises';
import type Stripe from 'stripe';
import { type StripeInvoiceId, toStripeInvoiceId, type UserId } from '../../shared/index.ts';
import type { BillingDeps } from '../deps.ts';
import { findOrderByInvoice } from '../orders/order-store.ts';
import { type PurchaseResult, StripeUnavailableError } from '../results.ts';
import { codeKey, readInvoice } from '../stripe/read-stripe-snapshot.ts';
import { callStripe, toStripeRefusal } from '../stripe/stripe-client.ts';
import { toId } from '../stripe/stripe-objects.ts';
import { priceState, readSubscription } from '../subscription/changeable-subscription.ts';
import { findMembership } from '../subscription/membership-store.ts';
import { releaseForUpgrade, scheduleAgain, scheduleChange } from '../subscription/scheduled-change.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import type { Charge } from './charge.ts';
import { changePurchase, findOpenPurchase, type StoredPurchase } from './purchase-store.ts';
import { toStripeParams } from './quote.ts';
import { restoreDiscounts } from './restore-discounts.ts';

/**
 * The charge of a purchase: the parameters that were stored before the call to Stripe (`Charge`) are sent with one
 * idempotency key, so that a repetition after a lost answer, a crash or a second click has the same single effect.
 */

type ChargingPurchase = StoredPurchase & { charge: Charge };

/** After this time no request can be in progress, and the announced amounts may have changed. */
const staleMs = 30 * 60_000;

const chargeIdempotencyKey = ({ id, attempt }: StoredPurchase, act: string) => `foyer:purchase:${id}:${attempt}:${act}`;

/** The result or state of a charge. `void`: nothing was charged, and the purchase is open again. */
export type SettleResult =
  | Exclude<PurchaseResult, { kind: 'changed' | 'no-card' | 'unpaid-first' | 'paused' | 'scheduled' | 'no-change' }>
  | { kind: 'reopened' };

/** The discounts first: a pending update cannot include them. */
async function applyDiscounts(deps: BillingDeps, purchase: ChargingPurchase): Promise<void> {
  const { charge } = purchase;
  const { discounts } = charge;
  if (discounts === null) return;
  await callStripe(deps.stripe, (stripe) =>
    stripe.subscriptions.update(
      charge.subscriptionId,
      {
        discounts: discounts.length === 0 ? '' : discounts,
        ...(charge.code !== undefined && { metadata: { [codeKey]: charge.code } }),
      },
      { idempotencyKey: chargeIdempotencyKey(purchase, 'discounts') },
    ),
  );
}

async function changeSubscription(deps: BillingDeps, purchase: ChargingPurchase): Promise<Stripe.Subscription> {
  const { charge } = purchase;
  await releaseForUpgrade(deps, charge.subscriptionId);
  await applyDiscounts(deps, purchase);
  return callStripe(deps.stripe, (stripe) =>
    stripe.subscriptions.update(
      charge.subscriptionId,
      {
        ...toStripeParams({
          items: [{ id: charge.itemId, price: charge.priceId }],
          endTrial: charge.endTrial,
          prorationDate: charge.prorationDate,
        }),
        payment_behavior: 'pending_if_incomplete',
      },
      { idempotencyKey: chargeIdempotencyKey(purchase, 'change') },
    ),
  );
}

/**
 * Nothing was or will be charged: the user may start again; the discounts of the attempt are removed, and the change
 * that it replaced is scheduled anew.
 */
async function reopenPurchase(
  deps: BillingDeps,
  purchase: ChargingPurchase,
  keepPromotion: boolean,
): Promise<SettleResult> {
  const { subscriptionId, discountsBefore, couponBefore, scheduledPlanId } = purchase.charge;
  // A schedule was there before the discounts of the attempt, or is there again after them.
  if (discountsBefore !== null && (await readSubscription(deps, subscriptionId)).schedule === null)
    await restoreDiscounts(deps, subscriptionId, discountsBefore, couponBefore);
  const scheduled = deps.catalogue.byId(scheduledPlanId);
  if (scheduled) await scheduleAgain(deps, await syncMember(deps, purchase.userId), scheduled);
  const change = { state: 'open', charge: null, ...(!keepPromotion && { promotion: null }) } as const;
  await changePurchase(deps.database.db, purchase, change, deps.now());
  await syncMember(deps, purchase.userId);
  return { kind: 'reopened' };
}

/** Tries again with the user's present card. */
async function retryInvoice(deps: BillingDeps, purchase: ChargingPurchase, invoice: Stripe.Invoice): Promise<void> {
  const card = (await findMembership(deps.database.db, purchase.userId))?.card;
  if (!card) return;
  try {
    await callStripe(deps.stripe, (stripe) =>
      // Without an idempotency key: Stripe pays an invoice once however often the call is repeated, and the attempts of
      // a user have no number that could distinguish them.
      stripe.invoices.pay(invoice.id, { payment_method: card.paymentMethodId, off_session: false }),
    );
  } catch (error) {
    // Declined, or paid meanwhile: the state is read again.
    if (!toStripeRefusal(error)) throw error;
  }
}

async function completePurchase(
  deps: BillingDeps,
  purchase: ChargingPurchase,
  invoiceId: StripeInvoiceId | null,
): Promise<SettleResult> {
  const plan = deps.catalogue.byId(purchase.planId);
  if (!plan) throw new Error(`the plan ${purchase.planId} has left the catalogue while it was being bought`);
  const after = await syncMember(deps, purchase.userId);
  // A purchase cancels a scheduled end of the earlier plan. A late request must not revive a plan that the user has
  // cancelled since.
  const isUnderWay = (await findOpenPurchase(deps.database.db, purchase.userId))?.id === purchase.id;
  if (after?.cancelAtPeriodEnd && isUnderWay) await scheduleChange(deps, after, null);
  await changePurchase(deps.database.db, purchase, { state: 'paid', invoiceId }, deps.now());
  const order = invoiceId === null ? undefined : await findOrderByInvoice(deps.database.db, invoiceId);
  return { kind: 'paid', plan, order };
}

const pollIntervalMs = 300;
const maxPolls = 15;

/** The payment has succeeded; Stripe needs moments to update the subscription. */
async function waitForPaidChange(deps: BillingDeps, purchase: ChargingPurchase): Promise<SettleResult> {
  const { subscriptionId, priceId } = purchase.charge;
  for (let looks = 0; looks < maxPolls; looks += 1) {
    const subscription = await readSubscription(deps, subscriptionId);
    const { latest_invoice: latest } = subscription;
    if (priceState(subscription, priceId) === 'applied')
      return completePurchase(deps, purchase, latest ? toStripeInvoiceId(toId(latest)) : null);
    await sleep(pollIntervalMs);
  }
  throw new StripeUnavailableError('a payment went through, and Stripe has not changed the subscription yet');
}

/** The state of the invoice of a pending update. */
async function checkPendingInvoice(
  deps: BillingDeps,
  purchase: ChargingPurchase,
  subscription: Stripe.Subscription,
  retry: boolean,
): Promise<SettleResult> {
  const plan = deps.catalogue.byId(purchase.planId);
  const { latest_invoice: latest } = subscription;
  if (!plan || !latest) throw new Error('a change that waits for its payment has no invoice or no plan');
  const { invoice, payment } = await readInvoice(deps.stripe, toStripeInvoiceId(toId(latest)));
  if (invoice.status === 'paid' || payment?.status === 'succeeded' || payment?.status === 'processing') {
    return waitForPaidChange(deps, purchase);
  }
  // Voided by another change, while the user still answers about the earlier one.
  if (invoice.status === 'void') return reopenPurchase(deps, purchase, true);
  if (payment?.status === 'requires_action') {
    const clientSecret = invoice.confirmation_secret?.client_secret ?? payment.client_secret;
    if (!clientSecret) throw new Error('a payment that waits for the member has no secret');
    await syncMember(deps, purchase.userId);
    return { kind: 'action', clientSecret, plan, amountCents: invoice.amount_remaining };
  }
  if (retry) {
    await retryInvoice(deps, purchase, invoice);
    return settleCharge(deps, purchase, { retry: false });
  }
  await syncMember(deps, purchase.userId);
  return { kind: 'declined', message: payment?.last_payment_error?.message ?? '', plan };
}

/**
 * Completes a purchase that is being charged: sends the stored request to Stripe, unless that was done; pays a declined
 * invoice again, if the user wants that; and finishes the purchase when it is paid.
 * @throws {StripeUnavailableError}
 */
export async function settleCharge(
  deps: BillingDeps,
  purchase: StoredPurchase,
  { retry }: { retry: boolean },
): Promise<SettleResult> {
  const { charge } = purchase;
  if (charge === null) throw new Error(`the purchase ${purchase.id} is being charged without a charge`);
  const charging: ChargingPurchase = { ...purchase, charge };
  let subscription = await readSubscription(deps, charge.subscriptionId);
  let has = priceState(subscription, charge.priceId);
  let requested = false;
  if (has === 'no') {
    const over = deps.now() - charge.beganAt > staleMs || subscription.status === 'canceled';
    if (over || !retry) return over ? reopenPurchase(deps, charging, true) : { kind: 'reopened' };
    try {
      subscription = await changeSubscription(deps, charging);
    } catch (error) {
      const refusal = toStripeRefusal(error);
      if (!refusal) throw error;
      deps.log.warn({ act: 'purchase', outcome: refusal.code ?? refusal.type }, 'purchase refused by Stripe');
      // For example a code that was used up a moment ago: the page shows the amount without it.
      if (refusal.type !== 'StripeCardError') return reopenPurchase(deps, charging, false);
      subscription = await readSubscription(deps, charge.subscriptionId);
    }
    requested = true;
    has = priceState(subscription, charge.priceId);
  }
  if (has === 'applied') {
    const { latest_invoice: latest } = subscription;
    return completePurchase(deps, charging, latest ? toStripeInvoiceId(toId(latest)) : null);
  }
  if (has === 'pending') return checkPendingInvoice(deps, charging, subscription, retry && !requested);
  return reopenPurchase(deps, charging, true);
}

/**
 * The user changes their mind: cancels a pending update.
 * @returns paid if it is too late
 */
export async function cancelCharge(deps: BillingDeps, purchase: StoredPurchase): Promise<'off' | 'paid'> {
  const { charge } = purchase;
  if (charge === null) return 'off';
  const charging: ChargingPurchase = { ...purchase, charge };
  const subscription = await readSubscription(deps, charge.subscriptionId);
  const has = priceState(subscription, charge.priceId);
  if (has === 'applied') {
    await settleCharge(deps, purchase, { retry: false });
    return 'paid';
  }
  if (has === 'pending' && subscription.latest_invoice) {
    const invoiceId = toId(subscription.latest_invoice);
    try {
      await callStripe(deps.stripe, (stripe) => stripe.invoices.voidInvoice(invoiceId));
    } catch (error) {
      if (!toStripeRefusal(error)) throw error;
      const settled = await settleCharge(deps, purchase, { retry: false });
      if (settled.kind === 'paid') return 'paid';
      throw error;
    }
  }
  await reopenPurchase(deps, charging, true);
  return 'off';
}

/** Another action has precedence: a payment in progress is finished if it is paid by now, and cancelled if not. */
export async function finishOrCancelPayment(deps: BillingDeps, userId: UserId): Promise<'off' | 'paid'> {
  const open = await findOpenPurchase(deps.database.db, userId);
  return open?.state === 'charging' ? cancelCharge(deps, open) : 'off';
}
