import type { Request, RequestHandler } from 'express';
import { createElement } from 'react';
import { ConfirmedPage } from '../../views/sign-up/confirmed-page.tsx';
import type { User } from '../users/index.ts';
import type { SignUpDeps } from './deps.ts';
import { loadSignUpContext, type SignUpContext } from './sign-up-context.ts';
import { findSignUpRecord } from './sign-up-records.ts';
import { findUnverifiedSubject } from './unverified-subject.ts';

/** A page that says so may be looked at again for this long. */
const justConfirmedMs = 60_000;

/** The step at which somebody is who is not signed in: the code of an account that was begun here, else the first. */
export async function verifyEmailUrl(deps: SignUpDeps, req: Request): Promise<string> {
  const place = await loadSignUpContext(deps, req);
  const own = await findSignUpRecord(deps.flows, req);
  const recipient = own && (await findUnverifiedSubject(deps, own.flow));
  return recipient ? place.code : place.profile;
}

/** Where a member goes who comes back to a step that is behind them: on with the sign-up while it lacks a plan, else as ever. */
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

/** GET /signup/verifiedCode, where there is no step PLAN: whose address has just been confirmed is told so; who is signed in goes on to what comes next. */
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
