import { checkoutTitle } from '../../../views/billing/checkout-steps.tsx';
import { TrialStepPage } from '../../../views/billing/trial-step-page.tsx';
import { formatAmount, formatDate } from '../../../views/format.ts';
import { type Catalogue, findGiven } from '../catalogue/catalogue.ts';
import { hasBegun } from '../subscription/changeable-subscription.ts';
import type { Membership } from '../subscription/membership.ts';
import { trialUntil } from '../subscription/membership-state.ts';
import type { Checkout, CheckoutRequest, PageRetry } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { giftPath } from './checkout-flow.ts';
import type { TextContext } from './plan-view.ts';

/** The running trial of a user; `untilMs` is undefined while Stripe has not answered yet. */
type RunningTrial = { untilMs: number | undefined };

/** The end of the user's trial, if it is running. */
export function runningTrialUntil(membership: Membership | undefined, nowMs: number): number | undefined {
  const until = membership ? trialUntil(membership) : null;
  return until !== null && until > nowMs ? until : undefined;
}

/** The name of a trial that ends when a plan begins, and that the user knows of: a gift stands in its place. */
export const findEndedTrial = (
  membership: Membership | undefined,
  catalogue: Catalogue,
  nowMs: number,
): string | undefined =>
  membership !== undefined &&
  runningTrialUntil(membership, nowMs) !== undefined &&
  findGiven(membership, catalogue, nowMs) === undefined
    ? catalogue.trial.name
    : undefined;

/** Says that a plan begins today in place of a running trial, or beside a gift; undefined: there is neither. */
export function toRunningLead(
  { lang, t }: TextContext,
  { catalogue, membership }: { catalogue: Catalogue; membership: Membership | undefined },
  nowMs: number,
): string | undefined {
  const gift = membership && findGiven(membership, catalogue, nowMs);
  if (gift) return t('checkout.gift.beside', { plan: gift.plan.name, date: formatDate(lang, gift.until) });
  const until = runningTrialUntil(membership, nowMs);
  return until === undefined
    ? undefined
    : t('checkout.trialLead', { name: catalogue.trial.name, date: formatDate(lang, until) });
}

/**
 * The trial that the step PLAN shows instead of a plan: neither the user nor the address has named one. Undefined: the
 * step shows a plan.
 */
export function trialInStep(
  { flow, user, isChosen }: Pick<Checkout, 'flow' | 'user' | 'isChosen'>,
  membership: Membership | undefined,
  nowMs: number,
): RunningTrial | undefined {
  if (isChosen || flow.kind === 'purchase' || user.planId !== null) return undefined;
  const untilMs = runningTrialUntil(membership, nowMs);
  // Without a subscription the trial is on its way: a task creates it.
  return untilMs === undefined && membership && hasBegun(membership) ? undefined : { untilMs };
}

/** Renders the step PLAN with the trial. */
export async function renderTrialStep(
  r: CheckoutRequest,
  deps: CheckoutDeps,
  { untilMs, status, notice }: RunningTrial & Partial<Pick<PageRetry, 'status' | 'notice'>>,
): Promise<void> {
  const { flow, user } = r.checkout;
  const { trial, currency, gifts } = deps.membership.catalogue;
  const { authorization, search } = flow.continuation;
  const waiting = authorization === undefined ? undefined : await deps.findPendingAuthorization(r.req, authorization);
  r.render(
    TrialStepPage,
    {
      steps: flow.kind,
      trial: {
        name: trial.name,
        features: trial.features(r.lang),
        until: untilMs === undefined ? undefined : formatDate(r.lang, untilMs),
      },
      due: formatAmount(r.lang, 0, { currency }),
      continueHref: flow.cancelUrl(user),
      changeHref: flow.changePlan,
      ...(gifts && { giftHref: giftPath + search }),
      ...(waiting && { clientName: waiting.clientName }),
      ...(notice && { notice }),
      ...(status === 503 && { retryHref: flow.summary }),
    },
    { title: (ctx) => checkoutTitle(ctx, flow.kind), address: flow.summary, status, search },
  );
}
