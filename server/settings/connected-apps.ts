import type { Request, Router } from 'express';
import { createElement } from 'react';
import { ConnectedAppsPage, connectedAppsPath, RemoveAppPage } from '../../views/settings/connected-apps-page.tsx';
import { HttpError, methodNotAllowed, readQueryParam } from '../http/index.ts';
import { notifySecurityChange } from '../messages/index.ts';
import { getRequestOrigin } from '../sessions/index.ts';
import type { AccountDeps } from './deps.ts';
import { type MemberHandler, requireUser, type SignedInUser } from './require-recent-auth.ts';

/** GET /settings/apps */
const list =
  ({ pages, connectedApps }: AccountDeps): MemberHandler =>
  async (req, res, { user }) => {
    const apps = (await connectedApps.list(user.id)).map(({ scopes, resources, ...app }) => {
      const atServers = [...resources].flatMap(([id, names]) => names.map((name) => `${name} (${id})`));
      return { ...app, scopes: [...scopes, ...atServers] };
    });
    const removed = readQueryParam(req, 'notice') === 'removed';
    pages.send(req, res, 200, (ctx) => createElement(ConnectedAppsPage, { ctx, apps, removed }), {
      title: (ctx) => ctx.t('oauth.connected.title'),
      address: connectedAppsPath,
    });
  };

/** The app in the address. @throws {HttpError} notFound if the user is not connected with it */
async function namedApp({ connectedApps }: AccountDeps, req: Request, { user }: SignedInUser) {
  const id = readQueryParam(req, 'client_id');
  const app = (await connectedApps.list(user.id)).find(({ clientId }) => clientId === id);
  if (!app) throw new HttpError('notFound', { detail: 'user has no such connected app' });
  return app;
}

const showRemove =
  (deps: AccountDeps): MemberHandler =>
  async (req, res, member) => {
    const { name: clientName } = await namedApp(deps, req, member);
    const action = req.originalUrl;
    deps.pages.send(req, res, 200, (ctx) => createElement(RemoveAppPage, { ctx, action, clientName }), {
      title: (ctx) => ctx.t('oauth.connected.removing.title', { clientName }),
      address: action,
    });
  };

/**
 * POST /settings/apps/remove: ends everything that the app was granted. A second click changes nothing and sends no
 * mail.
 */
const remove =
  (deps: AccountDeps): MemberHandler =>
  async (req, res, { user }) => {
    const { database, connectedApps, outbox } = deps;
    const id = readQueryParam(req, 'client_id');
    const app = (await connectedApps.list(user.id)).find(({ clientId }) => clientId === id);
    await database.transaction(async (trx) => {
      if (!app || !(await connectedApps.remove(trx, user.id, app.clientId))) return;
      await notifySecurityChange(trx, deps, {
        user,
        change: 'app-removed',
        from: getRequestOrigin(req),
        detail: app.name,
      });
    });
    outbox.wake();
    res.redirect(303, `${connectedAppsPath}?${new URLSearchParams({ notice: 'removed' })}`);
  };

/**
 * Every session of the user may remove an app, however old its authentication is: it gives no access, and a user who
 * sees an unknown app must not have to look for the password first.
 */
export function connectedAppRoutes(router: Router, deps: AccountDeps): void {
  router
    .route(connectedAppsPath)
    .get(requireUser(deps, list(deps)))
    .all(methodNotAllowed('GET', 'HEAD'));
  router
    .route(`${connectedAppsPath}/remove`)
    .get(requireUser(deps, showRemove(deps)))
    .post(requireUser(deps, remove(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
