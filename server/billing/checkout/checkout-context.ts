import type { Request, RequestHandler, Response } from 'express';
import { blocksAuthorization, redirectToSignIn } from '../../sign-in/index.ts';
import type { User } from '../../users/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import type { ChosenPromotion, PurchaseView } from '../results.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import type { CheckoutFlow, ResolveCheckoutFlow } from './checkout-flow.ts';
import { findDealForSignUp } from './partner-deal.ts';

/** A user at the step PLAN. */
export interface CheckoutContext {
  flow: CheckoutFlow;
  user: User;
  purchase: PurchaseView | undefined;
  /** The chosen plan, else the proposed one. */
  plan: Plan;
  /** Applied to that plan. */
  promotion: ChosenPromotion | null;
  /** It is the plan of a partner's deal: nothing can be chosen and nothing is charged. */
  deal: boolean;
}

export type CheckoutHandler = (req: Request, res: Response, context: CheckoutContext) => unknown;

/** The proposed plan if neither the user nor the address names one. */
async function proposedPlan({ membership: { catalogue }, findPlanKey }: CheckoutDeps, user: User): Promise<Plan> {
  const planKey = user.planId === null ? await findPlanKey(user.id) : undefined;
  const begunWith = planKey === undefined ? undefined : catalogue.byKey(planKey);
  return begunWith && begunWith.kind !== 'partner' ? begunWith : catalogue.defaultPlan;
}

async function loadCheckoutContext(deps: CheckoutDeps, flow: CheckoutFlow, user: User): Promise<CheckoutContext> {
  const { membership } = deps;
  const bought = flow.kind === 'purchase' ? undefined : await findDealForSignUp(deps, user);
  if (bought) return { flow, user, purchase: undefined, plan: bought, promotion: null, deal: true };
  const purchase = await membership.purchase(user.id);
  // A partner's handle belongs to a sign-up from the partner; without a deal it is ignored.
  const named = flow.named?.kind === 'partner' ? undefined : flow.named;
  const plan = (flow.fixed && named) || (purchase?.plan ?? named ?? (await proposedPlan(deps, user)));
  const promotion = purchase?.plan.id === plan.id ? purchase.promotion : null;
  return { flow, user, purchase, plan, promotion, deal: false };
}

/** The signed-in user without other open steps; else redirects to the open step. */
export async function requireUser(
  deps: Pick<CheckoutDeps, 'publicUrl' | 'sessions' | 'nextRedirect'>,
  req: Request,
  res: Response,
  signedOut: () => unknown = () => redirectToSignIn({ req, res }, deps.publicUrl),
): Promise<User | undefined> {
  const member = await deps.sessions.getCurrentUser(req);
  if (!member) {
    await signedOut();
    return undefined;
  }
  const { user } = member;
  const { step } = deps.nextRedirect(user, { search: '' });
  if (!blocksAuthorization(step)) return user;
  const returnTo = new URL(req.originalUrl, deps.publicUrl).href;
  const search = `?${new URLSearchParams({ redirect: returnTo })}`;
  res.redirect(303, deps.nextRedirect(user, { returnTo, search }).address);
  return undefined;
}

/** For users at one of the places of the step PLAN; a user who already has a plan skips the steps of a sign-up. */
export function withCheckoutContext(
  deps: CheckoutDeps,
  resolveFlow: ResolveCheckoutFlow,
  handler: CheckoutHandler,
): RequestHandler {
  return async (req, res, next) => {
    const flow = resolveFlow(deps, req);
    if (!flow) return next('route');
    const toSignUp = async () => res.redirect(303, await deps.verifyEmailUrl(req));
    const user = await requireUser(deps, req, res, flow.kind === 'sign-up' ? toSignUp : undefined);
    if (!user) return;
    if (flow.kind !== 'purchase' && user.planId !== null) {
      // A second click, or the back button.
      const plan = deps.membership.catalogue.byId(user.planId);
      const on = req.method === 'POST' && plan ? flow.doneUrl(plan, user) : flow.skipUrl(user);
      return res.redirect(303, on);
    }
    await handler(req, res, await loadCheckoutContext(deps, flow, user));
  };
}
