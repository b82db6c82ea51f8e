import type { Request, Response } from 'express';
import { setRetryAfter } from '../../http/index.ts';
import type { PurchaseResult, Quote } from '../results.ts';
import { isPaused } from '../subscription/membership.ts';
import type { CheckoutContext } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { type PageNotice, type StripeAction, tooManyText, unavailableNotice } from './checkout-texts.ts';
import { renderPaymentPage } from './payment-handlers.ts';
import { runOrRerender } from './run-or-rerender.ts';

/** How a page is rendered again. */
export interface PageRetry {
  status: number;
  notice?: PageNotice;
  /** The current amount, if it is already known. */
  quote?: Quote;
}

export type Rerender = (repeated: PageRetry) => unknown;

/** The page that settles a failed invoice, and explains a pause. */
const unpaidAddress = '/settings/membership';

/**
 * Nothing is sold while a renewal is unpaid or the subscription is paused: the announced amount would never be charged.
 */
export async function unpaidInvoiceUrl(
  { membership }: Pick<CheckoutDeps, 'membership'>,
  { user, plan, deal }: CheckoutContext,
): Promise<string | undefined> {
  if (deal || plan.kind !== 'paid' || plan.id === user.planId) return undefined;
  const currentMembership = await membership.getMembership(user.id);
  return currentMembership && (currentMembership.unpaid || isPaused(currentMembership)) ? unpaidAddress : undefined;
}

/** The page for a user with a paused subscription: plans cannot be chosen until it is resumed or ends. */
export async function pausedFirst(
  { membership }: Pick<CheckoutDeps, 'membership'>,
  { id }: CheckoutContext['user'],
): Promise<string | undefined> {
  const currentMembership = await membership.getMembership(id);
  return currentMembership && isPaused(currentMembership) ? unpaidAddress : undefined;
}

/** Answers each result of a confirmation. @param repeated the page whose form was sent */
export async function answerPurchase(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  context: CheckoutContext,
  confirmed: PurchaseResult,
  repeated: Rerender,
): Promise<unknown> {
  const { flow, user } = context;
  const { t } = req;
  switch (confirmed.kind) {
    case 'paid':
    case 'scheduled':
      return res.redirect(303, flow.doneUrl(confirmed.plan, user));
    case 'no-change':
      return res.redirect(303, confirmed.plan ? flow.doneUrl(confirmed.plan, user) : flow.summary);
    case 'no-card':
      return res.redirect(303, flow.addPayment);
    case 'unpaid-first':
    case 'paused':
      return res.redirect(303, unpaidAddress);
    case 'action': {
      const { clientSecret, amountCents } = confirmed;
      return renderPaymentPage(deps, req, res, context, { status: 200, action: { clientSecret, amountCents } });
    }
    case 'declined':
      return renderPaymentPage(deps, req, res, context, { status: 402, problem: { text: confirmed.message } });
    case 'changed': {
      const notice = { kind: 'info', text: t('checkout.changed'), duration: 'never' } as const;
      return repeated({ status: 409, notice, quote: confirmed.quote });
    }
    case 'too-many': {
      setRetryAfter(res, confirmed.retryAfterMs);
      const text = tooManyText(t, confirmed.retryAfterMs);
      return repeated({ status: 429, notice: { kind: 'error', text, duration: 'never' } });
    }
  }
}

/**
 * Runs an action that needs Stripe; if Stripe is unavailable, renders the page again with the message for that action.
 * @returns undefined if the page was rendered
 */
export function runWithStripe<R>(
  { log }: Pick<CheckoutDeps, 'log'>,
  req: Request,
  res: Response,
  { act, rerender: rerenderWith }: { act: StripeAction; rerender: Rerender },
  work: () => Promise<R>,
): Promise<{ value: R } | undefined> {
  const rerender = () => rerenderWith({ status: 503, notice: unavailableNotice(req.t, act) });
  return runOrRerender({ log }, res, `checkout: ${act}`, rerender, work);
}
