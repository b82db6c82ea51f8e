import type { RequestHandler, Router } from 'express';
import { createElement } from 'react';
import { DashboardPage } from '../../views/dashboard/dashboard-page.tsx';
import { type Logger, methodNotAllowed, type Pages, query } from '../http/index.ts';
import { type ClientMetadata, listClients } from '../oauth/index.ts';
import type { Sessions } from '../session/index.ts';
import { askToSignIn, standsBeforeAuthorization, type WayOn } from '../sign-in/index.ts';
import type { Database } from '../store/index.ts';
import { type AppRules, appsFor, found, logoOrigins, searchFrom } from './apps.ts';

export interface DashboardDeps extends AppRules {
  pages: Pages;
  log: Logger;
  database: Database;
  sessions: Pick<Sessions, 'member'>;
  wayOn: WayOn;
}

const mostWords = 100;

/** GET /dashboard: for members; a list that cannot be loaded is said on the page, which has the rest of its ways on. */
function showDashboard(deps: DashboardDeps): RequestHandler {
  async function clients(): Promise<ClientMetadata[] | undefined> {
    try {
      return await listClients(deps.database.db);
    } catch (error) {
      deps.log.error({ err: error }, 'the client apps could not be listed');
      return undefined;
    }
  }

  return async (req, res) => {
    const member = await deps.sessions.member(req);
    if (!member) return askToSignIn(req, res, deps.publicUrl);
    const { step } = deps.wayOn(member.user, { search: '' });
    if (standsBeforeAuthorization(step)) {
      const errand = { returnTo: new URL(req.originalUrl, deps.publicUrl).href, search: '' };
      return res.redirect(303, deps.wayOn(member.user, errand).address);
    }
    const words = (query(req, 'q') ?? '').trim().slice(0, mostWords);
    const listed = await clients();
    const all = listed && appsFor(member.user, listed, deps);
    const apps = all && found(all, words);
    deps.pages.send(
      req,
      res,
      apps ? 200 : 503,
      (ctx) =>
        createElement(DashboardPage, {
          ctx,
          apps,
          ...(((all?.length ?? 0) >= searchFrom || words !== '') && { words }),
        }),
      { title: (ctx) => ctx.t('dashboard.title'), policy: { images: logoOrigins(apps ?? []) } },
    );
  };
}

export function dashboardRoutes(router: Router, deps: DashboardDeps): void {
  router.route('/dashboard').get(showDashboard(deps)).all(methodNotAllowed('GET', 'HEAD'));
}
