import type { IncomingMessage } from 'node:http';
import { type NextFunction, type Request, type RequestHandler, type Response, Router } from 'express';
import { type DirectHandler, HttpError, markJsonRoutes, methodNotAllowed } from '../http/index.ts';
import { getCurrentSession } from '../sessions/index.ts';
import { submitStorage } from './bind-session-handlers.ts';
import { showConsent, submitConsent } from './consent-handlers.ts';
import type { OauthDeps } from './deps.ts';
import {
  deviceDonePath,
  devicePath,
  deviceRefusedPath,
  redirectToDevicePage,
  showDeviceEnd,
} from './device-handlers.ts';
import { showPlanRequired, submitPlanRequired } from './plan-required-handlers.ts';
import type { PostedFields } from './posted-fields.ts';
import { restartAuthorization, restartPath } from './restart-authorization.ts';
import { discoveryPaths, routes } from './routes-table.ts';
import { questionPath, renderSignOutQuestion, signOut, signOutQuestion } from './sign-out-handlers.ts';
import { showVerifyUser } from './verify-user-handlers.ts';

/** The pages and calls of this room that a signed-in browser uses. */
export function oauthPageRoutes(router: Router, deps: OauthDeps): void {
  router.route('/verify-user').get(showVerifyUser(deps)).all(methodNotAllowed('GET', 'HEAD'));
  router.route(restartPath).get(restartAuthorization(deps)).all(methodNotAllowed('GET', 'HEAD'));
  router.route('/storage').post(submitStorage(deps)).all(methodNotAllowed('POST'));
  router
    .route('/consent')
    .get(showConsent(deps))
    .post(submitConsent(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router
    .route('/not-in-plan')
    .get(showPlanRequired(deps))
    .post(submitPlanRequired(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router.route(devicePath).get(redirectToDevicePage).all(methodNotAllowed('GET', 'HEAD'));
  router.route(deviceDonePath).get(showDeviceEnd(deps, 'done')).all(methodNotAllowed('GET', 'HEAD'));
  router.route(deviceRefusedPath).get(showDeviceEnd(deps, 'refused')).all(methodNotAllowed('GET', 'HEAD'));
  router.route(questionPath).get(signOutQuestion(deps)).all(methodNotAllowed('GET', 'HEAD'));
  router
    .route('/logout')
    .get(renderSignOutQuestion(deps))
    .post(signOut(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}

/** Which methods the provider answers where; it would give a bare 404 for others. */
const methods: [path: string, ...methods: string[]][] = [
  [routes.authorization, 'GET', 'HEAD', 'POST'],
  [`${routes.authorization}/:uid`, 'GET', 'HEAD'],
  [routes.token, 'POST', 'OPTIONS'],
  [routes.userinfo, 'GET', 'HEAD', 'POST', 'OPTIONS'],
  [routes.jwks, 'GET', 'HEAD', 'OPTIONS'],
  [routes.revocation, 'POST', 'OPTIONS'],
  [routes.introspection, 'POST', 'OPTIONS'],
  [routes.end_session, 'GET', 'HEAD', 'POST'],
  [routes.pushed_authorization_request, 'POST', 'OPTIONS'],
  [routes.device_authorization, 'POST', 'OPTIONS'],
  [routes.code_verification, 'GET', 'HEAD', 'POST'],
  [`${routes.code_verification}/:uid`, 'GET', 'HEAD'],
  ...discoveryPaths.map((path): [string, ...string[]] => [path, 'GET', 'HEAD', 'OPTIONS']),
];

/** Those that speak of a member's session. */
const withSession = [
  routes.authorization,
  `${routes.authorization}/:uid`,
  routes.end_session,
  routes.code_verification,
  `${routes.code_verification}/:uid`,
];

/** Those that programs call: they read JSON. */
const machinePaths = methods.map(([path]) => path).filter((path) => !withSession.includes(path));

/** With a slash at the end no endpoint is there, but for the authorization; the check of forms must not answer in its place. */
const slashForms = methods
  .map(([path]) => path)
  .filter((path) => path !== routes.authorization && !path.includes(':'))
  .map((path) => `${path}/`);

/** Published keys and metadata may be kept for this long; a rotation waits longer than that before it signs. */
export const publicMetadataSeconds = 60;

/**
 * The calls that a sign-in always makes, and what client apps' servers make after it: they go past Express. Methods that
 * are not here, other paths and every error are answered below.
 */
export function directCalls(
  session: RequestHandler,
  callback: DirectHandler,
  { admitVisitor, restore }: { admitVisitor(req: IncomingMessage): Promise<void> } & Pick<PostedFields, 'restore'>,
): (method: string, path: string) => DirectHandler | undefined {
  const withSession: DirectHandler = async (req, res) => {
    await new Promise<void>((resolve, reject) => {
      // express-session asks for nothing that Node's own request has not.
      session(req as Request, res as Response, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
    });
    if (!getCurrentSession(req as Request)) await admitVisitor(req);
    await restore(req);
    return callback(req, res);
  };
  const handlers: Record<string, DirectHandler> = {
    [`GET ${routes.authorization}`]: withSession,
    [`POST ${routes.token}`]: callback,
    [`GET ${routes.userinfo}`]: callback,
    [`POST ${routes.userinfo}`]: callback,
    [`POST ${routes.introspection}`]: callback,
    [`POST ${routes.revocation}`]: callback,
  };
  const known = new Map(Object.entries(handlers));
  return (method, path) => known.get(`${method} ${path}`);
}

/**
 * The provider's own routes. `session` stands before those that speak of a member's session; the others (token, userinfo,
 * keys, discovery) know no cookies. `limits`: how often an address may post to some of them; `admitVisitor`: counts who asks for
 * an authorization or a page of the provider's without being signed in.
 */
export function providerRoutes(
  session: RequestHandler,
  callback: DirectHandler,
  limits: readonly [path: string, limit: RequestHandler][],
  { admitVisitor, posted }: { admitVisitor(req: Request): Promise<void>; posted: PostedFields },
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const handOver = (req: Request, res: Response, next: NextFunction) => {
    callback(req, res).catch(next);
  };
  // The specification's own slash form.
  router.all(`${routes.authorization}/`, (req, _res, next) => {
    req.url = req.url.replace(`${routes.authorization}/`, routes.authorization);
    next();
  });
  router.use(markJsonRoutes(machinePaths.map((path) => `${path}/`)));
  for (const path of slashForms) {
    router.all(path, () => {
      throw new HttpError('notFound', { detail: 'a slash behind an endpoint' });
    });
  }
  for (const [path, ...allowed] of methods) {
    router.all(path, (req, _res, next) =>
      allowed.includes(req.method) ? next() : methodNotAllowed(...allowed)(req, _res, next),
    );
  }
  // Each path by itself: log and metrics tell routes apart by their pattern.
  for (const path of [routes.authorization, routes.end_session]) router.post(path, ...posted.keep);
  for (const [path, limit] of limits) router.post(path, limit);
  // Each of them keeps something for whoever has nothing here yet: a request, or what a form needs.
  router.get([routes.authorization, routes.code_verification, routes.end_session], session, async (req, _res, next) => {
    if (!getCurrentSession(req)) await admitVisitor(req);
    await posted.restore(req);
    next();
  });
  for (const path of withSession) router.get(path, session, handOver);
  router.post(routes.code_verification, session, handOver);
  router.get([routes.jwks, ...discoveryPaths], (_req, res, next) => {
    res.setHeader('Cache-Control', `public, max-age=${publicMetadataSeconds}`);
    next();
  });
  for (const [path] of methods) {
    if (!withSession.includes(path)) router.all(path, handOver);
  }
  return router;
}
