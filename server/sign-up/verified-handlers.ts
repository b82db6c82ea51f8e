import type { Request } from 'express';
import { ConfirmedPage } from '../../views/sign-up/confirmed-page.tsx';
import type { Continuation } from '../http/index.ts';
import type { User } from '../users/index.ts';
import type { SignUpDeps } from './deps.ts';
import {
  loadSignUpContext,
  type SignUpContext,
  type SignUpRequest,
  stateUrl,
  withSignUpContext,
} from './sign-up-context.ts';
import { findPendingVerification, findSignUpRecord } from './sign-up-records.ts';
import { type SignUpPlace, transition } from './sign-up-state.ts';

/** How long the page can be reloaded. */
const justConfirmedMs = 60_000;

/** The step of a visitor who is not signed in: the code of this browser's sign-up, else the first. */
export async function verifyEmailUrl(req: Request, deps: SignUpDeps): Promise<string> {
  const place = await loadSignUpContext(req, deps);
  return (await findPendingVerification(req, deps)) ? place.code : place.profile;
}

/** The next page of a user whose address is confirmed. */
export function nextUrl(
  deps: SignUpDeps,
  user: User,
  { base, continuation, ...place }: Omit<SignUpPlace, 'plansAreSold'> & Pick<SignUpContext, 'base' | 'continuation'>,
): string {
  const event = { kind: 'continued', ...place, plansAreSold: deps.plans.sold } as const;
  const next = transition({ kind: 'confirmed', user }, event);
  return stateUrl(next, { base, continuation }) ?? deps.nextRedirect(user, continuation).address;
}

/** The same for a user who returns to an earlier step. */
export async function returnUrl(
  { req, place: { base, continuation, planKey } }: SignUpRequest,
  deps: SignUpDeps,
  { user, way }: { user: User; way: SignUpPlace['way'] },
): Promise<string> {
  const own = await findSignUpRecord(req, deps);
  const underWay = own?.flow.confirmedAtMs !== undefined || planKey !== null;
  return nextUrl(deps, user, { base, continuation, way, justConfirmed: false, underWay });
}

/** The page of the plan that a link names, for a member who has a plan already: a link to a plan is a wish to change. */
export const planLinkUrl = (
  { place: { planKey, continuation } }: SignUpRequest,
  { plans }: SignUpDeps,
  user: User,
): string | undefined =>
  plans.sold && planKey !== null && user.planId !== null ? plans.memberUrl(planKey, continuation.search) : undefined;

/** After a provider has created a user. @returns the step PLAN, if there is one */
export async function afterFederatedSignUp(
  { plans }: SignUpDeps,
  user: User,
  continuation: Continuation,
): Promise<string | undefined> {
  if (!plans.sold) return undefined;
  const place = { way: 'post-signup', justConfirmed: false, underWay: true, plansAreSold: true } as const;
  return stateUrl(transition({ kind: 'confirmed', user }, { kind: 'continued', ...place }), {
    base: '/signup',
    continuation,
  });
}

/**
 * GET /signup/verifiedCode, if there is no step PLAN: a just confirmed address is announced; a signed-in user continues
 * to the next step.
 */
export const showVerified = withSignUpContext(async (r, deps) => {
  const { place } = r;
  const found = await deps.sessions.getCurrentUser(r.req);
  if (!found) return r.redirect(await verifyEmailUrl(r.req, deps));
  const own = await findSignUpRecord(r.req, deps);
  const { address } = deps.nextRedirect(found.user, place.continuation);
  const { confirmedAtMs } = own?.flow ?? {};
  if (confirmedAtMs === undefined || deps.now() - confirmedAtMs > justConfirmedMs) return r.redirect(address);
  r.render(ConfirmedPage, { href: address }, { title: 'signUp.confirmed.title', address: place.verified });
});
