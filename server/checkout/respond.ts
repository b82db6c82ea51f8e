import type { Request, Response } from 'express';
import { setRetryAfter } from '../http/index.ts';
import { type Confirmed, isPaused, type Quote } from '../membership/index.ts';
import { orShowAgain } from './away.ts';
import type { CheckoutDeps } from './deps.ts';
import type { Here } from './here.ts';
import { sendPaymentPage } from './payment-page.ts';
import { type Act, type PageNotice, tooManyTries, unavailable } from './texts.ts';

/** How a page is shown again. */
export interface Again {
  status: number;
  notice?: PageNotice;
  /** What is due now, where it is known already. */
  quote?: Quote;
}

export type ShowAgain = (again: Again) => unknown;

/** Where an invoice that could not be charged is settled, and a pause is explained. */
const unpaidAddress = '/settings/membership';

/** Nothing is sold while a renewal is not paid or the subscription is paused: the announced amount would never be charged. */
export async function unpaidFirst(
  { membership }: Pick<CheckoutDeps, 'membership'>,
  { user, plan, deal }: Here,
): Promise<string | undefined> {
  if (deal || plan.kind !== 'paid' || plan.id === user.planId) return undefined;
  const standing = await membership.standing(user.id);
  return standing && (standing.unpaid || isPaused(standing)) ? unpaidAddress : undefined;
}

/** Where a member is led who has a paused subscription: there is nothing to choose until it goes on or ends. */
export async function pausedFirst(
  { membership }: Pick<CheckoutDeps, 'membership'>,
  { id }: Here['user'],
): Promise<string | undefined> {
  const standing = await membership.standing(id);
  return standing && isPaused(standing) ? unpaidAddress : undefined;
}

/** Answers each way in which a confirmation ends. @param again the page whose form was sent */
export async function respond(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  here: Here,
  confirmed: Confirmed,
  again: ShowAgain,
): Promise<unknown> {
  const { place, user } = here;
  const { t } = req;
  switch (confirmed.kind) {
    case 'paid':
    case 'scheduled':
      return res.redirect(303, place.done(confirmed.plan, user));
    case 'nothing':
      return res.redirect(303, confirmed.plan ? place.done(confirmed.plan, user) : place.summary);
    case 'no-card':
      return res.redirect(303, place.addPayment);
    case 'unpaid-first':
    case 'paused':
      return res.redirect(303, unpaidAddress);
    case 'action': {
      const { clientSecret, amountCents } = confirmed;
      return sendPaymentPage(deps, req, res, here, { status: 200, action: { clientSecret, amountCents } });
    }
    case 'declined':
      return sendPaymentPage(deps, req, res, here, { status: 402, problem: { text: confirmed.message } });
    case 'changed': {
      const notice = { kind: 'info', text: t('checkout.changed'), duration: 'never' } as const;
      return again({ status: 409, notice, quote: confirmed.quote });
    }
    case 'too-many': {
      setRetryAfter(res, confirmed.retryAfterMs);
      const text = tooManyTries(t, confirmed.retryAfterMs);
      return again({ status: 429, notice: { kind: 'error', text, duration: 'never' } });
    }
  }
}

/**
 * Does what needs Stripe; where it does not answer, the page is shown again with the message for that act.
 * @returns undefined when the page has been shown
 */
export function unlessAway<R>(
  { log }: Pick<CheckoutDeps, 'log'>,
  req: Request,
  res: Response,
  { act, again }: { act: Act; again: ShowAgain },
  work: () => Promise<R>,
): Promise<{ value: R } | undefined> {
  const shown = () => again({ status: 503, notice: unavailable(req.t, act) });
  return orShowAgain({ log }, res, `checkout: ${act}`, shown, work);
}
