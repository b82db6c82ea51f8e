import type { RequestHandler, Router } from 'express';
import { methodNotAllowed } from '../http/index.ts';
import { toPlanKey } from '../shared/index.ts';
import type { SignUpDeps } from './deps.ts';
import { showProfile, submitProfile } from './profile-handlers.ts';
import { planKeyPattern } from './sign-up-context.ts';
import { showVerified } from './verified-handlers.ts';
import { showVerifyEmail, submitVerifyEmail, type VerifyEmailEntry } from './verify-email-handlers.ts';

/** Any other text in the place of a plan is a page that does not exist. */
const knownHandle =
  ({ plans }: SignUpDeps): RequestHandler =>
  (req, _res, next) => {
    const planKey = toPlanKey(String(req.params.planHash));
    next(planKeyPattern.test(planKey) && (!plans.sold || plans.knows(planKey)) ? undefined : 'route');
  };

export function signUpRoutes(router: Router, deps: SignUpDeps): void {
  for (const base of ['/signup', '/signup/plan/:planHash']) {
    const guards = base === '/signup' ? [] : [knownHandle(deps)];
    const route = (path: string) => {
      const created = router.route(path);
      for (const guard of guards) created.all(guard);
      return created;
    };
    route(base)
      .get(showProfile(deps))
      .post(submitProfile(deps))
      .all(methodNotAllowed('GET', 'HEAD', 'POST'));
    route(`${base}/emailCaptured`)
      .get(showVerifyEmail(deps, 'sign-up'))
      .post(submitVerifyEmail(deps, 'sign-up'))
      .all(methodNotAllowed('GET', 'HEAD', 'POST'));
    // The start of the step PLAN, if there is one.
    for (const step of deps.plans.sold ? [] : ['verifiedCode', 'addPayment']) {
      route(`${base}/${step}`).get(showVerified(deps)).all(methodNotAllowed('GET', 'HEAD'));
    }
  }
  const elsewhere: [string, VerifyEmailEntry][] = [['/verify-code', 'verify-code']];
  if (deps.plans.sold) elsewhere.push(['/post-signup/security', 'post-signup']);
  for (const [path, at] of elsewhere) {
    router
      .route(path)
      .get(showVerifyEmail(deps, at))
      .post(submitVerifyEmail(deps, at))
      .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  }
}
