import type { RequestHandler, Router } from 'express';
import { methodNotAllowed } from '../http/index.ts';
import { showCode, submitCode } from './code-step.ts';
import type { SignUpDeps } from './deps.ts';
import { planKeyPattern } from './place.ts';
import { showProfile, submitProfile } from './profile-step.ts';
import { showVerified } from './verified-step.ts';

/** Anything else in a plan's place is a page that does not exist. */
const knownHandle: RequestHandler = (req, _res, next) =>
  next(planKeyPattern.test(String(req.params.planHash)) ? undefined : 'route');

export function signUpRoutes(router: Router, deps: SignUpDeps): void {
  for (const base of ['/signup', '/signup/plan/:planHash']) {
    const guards = base === '/signup' ? [] : [knownHandle];
    const route = (path: string) => {
      const made = router.route(path);
      for (const guard of guards) made.all(guard);
      return made;
    };
    route(base)
      .get(showProfile(deps))
      .post(submitProfile(deps))
      .all(methodNotAllowed('GET', 'HEAD', 'POST'));
    route(`${base}/emailCaptured`)
      .get(showCode(deps, 'sign-up'))
      .post(submitCode(deps, 'sign-up'))
      .all(methodNotAllowed('GET', 'HEAD', 'POST'));
    // Where the step PLAN begins.
    for (const step of ['verifiedCode', 'addPayment']) {
      route(`${base}/${step}`).get(showVerified(deps)).all(methodNotAllowed('GET', 'HEAD'));
    }
  }
  router
    .route('/verify-code')
    .get(showCode(deps, 'verify-code'))
    .post(submitCode(deps, 'verify-code'))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
