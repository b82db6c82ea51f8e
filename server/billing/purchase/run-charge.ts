import { setTimeout as sleep } from 'node:timers/promises';
import type Stripe from 'stripe';
import type { UserId } from '../../shared/index.ts';
import { findPlan, type Plan, planAfterYear } from '../catalogue/catalogue.ts';
import { atAnnouncedPrices, readAnnouncedPrices } from '../catalogue/prices.ts';
import type { BillingDeps } from '../deps.ts';
import { addBillingTask, announcedSeats, completeTask, type LaterChange } from '../jobs/task-store.ts';
import { findOrderByInvoice } from '../orders/order-store.ts';
import { type PurchaseResult, StripeUnavailableError } from '../results.ts';
import { callStripe, orNotFound, switchTaxOff } from '../stripe/stripe-client.ts';
import type { Decline } from '../stripe/stripe-objects.ts';
import { priceState, readSubscription } from '../subscription/changeable-subscription.ts';
import type { Membership } from '../subscription/membership.ts';
import { scheduleAgain, scheduleChange } from '../subscription/scheduled-change.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import type { Charge } from './charge.ts';
import {
  type ChargeFacts,
  type ChargeState,
  type PurchaseState,
  type ReadState,
  transition,
} from './purchase-state.ts';
import { changePurchase, findOpenPurchase, type StoredPurchase } from './purchase-store.ts';
import { findChargePlace, payInvoice, readChargeFacts, sendCharge, voidInvoice } from './stripe-charge.ts';

/** A payment whose request is stored, with its subscription as it was just read. */
interface ChargeRun {
  purchase: StoredPurchase & { charge: Charge };
  subscription: Stripe.Subscription;
  /** Read before in this act: nothing has changed since. */
  facts?: ChargeFacts;
}

/** The user wants to pay: the request may be sent, or a declined one paid, once. */
interface Retry {
  /** The card that is charged now. */
  cardId: string | undefined;
}

/** A state that waits for the user, or in which the charge has ended. */
type SettledState = Extract<
  PurchaseState,
  { kind: 'open' | 'charging' | 'paid' | 'action-required' | 'declined' | 'processing' | 'ending' }
>;

/** `reopened`: nothing was charged, and the purchase is open again. */
export type SettleResult =
  | Extract<PurchaseResult, { kind: 'paid' | 'action' | 'declined' | 'processing' }>
  | { kind: 'reopened' };

/** @param subscription as it was read in this act; without it, it is read @throws {StripeUnavailableError} */
export async function startRun(
  deps: BillingDeps,
  purchase: StoredPurchase,
  subscription?: Stripe.Subscription,
): Promise<ChargeRun> {
  const { charge } = purchase;
  if (charge === null) throw new Error(`the purchase ${purchase.id} is being charged without a charge`);
  return {
    purchase: { ...purchase, charge },
    subscription:
      subscription?.id === charge.subscriptionId ? subscription : await readSubscription(deps, charge.subscriptionId),
  };
}

const pollIntervalMs = 300;
const maxPolls = 15;

/** The payment has succeeded; Stripe needs moments to update the subscription. */
async function waitForChange(deps: BillingDeps, charge: Charge): Promise<Stripe.Subscription> {
  for (let looks = 0; looks < maxPolls; looks += 1) {
    const subscription = await readSubscription(deps, charge.subscriptionId);
    if (priceState(subscription, charge) === 'applied') return subscription;
    await sleep(pollIntervalMs);
  }
  throw new StripeUnavailableError('a payment went through, and Stripe has not changed the subscription yet');
}

/** Carries a state out at Stripe. @returns the subscription afterwards */
async function carryOut(
  deps: BillingDeps,
  state: Extract<ChargeState, { kind: 'paying' | 'applying' }>,
  retry: Retry | undefined,
): Promise<Stripe.Subscription> {
  if (state.kind === 'applying') return waitForChange(deps, state.charge);
  if (retry?.cardId !== undefined) await payInvoice(deps, state.invoiceId, retry.cardId);
  return readSubscription(deps, state.charge.subscriptionId);
}

/**
 * Drives a charge until it waits for the user or has ended: sends the stored request, unless that was done; pays a
 * declined invoice again, if the user wants that. Stores nothing.
 * @throws {StripeUnavailableError}
 */
