import type { RequestHandler } from 'express';
import { isRecentlyAuthenticated, reAuthenticateFor } from './account/index.ts';
import { type PageRule, ruleOfHandler, seeOther } from './http/index.ts';
import { findUserOrRedirect, redirectToSignIn, type UserLookupDeps } from './sign-in/index.ts';

/**
 * The guards of the access table, for the routes of pages. A handler of the settings has its own guard, because that
 * keeps the input of a form that was sent too late; it must enforce the same rule.
 * @throws Error if the guard of a handler differs from the rule of its route
 */
export function pageGuard(deps: UserLookupDeps & { now: () => number }) {
  const session: RequestHandler = async (req, res, next) => {
    if (await deps.sessions.getCurrentUser(req)) return next();
    redirectToSignIn({ req, res }, deps.publicUrl);
  };
  const member: RequestHandler = async (req, res, next) => {
    if (await findUserOrRedirect({ req, res }, deps)) next();
  };
  const recent: RequestHandler = async (req, res, next) => {
    const found = await findUserOrRedirect({ req, res }, deps);
    if (!found) return;
    if (isRecentlyAuthenticated(found, deps.now())) return next();
    seeOther({ req, res }, reAuthenticateFor(req));
  };
  // Without a second factor the form asks for the password, which proves as much; a user without a password has nothing
  // else to present.
  const recentWithSecondFactor: RequestHandler = async (req, res, next) => {
    const found = await findUserOrRedirect({ req, res }, deps);
    if (!found) return;
    const { mfaPreference, passwordHash } = found.user;
    const passwordIsEnough = mfaPreference === 'none' && passwordHash !== null;
    if (passwordIsEnough || isRecentlyAuthenticated(found, deps.now())) return next();
    seeOther({ req, res }, reAuthenticateFor(req));
  };
  const guards = { session, member, recent, 'recent-with-second-factor': recentWithSecondFactor };

  return (rule: PageRule, handlers: readonly RequestHandler[], route: string): RequestHandler[] => {
    const own = handlers.map(ruleOfHandler).find((one) => one !== undefined);
    const named = typeof rule === 'object' ? rule.rule : rule;
    const fits = own === named || (own === 'member' && (named === 'recent' || named === 'recent-with-second-factor'));
    if (own !== undefined && !fits) throw new Error(`the route ${route} has the rule ${named} and the guard ${own}`);
    const isPagesOwn = typeof rule === 'object' && 'refusedBy' in rule;
    if (isPagesOwn || named === 'visitor' || named === 'flow' || own === named) return [];
    return [guards[named]];
  };
}
