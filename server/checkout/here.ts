import type { Request, RequestHandler, Response } from 'express';
import type { User } from '../account/index.ts';
import type { ChosenPromotion, Plan, Purchase } from '../membership/index.ts';
import { askToSignIn, standsBeforeAuthorization } from '../sign-in/index.ts';
import { dealAhead } from './deal.ts';
import type { CheckoutDeps } from './deps.ts';
import type { Place, PlaceOf } from './place.ts';

/** A member at the step PLAN. */
export interface Here {
  place: Place;
  user: User;
  purchase: Purchase | undefined;
  /** What they have chosen, else what is proposed to them. */
  plan: Plan;
  /** Applied to that plan. */
  promotion: ChosenPromotion | null;
  /** The plan of a partner's deal: there is nothing to choose and nothing to pay. */
  deal: boolean;
}

export type PlaceHandler = (req: Request, res: Response, here: Here) => unknown;

/** What a member is proposed where neither they nor the address has named a plan. */
async function proposedTo({ membership: { catalogue }, planKeyOf }: CheckoutDeps, user: User): Promise<Plan> {
  const planKey = user.planId === null ? await planKeyOf(user.id) : undefined;
  const begunWith = planKey === undefined ? undefined : catalogue.byKey(planKey);
  return begunWith && begunWith.kind !== 'partner' ? begunWith : catalogue.defaultPlan;
}

async function hereOf(deps: CheckoutDeps, place: Place, user: User): Promise<Here> {
  const { membership } = deps;
  const bought = place.kind === 'purchase' ? undefined : await dealAhead(deps, user);
  if (bought) return { place, user, purchase: undefined, plan: bought, promotion: null, deal: true };
  const purchase = await membership.purchase(user.id);
  // A partner's handle brings a sign-up from the partner; to whom nothing waits there, nothing of it is given.
  const named = place.named?.kind === 'partner' ? undefined : place.named;
  const plan = (place.fixed && named) || (purchase?.plan ?? named ?? (await proposedTo(deps, user)));
  const promotion = purchase?.plan.id === plan.id ? purchase.promotion : null;
  return { place, user, purchase, plan, promotion, deal: false };
}

/** The member of a request, once nothing else stands before this room; else they are on their way there. */
export async function memberAt(
  deps: Pick<CheckoutDeps, 'publicUrl' | 'sessions' | 'wayOn'>,
  req: Request,
  res: Response,
  signedOut: () => unknown = () => askToSignIn(req, res, deps.publicUrl),
): Promise<User | undefined> {
  const member = await deps.sessions.member(req);
  if (!member) {
    await signedOut();
    return undefined;
  }
  const { user } = member;
  const { step } = deps.wayOn(user, { search: '' });
  if (!standsBeforeAuthorization(step)) return user;
  const returnTo = new URL(req.originalUrl, deps.publicUrl).href;
  const search = `?${new URLSearchParams({ redirect: returnTo })}`;
  res.redirect(303, deps.wayOn(user, { returnTo, search }).address);
  return undefined;
}

/** For members at one of the places of the step PLAN; who has a plan already needs the steps of a sign-up no more. */
export function atPlace(deps: CheckoutDeps, placeOf: PlaceOf, handler: PlaceHandler): RequestHandler {
  return async (req, res, next) => {
    const place = placeOf(deps, req);
    if (!place) return next('route');
    const toSignUp = async () => res.redirect(303, await deps.wayToConfirm(req));
    const user = await memberAt(deps, req, res, place.kind === 'sign-up' ? toSignUp : undefined);
    if (!user) return;
    if (place.kind !== 'purchase' && user.planId !== null) {
      // The second of two presses, or the back button.
      const plan = deps.membership.catalogue.byId(user.planId);
      const on = req.method === 'POST' && plan ? place.done(plan, user) : place.passed(user);
      return res.redirect(303, on);
    }
    await handler(req, res, await hereOf(deps, place, user));
  };
}
