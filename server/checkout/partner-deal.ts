import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { PartnerDealPage } from '../../views/checkout/partner-deal-page.tsx';
import type { User } from '../account/index.ts';
import { errandOf, field, HttpError, query, withErrand } from '../http/index.ts';
import type { Plan } from '../membership/index.ts';
import { dealAddress, waitingDeal } from './deal.ts';
import { hasNow, shownDeal } from './deal-shown.ts';
import type { CheckoutDeps } from './deps.ts';
import { memberAt } from './here.ts';
import { completedAddress } from './place.ts';

/** The plan that the address names; undefined: none at all. */
const namedBy = (req: Request): string | undefined =>
  (typeof req.params.planId === 'string' ? req.params.planId : query(req, 'plan')) || undefined;

async function sendDeal(
  { pages, membership, publicUrl, now }: CheckoutDeps,
  req: Request,
  res: Response,
  { user, plan, ...given }: { user: User; plan: Plan | undefined; status?: number },
): Promise<void> {
  const { catalogue } = membership;
  const errand = errandOf(req, publicUrl);
  const action = dealAddress(plan, errand.search);
  const shown: { status?: number } | undefined = pages.shownAt(req, res, action, given);
  if (!shown) return;
  const { status = 200 } = shown;
  const has = hasNow(catalogue, user, await membership.standing(user.id), now());
  const other = plan === undefined && membership.sold ? { otherHref: `/plan-purchase${errand.search}` } : {};
  pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(PartnerDealPage, {
        ctx: withErrand(ctx, errand.search),
        action,
        ...(plan && { deal: shownDeal(ctx, { catalogue, plan, has }) }),
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

const isTaken = async ({ membership }: CheckoutDeps, user: User, plan: Plan): Promise<boolean> =>
  user.planId === plan.id || (await membership.standing(user.id))?.basePlanId === plan.id;

/** POST: Confirm, or Not now. The deal is what the partner sold, not what the form names. */
export function decideDeal(deps: CheckoutDeps): RequestHandler {
  return forDeal(deps, async (req, res, { user, plan }) => {
    const errand = errandOf(req, deps.publicUrl);
    const { search } = errand;
    const act = field(req, 'act');
    if (act !== '' && act !== 'not-now') throw new HttpError('badRequest', { detail: 'act is none of this page' });
    if (act === 'not-now') return res.redirect(303, deps.wayOn(await deps.deals.postpone(user), errand).address);
    const named = field(req, 'planId');
    const asked = deps.membership.catalogue.byId(named);
    // The second of two presses; the plan may wait for the end of what is paid.
    if (!plan && asked?.kind === 'partner' && (await isTaken(deps, user, asked))) {
      return res.redirect(303, completedAddress(asked, true, search));
    }
    if (!plan || named !== plan.id) return sendDeal(deps, req, res, { user, plan, status: 409 });
    const taken = await deps.membership.takeDeal(user);
    if (!taken) return sendDeal(deps, req, res, { user, plan: undefined, status: 409 });
    res.redirect(303, completedAddress(taken, true, search));
  });
}
