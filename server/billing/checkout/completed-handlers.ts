import type { RequestHandler } from 'express';
import { createElement } from 'react';
import { CompletedPage } from '../../../views/billing/completed-page.tsx';
import { formatDate } from '../../../views/format.ts';
import type { PageContext } from '../../../views/page-context.ts';
import { continuationFrom, withContinuation } from '../../http/index.ts';
import type { PlanKey } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { Catalogue, Plan } from '../catalogue/catalogue.ts';
import type { Membership } from '../subscription/membership.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { planLine } from './plan-view.ts';
import { readPlanKey } from './read-plan.ts';

const handlePattern = /^[A-Za-z0-9._~-]{1,100}$/;

/** Tests for a completion page: the code of a plan, alone or after its own handle; of a former plan after any. */
export function isCompletionCode(catalogue: Catalogue, code: string, planKey: PlanKey | undefined): boolean {
  if (catalogue.formerCodes.has(code)) return planKey === undefined || handlePattern.test(planKey);
  const plan = catalogue.byCode(code);
  return plan !== undefined && (planKey === undefined || plan.planKey === planKey);
}

/**
 * The result for the plan. Anyone can write such an address, so it never claims a plan that the user neither has nor
 * will have.
 */
function completionText(
  { lang, t }: PageContext,
  plan: Plan,
  { planId }: User,
  membership: Membership | undefined,
): string | undefined {
  const line = planLine(t, plan);
  if (planId === plan.id) return t('checkout.completed.plan', { plan: line });
  const ends = plan.kind !== 'paid' && membership?.cancelAtPeriodEnd && membership.basePlanId === plan.id;
  const follows = membership?.nextPlanId === plan.id || ends;
  if (!follows || membership?.periodEnd == null) return undefined;
  return t('checkout.completed.later', { plan: line, date: formatDate(lang, membership.periodEnd) });
}

/**
 * GET /signup/completed/…: 'Just a moment...', and a redirect after 2 seconds; a signed-out visitor gets a link to the
 * sign-in.
 */
export function showCompleted(deps: CheckoutDeps): RequestHandler {
  return async (req, res, next) => {
    const { catalogue } = deps.membership;
    const code = String(req.params.code);
    if (!isCompletionCode(catalogue, code, readPlanKey(req))) return next('route');
    const continuation = continuationFrom(req, deps.publicUrl);
    const member = await deps.sessions.getCurrentUser(req);
    const plan = catalogue.byCode(code);
    const membership = member && plan && (await deps.membership.getMembership(member.user.id));
    deps.pages.send(
      req,
      res,
      200,
      (ctx) =>
        createElement(CompletedPage, {
          ctx: withContinuation(ctx, continuation.search),
          ...(member
            ? { continueUrl: deps.nextRedirect(member.user, continuation).address }
            : { signInHref: `/${continuation.search}` }),
          ...(member && plan && { resultText: completionText(ctx, plan, member.user, membership) }),
        }),
      { title: (ctx) => ctx.t(member ? 'checkout.completed.heading' : 'checkout.completed.signIn') },
    );
  };
}
