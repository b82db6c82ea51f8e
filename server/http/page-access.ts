import type { IRoute, RequestHandler, Router } from 'express';

/**
 * The access rule of a page and of its form.
 * - `visitor`: everyone.
 * - `flow`: everyone can ask, but only the browser or link with the secret of the flow gets anything.
 * - `session`: a signed-in user, whatever they have to do first.
 * - `member`: the same, but without an open step: new terms, a required second factor, an unconfirmed address.
 * - `recent`: the same, authenticated within ten minutes with all factors of the user.
 * - `recent-with-second-factor`: the same for users with a second factor; the form itself asks others for the password.
 */
export type PageRule =
  | 'visitor'
  | 'flow'
  | MemberRule
  | { rule: MemberRule; refusedBy: 'page' }
  | { rule: MemberRule; beforeTerms: true };
type MemberRule = 'session' | 'member' | 'recent' | 'recent-with-second-factor';

/** The name of the rule without its options. */
export const toRuleName = (rule: PageRule): Exclude<PageRule, object> => (typeof rule === 'object' ? rule.rule : rule);

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

/**
 * Puts each route of a router behind its rule in the table. A route without a rule, or with a guard that differs from
 * its rule, stops the start of the server.
 * @param createGuards makes the guard of a rule, for the handlers behind it
 * @throws Error at the registration of a route without a rule
 */
export function behindRules(
  router: Router,
  table: Readonly<Record<string, PageRule>>,
  createGuards: (rule: PageRule, handlers: readonly RequestHandler[], route: string) => RequestHandler[],
): Router {
  const makeRoute = router.route.bind(router) as (path: string) => IRoute;
  const guarded = (path: string): IRoute => {
    const route = makeRoute(path);
    for (const method of methods) {
      const register = route[method].bind(route);
      const registerGuarded = (...handlers: RequestHandler[]): IRoute => {
        const name = `${method.toUpperCase()} ${path}`;
        const rule = Object.hasOwn(table, name) ? table[name] : undefined;
        if (rule === undefined) throw new Error(`the route ${name} has no access rule`);
        return register(...createGuards(rule, handlers, name), ...handlers);
      };
      Object.assign(route, { [method]: registerGuarded });
    }
    return route;
  };
  return Object.assign(router, { route: guarded });
}
