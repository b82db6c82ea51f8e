import type { Request, RequestHandler } from 'express';
import { createElement } from 'react';
import { ConfirmedPage } from '../../views/sign-up/confirmed-page.tsx';
import type { User } from '../users/index.ts';
import type { SignUpDeps } from './deps.ts';
import { loadSignUpContext, type SignUpContext } from './sign-up-context.ts';
import { findSignUpRecord } from './sign-up-records.ts';
import { findUnverifiedSubject } from './unverified-subject.ts';

/** How long the page can be reloaded. */
const justConfirmedMs = 60_000;

/** The step of a visitor who is not signed in: the code of this browser's sign-up, else the first. */
export async function verifyEmailUrl(deps: SignUpDeps, req: Request): Promise<string> {
  const place = await loadSignUpContext(deps, req);
  const own = await findSignUpRecord(deps.flows, req);
  const recipient = own && (await findUnverifiedSubject(deps, own.flow));
  return recipient ? place.code : place.profile;
}

/**
 * The next page of a user who returns to an earlier step: the rest of the sign-up if the user has no plan, else the
 * usual next step.
 */
export async function nextSignUpStep(
  deps: SignUpDeps,
  req: Request,
  place: SignUpContext,
  user: User,
): Promise<string> {
  const own = await findSignUpRecord(deps.flows, req);
  const underWay = own?.flow.confirmedAtMs !== undefined || place.planKey !== null;
  if (deps.plans.sold && user.planId === null && underWay) return place.verified;
  return deps.nextRedirect(user, place.continuation).address;
}

/**
 * GET /signup/verifiedCode, if there is no step PLAN: a just confirmed address is announced; a signed-in user continues
 * to the next step.
 */
export function showVerified(deps: SignUpDeps): RequestHandler {
  return async (req, res) => {
    const place = await loadSignUpContext(deps, req);
    const member = await deps.sessions.getCurrentUser(req);
    if (!member) return res.redirect(303, await verifyEmailUrl(deps, req));
    const own = await findSignUpRecord(deps.flows, req);
    const { address } = deps.nextRedirect(member.user, place.continuation);
    const { confirmedAtMs } = own?.flow ?? {};
    if (confirmedAtMs === undefined || deps.now() - confirmedAtMs > justConfirmedMs) return res.redirect(303, address);
    deps.pages.send(req, res, 200, (ctx) => createElement(ConfirmedPage, { ctx, href: address }), {
      title: (ctx) => ctx.t('signUp.confirmed.title'),
      address: place.verified,
    });
  };
}