export async function runCharge(deps: BillingDeps, run: ChargeRun, retry?: Retry): Promise<SettledState> {
  const { purchase } = run;
  let { subscription, facts } = run;
  let retries = retry !== undefined;
  let state: ChargeState = { kind: 'charging', charge: purchase.charge };
  for (;;) {
    facts ??= await readChargeFacts(deps, subscription, purchase.charge);
    const next: ReadState = transition(state, { kind: 'stripe-read', facts, retries });
    if (next.kind === 'sending') {
      const sent = await sendCharge(deps, purchase, subscription);
      if (sent === 'refused') return transition(next, { kind: 'stripe-refused' });
      subscription = sent;
    } else if (next.kind === 'paying' || next.kind === 'applying') {
      subscription = await carryOut(deps, next, retry);
    } else {
      return next;
    }
    // Once: after that, nothing is sent or paid again.
    retries = false;
    facts = undefined;
    state = next;
  }
}

/** Nothing was or will be charged: the user may start again, and a change that was replaced is scheduled anew. */
async function reopenPurchase(
  deps: BillingDeps,
  purchase: ChargeRun['purchase'],
  { dropsPromotion }: Extract<PurchaseState, { kind: 'open' }>,
): Promise<SettleResult> {
  const { charge } = purchase;
  if (charge.switchesTaxOn) await switchTaxOff(deps, charge.subscriptionId);
  const { scheduledPlanId, scheduledPriceId: priceId, scheduledPrices } = charge;
  const scheduled = findPlan(deps.catalogue, scheduledPlanId, announcedSeats(scheduledPrices ?? [], scheduledPlanId));
  if (scheduled) {
    const prices = scheduledPrices ?? (priceId === undefined ? [] : [{ planId: scheduled.id, priceId }]);
    const membership = await syncMember(deps, purchase.userId);
    await atAnnouncedPrices(deps, prices, (own) => scheduleAgain(own, membership, scheduled));
  }
  await changePurchase(deps, purchase, { state: 'open', charge: null, ...(dropsPromotion && { promotion: null }) });
  await syncMember(deps, purchase.userId);
  return { kind: 'reopened' };
}

/**
 * A yearly plan goes on as the monthly one: written down before Stripe is asked, because the purchase is paid already. If
 * Stripe does not answer, the minute job does it.
 */
async function continueByMonth(
  deps: BillingDeps,
  membership: Membership,
  { plan, announcedPriceId: priceId }: { plan: Plan; announcedPriceId: string | undefined },
): Promise<void> {
  const { database, log, now } = deps;
  const { userId, customerId } = membership;
  // Charges of earlier releases name none.
  const prices =
    priceId === undefined ? await readAnnouncedPrices(deps.prices, [plan]) : [{ planId: plan.id, priceId }];
  const change: LaterChange = { prices, byUser: false };
  const detail = JSON.stringify(change);
  const task = await database.transaction((trx) =>
    addBillingTask(trx, { kind: 'change-later', userId, customerId, planId: plan.id, detail }, now()),
  );
  try {
    await atAnnouncedPrices(deps, prices, async (own) => void (await scheduleChange(own, membership, plan)));
    await completeTask(database.db, task.id);
  } catch (error) {
    log.warn({ err: error, act: 'after-year', member: userId }, 'Stripe task failed, will be retried');
  }
}

/** The plan after the paid period: the bought one, or the monthly one after a year. */
async function goOn(deps: BillingDeps, after: Membership, { planId, charge }: StoredPurchase): Promise<void> {
  // A debit has begun days ago, and its user may have cancelled meanwhile.
  if (after.cancelAtPeriodEnd && charge?.byDebit) return;
  const following = planAfterYear(deps.catalogue, deps.catalogue.byId(planId));
  if (following) {
    await continueByMonth(deps, after, { plan: following, announcedPriceId: charge?.followingPriceId });
  } else if (after.cancelAtPeriodEnd) await scheduleChange(deps, after, null);
}

async function completePurchase(
  deps: BillingDeps,
  purchase: StoredPurchase,
  { invoiceId }: Extract<PurchaseState, { kind: 'paid' }>,
): Promise<SettleResult> {
  const { db } = deps.database;
  const after = await syncMember(deps, purchase.userId);
  // A schedule that was released for the purchase has left its end. A late request must not revive a plan that the user
  // has cancelled since.
  const isUnderWay = (await findOpenPurchase(db, purchase.userId))?.id === purchase.id;
  if (after && isUnderWay) await goOn(deps, after, purchase);
  await changePurchase(deps, purchase, { state: 'paid', invoiceId });
  const order = invoiceId === null ? undefined : await findOrderByInvoice(db, invoiceId);
  return { kind: 'paid', plan: requirePlan(deps, purchase), order };
}

