import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { PartnerDealPage } from '../../../views/billing/partner-deal-page.tsx';
import { continuationFrom, HttpError, readFormField, readQueryParam, withContinuation } from '../../http/index.ts';
import { type PlanId, toPlanId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import { requireUser } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { completionUrl } from './checkout-flow.ts';
import { hasNow, shownDeal } from './deal-shown.ts';
import { findWaitingDeal, partnerDealUrl } from './partner-deal.ts';
import { readPlanId } from './read-plan.ts';

/** The plan in the address; undefined: none. */
function namedBy(req: Request): PlanId | undefined {
  const named = typeof req.params.planId === 'string' ? req.params.planId : readQueryParam(req, 'plan');
  return named ? toPlanId(named) : undefined;
}

async function renderPartnerDeal(
  { pages, membership, publicUrl, now }: CheckoutDeps,
  req: Request,
  res: Response,
  { user, plan, ...args }: { user: User; plan: Plan | undefined; status?: number },
): Promise<void> {
  const { catalogue } = membership;
  const continuation = continuationFrom(req, publicUrl);
  const action = partnerDealUrl(plan, continuation.search);
  const state: { status?: number } | undefined = pages.shownAt(req, res, action, args);
  if (!state) return;
  const { status = 200 } = state;
  const has = hasNow(catalogue, user, await membership.getMembership(user.id), now());
  const other = plan === undefined && membership.sold ? { otherHref: `/plan-purchase${continuation.search}` } : {};
  pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(PartnerDealPage, {
        ctx: withContinuation(ctx, continuation.search),
        action,
        ...(plan && { deal: shownDeal(ctx, { catalogue, plan, has }) }),
        ...other,
      }),
    { title: (ctx) => ctx.t('checkout.partnerDeal.heading'), address: action },
  );
}

/** A plan in the address that the catalogue lacks is a page that does not exist. */
function withDeal(
  deps: CheckoutDeps,
  handler: (req: Request, res: Response, at: { user: User; plan: Plan | undefined }) => unknown,
): RequestHandler {
  return async (req, res, next) => {
    const named = namedBy(req);
    if (named !== undefined && deps.membership.catalogue.byId(named)?.kind !== 'partner') return next('route');
    const user = await requireUser(deps, req, res);
    if (user) await handler(req, res, { user, plan: await findWaitingDeal(deps, user) });
  };
}

/** GET: the waiting deal of the user, whatever plan the address names. */
export function showPartnerDeal(deps: CheckoutDeps): RequestHandler {
  return withDeal(deps, (req, res, { user, plan }) => {
    if (plan && namedBy(req) !== plan.id)
      return res.redirect(303, partnerDealUrl(plan, continuationFrom(req, deps.publicUrl).search));
    renderPartnerDeal(deps, req, res, { user, plan });
  });
}

const isTaken = async ({ membership }: CheckoutDeps, user: User, plan: Plan): Promise<boolean> =>
  user.planId === plan.id || (await membership.getMembership(user.id))?.basePlanId === plan.id;

/** POST: Confirm, or Not now. The partner's sale decides the deal, not the form. */
export function decideDeal(deps: CheckoutDeps): RequestHandler {
  return withDeal(deps, async (req, res, { user, plan }) => {
    const continuation = continuationFrom(req, deps.publicUrl);
    const { search } = continuation;
    const act = readFormField(req, 'act');
    if (act !== '' && act !== 'not-now') throw new HttpError('badRequest', { detail: 'unknown form action' });
    if (act === 'not-now')
      return res.redirect(303, deps.nextRedirect(await deps.deals.postpone(user), continuation).address);
    const named = readPlanId(req);
    const requested = deps.membership.catalogue.byId(named);
    // A second click; the plan may start after the end of the paid period.
    if (!plan && requested?.kind === 'partner' && (await isTaken(deps, user, requested))) {
      return res.redirect(303, completionUrl(requested, true, search));
    }
    if (!plan || named !== plan.id) return renderPartnerDeal(deps, req, res, { user, plan, status: 409 });
    const taken = await deps.membership.takeDeal(user);
    if (!taken) return renderPartnerDeal(deps, req, res, { user, plan: undefined, status: 409 });
    res.redirect(303, completionUrl(taken, true, search));
  });
}
