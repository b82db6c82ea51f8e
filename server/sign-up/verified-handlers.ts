import type { Request } from 'express';
import { ConfirmedPage } from '../../views/sign-up/confirmed-page.tsx';
import type { User } from '../users/index.ts';
import type { SignUpDeps } from './deps.ts';
import { loadSignUpContext, type SignUpRequest, withSignUpContext } from './sign-up-context.ts';
import { findSignUpRecord } from './sign-up-records.ts';
import { findPendingVerification } from './unverified-subject.ts';

/** How long the page can be reloaded. */
const justConfirmedMs = 60_000;

/** The step of a visitor who is not signed in: the code of this browser's sign-up, else the first. */
export async function verifyEmailUrl(req: Request, deps: SignUpDeps): Promise<string> {
  const place = await loadSignUpContext(req, deps);
  return (await findPendingVerification(req, deps)) ? place.code : place.profile;
}

/**
 * The next page of a user who returns to an earlier step: the rest of the sign-up if the user has no plan, else the
 * usual next step.
 */
export async function nextSignUpStep({ req, place }: SignUpRequest, deps: SignUpDeps, user: User): Promise<string> {
  const own = await findSignUpRecord(req, deps);
  const underWay = own?.flow.confirmedAtMs !== undefined || place.planKey !== null;
  if (deps.plans.sold && user.planId === null && underWay) return place.verified;
  return deps.nextRedirect(user, place.continuation).address;
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
