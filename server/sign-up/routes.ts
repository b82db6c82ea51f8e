import type { RequestHandler, Router } from 'express';
import { type AddPage, pageRoutes } from '../http/index.ts';
import { toPlanKey } from '../shared/index.ts';
import type { SignUpDeps } from './deps.ts';
import { showProfile, submitProfile } from './profile-handlers.ts';
import { planKeyPattern } from './sign-up-context.ts';
import { showVerified } from './verified-handlers.ts';
import { showVerifyEmail, submitVerifyEmail } from './verify-email-handlers.ts';

/** Any other text in the place of a plan is a page that does not exist. */
const requireKnownPlan =
  ({ plans }: SignUpDeps): RequestHandler =>
  (req, _res, next) => {
    const planKey = toPlanKey(String(req.params.planHash));
    next(planKeyPattern.test(planKey) && (!plans.sold || plans.knows(planKey)) ? undefined : 'route');
  };

function stepRoutes(add: AddPage<SignUpDeps>, base: string, { plans }: SignUpDeps): void {
  add(base, { get: showProfile, post: submitProfile });
  add(`${base}/emailCaptured`, { get: showVerifyEmail('sign-up'), post: submitVerifyEmail('sign-up') });
  // The start of the step PLAN, if there is one.
  for (const step of plans.sold ? [] : ['verifiedCode', 'addPayment']) add(`${base}/${step}`, { get: showVerified });
}

export function signUpRoutes(router: Router, deps: SignUpDeps): void {
  const add = pageRoutes(router, deps);
  const guard = requireKnownPlan(deps);
  stepRoutes(add, '/signup', deps);
  stepRoutes(pageRoutes({ route: (path) => router.route(path).all(guard) }, deps), '/signup/plan/:planHash', deps);
  add('/verify-code', { get: showVerifyEmail('verify-code'), post: submitVerifyEmail('verify-code') });
  if (deps.plans.sold) {
    add('/post-signup/security', { get: showVerifyEmail('post-signup'), post: submitVerifyEmail('post-signup') });
  }
}
