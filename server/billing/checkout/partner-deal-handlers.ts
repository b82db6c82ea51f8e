import { PartnerDealPage } from '../../../views/billing/partner-deal-page.tsx';
import { HttpError, type PageHandler, type RequestContext, UnknownAddressError } from '../../http/index.ts';
import { type PlanId, toPlanId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import { findCheckoutUser, readPlanId } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { completionUrl } from './checkout-flow.ts';
import { type HasNow, hasNow, shownDeal } from './deal-shown.ts';
import { findWaitingDeal, partnerDealUrl } from './partner-deal.ts';
import { findRefundOnNotice, readAnnouncedEndsAt } from './refund-view.ts';

/** A request about the waiting deal of a user with a partner. */
interface PartnerDealRequest extends RequestContext {
  readonly user: User;
  /** The plan of the deal; undefined: none waits. */
  readonly plan: Plan | undefined;
}

/** The plan in the address; undefined: none. */
function namedPlanId(r: RequestContext): PlanId | undefined {
  const named = r.param('planId') || r.query('plan');
  return named ? toPlanId(named) : undefined;
}

/** The present plan; a paid one may end on a month's notice. */
async function readHasNow(
  r: PartnerDealRequest,
  { membership, now }: Pick<CheckoutDeps, 'membership' | 'now'>,
): Promise<HasNow> {
  const { user } = r;
  const stored = await membership.getMembership(user.id);
  const has = hasNow({ catalogue: membership.catalogue, nowMs: now() }, user, stored);
  const end = has.kind === 'paid' ? await findRefundOnNotice(r, { membership }, user.id) : undefined;
  return has.kind === 'paid' && end ? { ...has, untilMs: end.endsAt, end } : has;
}

async function renderPartnerDeal(
  r: PartnerDealRequest,
  { membership, now }: CheckoutDeps,
  { plan, ...args }: { plan: Plan | undefined; status?: number },
): Promise<void> {
  const { catalogue } = membership;
  const { search } = r.continuation;
  const action = partnerDealUrl(plan, search);
  const state: { status?: number } | undefined = r.viewAt(action, args);
  if (!state) return;
  const has = plan ? await readHasNow(r, { membership, now }) : undefined;
  const canBuy = plan === undefined && membership.sold;
  r.render(
    PartnerDealPage,
    {
      action,
      ...(plan && has && { deal: shownDeal(r, { catalogue, plan, has }) }),
      ...(canBuy && { otherHref: `/plan-purchase${search}` }),
    },
    { title: 'checkout.partnerDeal.heading', address: action, status: state.status, search },
  );
}

/** For signed-in users. A plan in the address that is no partner's is a page that does not exist. */
function requireDealUser(handler: PageHandler<CheckoutDeps, PartnerDealRequest>): PageHandler<CheckoutDeps> {
  return async (r, deps) => {
    const named = namedPlanId(r);
    if (named !== undefined && deps.membership.catalogue.byId(named)?.kind !== 'partner') {
      throw new UnknownAddressError();
    }
    const user = await findCheckoutUser(r, deps);
    if (user) await handler(Object.assign(r, { user, plan: await findWaitingDeal(deps, user) }), deps);
  };
}

/** GET: the waiting deal of the user, whatever plan the address names. */
export const showPartnerDeal = requireDealUser((r, deps) => {
  const { plan } = r;
  if (plan && namedPlanId(r) !== plan.id) return r.redirect(partnerDealUrl(plan, r.continuation.search));
  return renderPartnerDeal(r, deps, { plan });
});

const isTaken = async ({ membership }: CheckoutDeps, user: User, plan: Plan): Promise<boolean> =>
  user.planId === plan.id || (await membership.getMembership(user.id))?.basePlanId === plan.id;

/** POST: Confirm, or Not now. The partner's sale decides the deal, not the form. */
export const decideDeal = requireDealUser(async (r, deps) => {
  const { user, plan, continuation } = r;
  const { search } = continuation;
  const act = r.field('act');
  if (act !== '' && act !== 'not-now') throw new HttpError('badRequest', { detail: 'unknown form action' });
  if (act === 'not-now') return r.redirect(deps.nextRedirect(await deps.deals.postpone(user), continuation).address);
  const named = readPlanId(r);
  const requested = deps.membership.catalogue.byId(named);
  // A second click; the plan may start after the end of the paid period.
  if (!plan && requested?.kind === 'partner' && (await isTaken(deps, user, requested))) {
    return r.redirect(completionUrl(requested, true, search));
  }
  if (!plan || named !== plan.id) return renderPartnerDeal(r, deps, { plan, status: 409 });
  const taken = await deps.membership.takeDeal(user, readAnnouncedEndsAt(r));
  if (!taken) return renderPartnerDeal(r, deps, { plan: undefined, status: 409 });
  r.redirect(completionUrl(taken, true, search));
});