function requirePlan({ catalogue }: BillingDeps, { planId, seats }: StoredPurchase) {
  const plan = findPlan(catalogue, planId, seats);
  if (!plan) throw new Error(`the plan ${planId} has left the catalogue while it was being bought`);
  return plan;
}

const toDeclined = (deps: BillingDeps, purchase: StoredPurchase, { message, reason }: Decline) =>
  ({ kind: 'declined', message, reason, plan: requirePlan(deps, purchase) }) as const;

/** A refused debit: the subscription would renew unnoticed, so it ends. Its invoice is voided by the read that follows. */
async function endPurchase(
  deps: BillingDeps,
  purchase: ChargeRun['purchase'],
  state: Extract<PurchaseState, { kind: 'ending' }>,
): Promise<SettleResult> {
  await callStripe(deps.stripe, (stripe) => orNotFound(stripe.subscriptions.cancel(purchase.charge.subscriptionId)));
  await reopenPurchase(deps, purchase, transition(state, { kind: 'voided' }));
  return toDeclined(deps, purchase, state);
}

/** Stores a state and reads the user once more. @throws {StripeUnavailableError} */
export async function finishRun(
  deps: BillingDeps,
  { purchase }: Pick<ChargeRun, 'purchase'>,
  state: SettledState,
): Promise<SettleResult> {
  switch (state.kind) {
    case 'paid':
      return completePurchase(deps, purchase, state);
    case 'open':
      return reopenPurchase(deps, purchase, state);
    case 'charging':
      return { kind: 'reopened' };
    case 'action-required': {
      const { clientSecret, amountCents, charge } = state;
      await syncMember(deps, purchase.userId);
      const { laterCents } = charge;
      return { kind: 'action', clientSecret, plan: requirePlan(deps, purchase), amountCents, laterCents };
    }
    case 'processing':
      await syncMember(deps, purchase.userId);
      return { kind: 'processing', plan: requirePlan(deps, purchase), amountCents: state.amountCents };
    case 'ending':
      return endPurchase(deps, purchase, state);
    case 'declined':
      await syncMember(deps, purchase.userId);
      return toDeclined(deps, purchase, state);
  }
}

/** The state of a charge; nothing is sent or paid. @throws {StripeUnavailableError} */
export async function settleCharge(deps: BillingDeps, purchase: StoredPurchase): Promise<SettleResult> {
  const run = await startRun(deps, purchase);
  return finishRun(deps, run, await runCharge(deps, run));
}

/**
 * The user changes their mind: a change that waits for its payment is dropped with its invoice.
 * @returns paid if it is too late; processing if a bank has the payment
 */
export async function giveUpCharge(
  deps: BillingDeps,
  purchase: StoredPurchase,
): Promise<'off' | 'paid' | 'processing'> {
  const run = await startRun(deps, purchase);
  const { charge } = run.purchase;
  const place = charge.byDebit
    ? await readChargeFacts(deps, run.subscription, charge)
    : findChargePlace(deps, run.subscription, charge);
  const state = transition({ kind: 'charging', charge }, { kind: 'given-up', place });
  if (state.kind !== 'withdrawing') {
    await finishRun(deps, run, state);
    return state.kind === 'paid' || state.kind === 'processing' ? state.kind : 'off';
  }
  if (await voidInvoice(deps, state.invoiceId)) {
    await finishRun(deps, run, transition(state, { kind: 'voided' }));
    return 'off';
  }
  // It has just been paid.
  const settled = await settleCharge(deps, purchase);
  if (settled.kind !== 'paid')
    throw new StripeUnavailableError('the invoice of a payment can be neither voided nor paid');
  return 'paid';
}

/** Another action has precedence: a payment in progress is finished if it is paid by now, and dropped if not. */
export async function finishOrDropPayment(deps: BillingDeps, userId: UserId): Promise<'off' | 'paid' | 'processing'> {
  const open = await findOpenPurchase(deps.database.db, userId);
  return open?.state === 'charging' ? giveUpCharge(deps, open) : 'off';
}
