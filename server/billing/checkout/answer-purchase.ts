import type { PurchaseResult } from '../results.ts';
import { isPaused } from '../subscription/membership.ts';
import type { Checkout, CheckoutRequest } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { renewalNotice, tooManyText } from './checkout-texts.ts';
import { renderPaymentPage } from './payment-handlers.ts';
import type { Rerender } from './run-or-rerender.ts';

/** The page that settles a failed invoice, and explains a pause. */
const unpaidAddress = '/settings/membership';

/**
 * Nothing is sold while a renewal is unpaid or the subscription is paused: the announced amount would never be charged.
 */
export async function unpaidInvoiceUrl(
  { membership }: Pick<CheckoutDeps, 'membership'>,
  { user, plan, deal }: Checkout,
): Promise<string | undefined> {
  if (deal || plan.kind !== 'paid' || plan.id === user.planId) return undefined;
  const currentMembership = await membership.getMembership(user.id);
  return currentMembership && (currentMembership.unpaid || isPaused(currentMembership)) ? unpaidAddress : undefined;
}

/** The page for a user with a paused subscription: plans cannot be chosen until it is resumed or ends. */
export async function pausedFirst(
  { membership }: Pick<CheckoutDeps, 'membership'>,
  { id }: Checkout['user'],
): Promise<string | undefined> {
  const currentMembership = await membership.getMembership(id);
  return currentMembership && isPaused(currentMembership) ? unpaidAddress : undefined;
}

/** Answers each result of a confirmation. @param rerender the page whose form was sent */
export async function answerPurchase(
  r: CheckoutRequest,
  deps: CheckoutDeps,
  { confirmed, rerender }: { confirmed: PurchaseResult; rerender: Rerender },
): Promise<unknown> {
  const { t } = r;
  const { flow, user } = r.checkout;
  switch (confirmed.kind) {
    case 'paid':
    case 'scheduled':
      return r.redirect(flow.doneUrl(confirmed.plan, user));
    case 'no-change':
      return r.redirect(confirmed.plan ? flow.doneUrl(confirmed.plan, user) : flow.summary);
    case 'no-card':
      return r.redirect(flow.addPayment);
    case 'unpaid-first':
    case 'paused':
      return r.redirect(unpaidAddress);
    case 'action': {
      const { clientSecret, amountCents } = confirmed;
      return renderPaymentPage(r, deps, { status: 200, action: { clientSecret, amountCents } });
    }
    case 'declined':
      return renderPaymentPage(r, deps, { status: 402, problem: { text: confirmed.message } });
    case 'changed': {
      const notice = { kind: 'info', text: t('checkout.changed'), duration: 'never' } as const;
      return rerender({ status: 409, notice, quote: confirmed.quote });
    }
    case 'renewing':
      return rerender({ status: 409, notice: renewalNotice(r, confirmed.renewal) });
    case 'too-many': {
      r.setRetryAfter(confirmed.retryAfterMs);
      const text = tooManyText(t, confirmed.retryAfterMs);
      return rerender({ status: 429, notice: { kind: 'error', text, duration: 'never' } });
    }
  }
}
