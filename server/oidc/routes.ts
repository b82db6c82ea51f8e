import type { IncomingMessage } from 'node:http';
import { type NextFunction, type Request, type RequestHandler, type Response, Router } from 'express';
import {
  type DirectCalls,
  type DirectHandler,
  HttpError,
  type Logger,
  markJsonRoutes,
  methodNotAllowed,
} from '../http/index.ts';
import { getCurrentSession } from '../sessions/index.ts';
import type { PostedFields } from './posted-fields.ts';
import { discoveryPaths, routes, toExpressRequest, toExpressResponse } from './routes-table.ts';
import { answerStoreAway } from './server-errors.ts';
import type { ServerLogout } from './server-logout.ts';

/** The methods of each provider route; the library would answer others with a bare 404. */
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

/** Routes that use a user's session. */
const withSession = [
  routes.authorization,
  `${routes.authorization}/:uid`,
  routes.end_session,
  routes.code_verification,
  `${routes.code_verification}/:uid`,
];

/** Routes for programs: they answer JSON. */
const machinePaths = methods.map(([path]) => path).filter((path) => !withSession.includes(path));

/**
 * There is no endpoint with a trailing slash, except the authorization. Without these routes the check of forms would
 * answer in its place.
 */
const slashForms = methods
  .map(([path]) => path)
  .filter((path) => path !== routes.authorization && !path.includes(':'))
  .map((path) => `${path}/`);

/** Cache time of published keys and metadata; a rotation waits longer than that before it signs. */
export const publicMetadataSeconds = 60;

interface DirectParts extends Pick<PostedFields, 'restore'> {
  admitVisitor(req: IncomingMessage): Promise<void>;
  /** These hand on to the library what is not plain. */
  authorize(library: DirectHandler): DirectHandler;
  userinfo: DirectHandler;
  token: DirectHandler;
}

/**
 * The calls of every sign-in, and those that client apps' servers make after it: they bypass Express. Other methods,
 * other paths and every error are answered below.
 */
export function directCalls(
  session: RequestHandler,
  callback: DirectHandler,
  { admitVisitor, restore, authorize, userinfo, token }: DirectParts,
): DirectCalls {
  const withSession: DirectHandler = async (req, res) => {
    await new Promise<void>((resolve, reject) => {
      // express-session only uses properties of Node's own request.
      session(toExpressRequest(req), toExpressResponse(res), (error?: unknown) =>
        error === undefined ? resolve() : reject(error),
      );
    });
    if (!getCurrentSession(toExpressRequest(req))) await admitVisitor(req);
    await restore(req);
    return callback(req, res);
  };
  return new Map([
    [`GET ${routes.authorization}`, authorize(withSession)],
    [`POST ${routes.token}`, token],
    [`GET ${routes.userinfo}`, userinfo],
    [`POST ${routes.userinfo}`, callback],
    [`POST ${routes.introspection}`, callback],
    [`POST ${routes.revocation}`, callback],
  ]);
}

interface ProviderGates {
  /** How often an address may post to some routes. */
  limits: readonly [path: string, limit: RequestHandler][];
  /** Counts visitors who request an authorization or a page of the provider without being signed in. */
  admitVisitor(req: Request): Promise<void>;
  posted: PostedFields;
  serverLogout: Pick<ServerLogout, 'answer'>;
  log: Pick<Logger, 'error'>;
}

/**
 * The provider's own routes. `session` precedes those that use a user's session; the others (token, userinfo, keys,
 * discovery) ignore cookies.
 */
export function providerRoutes(
  session: RequestHandler,
  callback: DirectHandler,
  { limits, admitVisitor, posted, serverLogout, log }: ProviderGates,
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
      throw new HttpError('notFound', { detail: 'trailing slash after an endpoint' });
    });
  }
  for (const [path, ...allowed] of methods) {
    router.all(path, (req, _res, next) =>
      allowed.includes(req.method) ? next() : methodNotAllowed(...allowed)(req, _res, next),
    );
  }
  // Each path separately: log and metrics distinguish routes by their pattern.
  router.post(routes.end_session, ...posted.read, serverLogout.answer(callback), posted.keep);
  router.post(routes.authorization, ...posted.read, posted.keep);
  for (const [path, limit] of limits) router.post(path, limit);
  // Each of them stores data for anonymous callers: a request, or form data.
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
  router.use(answerStoreAway(log));
  return router;
}
