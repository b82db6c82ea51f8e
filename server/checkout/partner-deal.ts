import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { PartnerDealPage } from '../../views/checkout/partner-deal-page.tsx';
import type { User } from '../account/index.ts';
import { errandOf, field, query, withErrand } from '../http/index.ts';
import type { Plan } from '../membership/index.ts';
import { dealAddress, waitingDeal } from './deal.ts';
import type { CheckoutDeps } from './deps.ts';
import { memberAt } from './here.ts';
import { completedAddress } from './place.ts';
import { shownPlan } from './plan-texts.ts';

/** The plan that the address names; undefined: none at all. */
const namedBy = (req: Request): string | undefined =>
  (typeof req.params.planId === 'string' ? req.params.planId : query(req, 'plan')) || undefined;

function sendDeal(
  { pages, membership, publicUrl }: CheckoutDeps,
  req: Request,
  res: Response,
  { user, plan, ...given }: { user: User; plan: Plan | undefined; status?: number },
): void {
  const errand = errandOf(req, publicUrl);
  const action = dealAddress(plan, errand.search);
  const shown: { status?: number } | undefined = pages.shownAt(req, res, action, given);
  if (!shown) return;
  const { status = 200 } = shown;
  const other = plan === undefined && membership.sold ? { otherHref: `/plan-purchase${errand.search}` } : {};
  pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(PartnerDealPage, {
        ctx: withErrand(ctx, errand.search),
        action,
        upgrade: user.planId !== null,
        ...(plan && { plan: { id: plan.id, shown: shownPlan(ctx, plan, membership.catalogue.currency) } }),
        ...other,
      }),
    { title: (ctx) => ctx.t('checkout.deal.heading'), address: action },
  );
}

/** A plan that the address names and the catalogue does not is a page that does not exist. */
function forDeal(
  deps: CheckoutDeps,
  handler: (req: Request, res: Response, at: { user: User; plan: Plan | undefined }) => unknown,
): RequestHandler {
  return async (req, res, next) => {
    const named = namedBy(req);
    if (named !== undefined && deps.membership.catalogue.byId(named)?.kind !== 'partner') return next('route');
    const user = await memberAt(deps, req, res);
    if (user) await handler(req, res, { user, plan: await waitingDeal(deps, user) });
  };
}

/** GET: the deal that waits for the member, whatever plan the address names. */
export function showDeal(deps: CheckoutDeps): RequestHandler {
  return forDeal(deps, (req, res, { user, plan }) => {
    if (plan && namedBy(req) !== plan.id)
      return res.redirect(303, dealAddress(plan, errandOf(req, deps.publicUrl).search));
    sendDeal(deps, req, res, { user, plan });
  });
}

/** POST: Confirm. The deal is what the partner sold, not what the form names. */
export function confirmDeal(deps: CheckoutDeps): RequestHandler {
  return forDeal(deps, async (req, res, { user, plan }) => {
    const { search } = errandOf(req, deps.publicUrl);
    const named = field(req, 'planId');
    const has = deps.membership.catalogue.byId(user.planId);
    // The second of two presses.
    if (!plan && has?.kind === 'partner' && named === has.id) {
      return res.redirect(303, completedAddress(has, true, search));
    }
    if (!plan || named !== plan.id) return sendDeal(deps, req, res, { user, plan, status: 409 });
    const taken = await deps.membership.takeDeal(user);
    if (!taken) return sendDeal(deps, req, res, { user, plan: undefined, status: 409 });
    res.redirect(303, completedAddress(taken, true, search));
  });
}
