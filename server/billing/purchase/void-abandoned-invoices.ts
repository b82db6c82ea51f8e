import type { BillingDeps } from '../deps.ts';
import type { StripeSnapshot } from '../stripe/read-stripe-snapshot.ts';
import { callStripe, toStripeRefusal } from '../stripe/stripe-client.ts';
import { isEnded, toId, toSubscriptionId, toSubscriptionStatus } from '../stripe/stripe-objects.ts';

/**
 * When Stripe gives up a renewal it ends the subscription and leaves the invoice open: its page would accept money for
 * an ended plan. Failures are tried again at the next read.
 * @returns the number of voided invoices
 */
export async function voidAbandonedInvoices(
  { stripe, log }: Pick<BillingDeps, 'stripe' | 'log'>,
  facts: StripeSnapshot,
) {
  const over = new Set(facts.subscriptions.filter((one) => isEnded(toSubscriptionStatus(one))).map((one) => toId(one)));
  const left = facts.invoices.filter((one) => one.status === 'open' && over.has(toSubscriptionId(one) ?? ''));
  let voided = 0;
  for (const { id } of left) {
    try {
      await callStripe(stripe, (client) => client.invoices.voidInvoice(id));
      voided += 1;
    } catch (error) {
      // It has just been paid, or is already void.
      const level = toStripeRefusal(error) ? 'info' : 'warn';
      log[level]({ err: error, act: 'leftover', invoice: id }, 'an invoice of a subscription that is over stays open');
    }
  }
  return voided;
}
