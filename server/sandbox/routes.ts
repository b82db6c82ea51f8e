import type { Router } from 'express';
import { createElement } from 'react';
import { StandInAppPage } from '../../views/sandbox/stand-in-app-page.tsx';
import { fullName, type User } from '../account/index.ts';
import { methodNotAllowed, type Pages } from '../http/index.ts';
import type { Sessions } from '../session/index.ts';

function memberOf(user: User) {
  const initials = [user.givenName, user.familyName].map((name) => name.charAt(0)).join('');
  return { name: fullName(user), email: user.email, initials: (initials || user.email.charAt(0)).toUpperCase() };
}

/** Pages that stand for the marketplace's own apps where none is configured. */
export function sandboxRoutes(router: Router, { pages, sessions }: { pages: Pages; sessions: Sessions }): void {
  for (const app of ['search', 'main'] as const) {
    router
      .route(`/sandbox/${app}`)
      .get(async (req, res) => {
        const found = await sessions.member(req);
        const member = found && memberOf(found.user);
        pages.send(
          req,
          res,
          200,
          (ctx) => createElement(StandInAppPage, { ctx, app, signOutAction: '/logout', ...(member && { member }) }),
          { title: (ctx) => ctx.t(`sandbox.${app}.title`) },
        );
      })
      .all(methodNotAllowed('GET', 'HEAD'));
  }
}
