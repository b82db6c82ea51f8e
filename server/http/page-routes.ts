import type { IRoute, Request, RequestHandler } from 'express';
import { methodNotAllowed } from './error-pages.ts';
import { RequestContext, type RequestServices } from './request-context.ts';

/** Answers one request of a page or form. */
export type PageHandler<Deps, Context extends RequestContext = RequestContext> = (r: Context, deps: Deps) => unknown;

/** A rule that a handler enforces by itself, because it keeps the input of a form that it refuses. */
type OwnRule = 'member' | 'recent';

const rules = new WeakMap<object, OwnRule>();

/** Marks a handler as the guard of its own rule. @returns the handler */
export function enforces<Handler extends object>(rule: OwnRule, handler: Handler): Handler {
  rules.set(handler, rule);
  return handler;
}

/** A handler that ends with another one, and so enforces the same rule. */
export function enforcesLike<Handler extends object>(guarded: object, handler: Handler): Handler {
  const rule = rules.get(guarded);
  return rule === undefined ? handler : enforces(rule, handler);
}

/** The rule that a handler enforces by itself; undefined for other handlers. */
export const ruleOfHandler = (handler: RequestHandler): OwnRule | undefined => rules.get(handler);

/** Registers page (GET) and form (POST) of one path. Every other method is answered with 405. */
export type AddPage<Deps> = (path: string, handlers: { get?: PageHandler<Deps>; post?: PageHandler<Deps> }) => void;

/** A handler throws it if its address names nothing: the visitor gets the page for unknown addresses. */
export class UnknownAddressError extends Error {
  override name = 'UnknownAddressError';
}

/** The pages of a module, whose handlers share these dependencies. */
export function pageRoutes<Deps extends RequestServices>(
  router: { route(path: string): IRoute },
  deps: Deps,
): AddPage<Deps> {
  const toExpress = (handler: PageHandler<Deps>): RequestHandler => {
    const answer: RequestHandler = async (req, res, next) => {
      try {
        await handler(new RequestContext(req, res, deps), deps);
      } catch (error) {
        if (!(error instanceof UnknownAddressError)) throw error;
        next('route');
      }
    };
    const rule = rules.get(handler);
    return rule === undefined ? answer : enforces(rule, answer);
  };
  return (path, { get, post }) => {
    const route = router.route(path);
    if (get) route.get(toExpress(get));
    if (post) route.post(toExpress(post));
    route.all(methodNotAllowed(...(get ? ['GET', 'HEAD'] : []), ...(post ? ['POST'] : [])));
  };
}

/** Calls `act` before POST requests to these paths, and before no other request. */
export const beforePosts =
  (paths: RegExp, act: (req: Request) => Promise<void>): RequestHandler =>
  async (req, _res, next) => {
    if (req.method === 'POST' && paths.test(req.path)) await act(req);
    next();
  };
