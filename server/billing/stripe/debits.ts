import type Stripe from 'stripe';
import { toPlanId, toStripeInvoiceId } from '../../shared/index.ts';
import { type Membership, type PendingChange, trialPlanKey } from '../subscription/membership.ts';
import type { Snapshot } from '../subscription/membership-store.ts';
import { planTrialKey } from '../subscription/plan-trial-rules.ts';
import { hasSoldLines, toSubscriptionId } from './stripe-invoices.ts';
import { isEnded, toId, toMs, toSubscriptionStatus } from './stripe-objects.ts';

/** The metadata key of a subscription with the end of the trial that a debit has replaced, in seconds. */
export const trialEndKey = 'foyer_trial_end';

/** Stripe waits for a bank at most this long. */
const longestWaitMs = 30 * 24 * 60 * 60_000;

/** An open invoice for which a bank has a debit, or has refused one. */
interface DebitedInvoice {
  invoice: Stripe.Invoice;
  payment: Stripe.PaymentIntent | undefined;
}

/** Tests for the first sale of a subscription: only a debit changes the price before its payment. */
const isFirstSale = (
  { id, pending_update: change, metadata }: Stripe.Subscription,
  invoices: readonly Stripe.Invoice[],
): boolean =>
  !change &&
  !isUnpaidTrial({ metadata }, invoices) &&
  !invoices.some((one) => one.status === 'paid' && toSubscriptionId(one) === id && hasSoldLines(one));

/** The invoice of a running subscription that may wait for a bank: tried, and not paid yet. */
export function findTriedInvoice(
  subscriptions: readonly Stripe.Subscription[],
  invoices: readonly Stripe.Invoice[],
): Stripe.Invoice | undefined {
  const latest = new Set(
    subscriptions.flatMap(({ latest_invoice: invoice, pending_update: change, ...one }) =>
      invoice && !change && !isEnded(toSubscriptionStatus(one)) ? [toId(invoice)] : [],
    ),
  );
  return invoices.find((one) => latest.has(one.id) && one.status === 'open' && one.attempted && hasSoldLines(one));
}

/** A debit of this subscription that has not paid its invoice; null: none. */
export function toPendingDebit(
  subscription: Stripe.Subscription,
  { invoices, debited }: { invoices: readonly Stripe.Invoice[]; debited?: DebitedInvoice | undefined },
  planId: PendingChange['planId'] | null,
): PendingChange | null {
  if (!debited || planId === null || toSubscriptionId(debited.invoice) !== subscription.id) return null;
  const { invoice, payment } = debited;
  const isPurchase = isFirstSale(subscription, invoices);
  const isUnderWay = payment?.status === 'processing';
  if (!isPurchase && !isUnderWay) return null;
  return {
    planId,
    invoiceId: toStripeInvoiceId(invoice.id),
    amountCents: invoice.amount_remaining,
    expiresAt: toMs(invoice.created) + longestWaitMs,
    debit: isPurchase ? 'purchase' : 'renewal',
    ...(!isUnderWay && { failed: true }),
  };
}

/** Until a first purchase is paid by its debit nothing has changed for the user: a trial goes on. */
export function asBeforePurchase(snapshot: Snapshot, { metadata }: Stripe.Subscription): Snapshot {
  if (snapshot.pending?.debit !== 'purchase') return snapshot;
  const trialEnd = metadata[trialEndKey];
  return {
    ...snapshot,
    status: trialEnd === undefined ? 'active' : 'trialing',
    trialEnd: trialEnd === undefined ? null : toMs(Number(trialEnd)),
    pricedPlanId: trialPlanKey,
    paidPlanId: null,
    paidUntil: null,
    nextPlanId: null,
    nextSeats: null,
    seats: null,
    unpaid: null,
    unpaidSince: null,
  };
}

/** The trial of a paid plan; when it is over, or another plan has followed, its end stays. */
export function readPlanTrial(
  { triedUntil }: Pick<Membership, 'triedUntil'>,
  { metadata, trial_end: end }: Pick<Stripe.Subscription, 'metadata' | 'trial_end'>,
): Pick<Snapshot, 'triedPlanId' | 'triedUntil'> {
  const planId = metadata[planTrialKey];
  return planId && end !== null
    ? { triedPlanId: toPlanId(planId), triedUntil: toMs(end) }
    : { triedPlanId: null, triedUntil };
}

/** Tests for a subscription whose first charge follows a trial: until it is paid, nothing was paid for its plan. */
export const isUnpaidTrial = (
  { metadata }: Pick<Stripe.Subscription, 'metadata'>,
  invoices: readonly Stripe.Invoice[],
): boolean => Boolean(metadata[planTrialKey]) && !invoices.some((one) => one.status === 'paid' && hasSoldLines(one));
