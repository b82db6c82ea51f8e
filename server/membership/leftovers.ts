import type { MembershipDeps } from './deps.ts';
import type { StripeFacts } from './read-stripe.ts';
import { asking, refusalOf } from './stripe.ts';
import { idOf, isOver, statusOf, subscriptionOf } from './stripe-objects.ts';

/**
 * When Stripe gives up a renewal it ends the subscription and leaves the invoice open: its page would take money for a plan
 * that nobody has any more. What is tried in vain here is tried again at the next reading.
 * @returns how many are void now
 */
export async function voidLeftovers({ stripe, log }: Pick<MembershipDeps, 'stripe' | 'log'>, facts: StripeFacts) {
  const over = new Set(facts.subscriptions.filter((one) => isOver(statusOf(one))).map((one) => idOf(one)));
  const left = facts.invoices.filter((one) => one.status === 'open' && over.has(subscriptionOf(one) ?? ''));
  let voided = 0;
  for (const { id } of left) {
    try {
      await asking(stripe, (client) => client.invoices.voidInvoice(id));
      voided += 1;
    } catch (error) {
      // Paid in this very moment, or void by now.
      const level = refusalOf(error) ? 'info' : 'warn';
      log[level]({ err: error, act: 'leftover', invoice: id }, 'an invoice of a subscription that is over stays open');
    }
  }
  return voided;
}
