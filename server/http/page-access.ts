import type { IRoute, RequestHandler, Router } from 'express';

/**
 * The rule of access of a page and of its form.
 * - `visitor`: everybody.
 * - `flow`: everybody may ask; only the browser, or the link, that holds the secret of what was begun gets anything.
 * - `session`: a member who is signed in, whatever they have to do first.
 * - `member`: the same, and nothing comes first: new terms, a second factor that is demanded, an unconfirmed address.
 * - `recent`: the same, authenticated within ten minutes with every factor that the member has.
 * - `recent-with-second-factor`: the same for members who have a second factor; the form itself asks others for the password.
 */
export type PageRule =
  | 'visitor'
  | 'flow'
  | MemberRule
  | { rule: MemberRule; refusedBy: 'page' }
  | { rule: MemberRule; beforeTerms: true };
type MemberRule = 'session' | 'member' | 'recent' | 'recent-with-second-factor';

/** The rule without its remarks. */
export const toRuleName = (rule: PageRule): Exclude<PageRule, object> => (typeof rule === 'object' ? rule.rule : rule);

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
type Registers = Pick<IRoute, (typeof methods)[number]>;

/**
 * Makes each route of a router stand behind the rule of the table. A route without a rule, or with a guard of its own that
 * differs from its rule, stops the start of the server.
 * @param guardOf makes the guard of a rule, for the handlers that stand behind it
 * @throws Error at the registration of a route without a rule
 */
export function behindRules(
  router: Router,
  table: Readonly<Record<string, PageRule>>,
  guardOf: (rule: PageRule, handlers: readonly RequestHandler[], route: string) => RequestHandler[],
): Router {
  const makeRoute = router.route.bind(router) as (path: string) => IRoute;
  const guarded = (path: string): IRoute => {
    const route = makeRoute(path);
    const registers = route as unknown as Record<string, (...handlers: RequestHandler[]) => IRoute>;
    for (const method of methods satisfies readonly (keyof Registers)[]) {
      const register = registers[method]?.bind(route);
      if (!register) throw new Error(`Express registers no ${method}`);
      registers[method] = (...handlers) => {
        const name = `${method.toUpperCase()} ${path}`;
        const rule = Object.hasOwn(table, name) ? table[name] : undefined;
        if (rule === undefined) throw new Error(`the route ${name} has no access rule`);
        return register(...guardOf(rule, handlers, name), ...handlers);
      };
    }
    return route;
  };
  return Object.assign(router, { route: guarded });
}
