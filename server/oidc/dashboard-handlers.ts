import type { RequestHandler, Router } from 'express';
import { createElement } from 'react';
import { DashboardPage } from '../../views/oidc/dashboard-page.tsx';
import { type Logger, methodNotAllowed, type Pages, readQueryParam } from '../http/index.ts';
import type { Sessions } from '../sessions/index.ts';
import { blocksAuthorization, type NextRedirect, redirectToSignIn } from '../sign-in/index.ts';
import type { Database } from '../store/index.ts';
import { type AppRules, listApps, logoOrigins, matchesSearch, searchFrom } from './apps.ts';
import { type ClientMetadata, listClients } from './index.ts';

export interface DashboardDeps extends AppRules {
  pages: Pages;
  log: Logger;
  database: Database;
  sessions: Pick<Sessions, 'getCurrentUser'>;
  nextRedirect: NextRedirect;
}

const maxWords = 100;

/** GET /dashboard: for users. If the list cannot be loaded, the page says so and still shows its other links. */
function showDashboard(deps: DashboardDeps): RequestHandler {
  async function clients(): Promise<ClientMetadata[] | undefined> {
    try {
      return await listClients(deps.database.db);
    } catch (error) {
      deps.log.error({ err: error }, 'could not list the client apps');
      return undefined;
    }
  }

  return async (req, res) => {
    const member = await deps.sessions.getCurrentUser(req);
    if (!member) return redirectToSignIn({ req, res }, deps.publicUrl);
    const { step } = deps.nextRedirect(member.user, { search: '' });
    if (blocksAuthorization(step)) {
      const continuation = { returnTo: new URL(req.originalUrl, deps.publicUrl).href, search: '' };
      return res.redirect(303, deps.nextRedirect(member.user, continuation).address);
    }
    const searchText = (readQueryParam(req, 'q') ?? '').trim().slice(0, maxWords);
    const listed = await clients();
    const all = listed && listApps(member.user, listed, deps);
    const apps = all && matchesSearch(all, searchText);
    deps.pages.send(
      req,
      res,
      apps ? 200 : 503,
      (ctx) =>
        createElement(DashboardPage, {
          ctx,
          apps,
          ...(((all?.length ?? 0) >= searchFrom || searchText !== '') && { searchText }),
        }),
      { title: (ctx) => ctx.t('dashboard.title'), policy: { images: logoOrigins(apps ?? []) } },
    );
  };
}

export function dashboardRoutes(router: Router, deps: DashboardDeps): void {
  router.route('/dashboard').get(showDashboard(deps)).all(methodNotAllowed('GET', 'HEAD'));
}
