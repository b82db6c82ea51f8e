import { ConnectedAppsPage, connectedAppsPath, RemoveAppPage } from '../../views/account/connected-apps-page.tsx';
import { type AddPage, HttpError } from '../http/index.ts';
import { notifySecurityChange } from '../messages/index.ts';
import { requireUser, type UserRequest } from '../sign-in/index.ts';
import type { AccountDeps } from './deps.ts';

async function list(r: UserRequest, { connectedApps }: AccountDeps) {
  const apps = (await connectedApps.list(r.user.id)).map(({ scopes, resources, ...app }) => {
    const atServers = [...resources].flatMap(([id, names]) => names.map((name) => `${name} (${id})`));
    return { ...app, scopes: [...scopes, ...atServers] };
  });
  const removed = r.query('notice') === 'removed';
  r.render(ConnectedAppsPage, { apps, removed }, { title: 'oauth.connected.title', address: connectedAppsPath });
}

/** The app in the address; undefined if the user is not connected with it. */
async function findApp(r: UserRequest, { connectedApps }: AccountDeps) {
  const id = r.query('client_id');
  return (await connectedApps.list(r.user.id)).find(({ clientId }) => clientId === id);
}

async function showRemove(r: UserRequest, deps: AccountDeps) {
  const app = await findApp(r, deps);
  if (!app) throw new HttpError('notFound', { detail: 'user has no such connected app' });
  const clientName = app.name;
  const action = r.req.originalUrl;
  r.render(
    RemoveAppPage,
    { action, clientName },
    { title: (ctx) => ctx.t('oauth.connected.removing.title', { clientName }), address: action },
  );
}

/** Ends everything that the app was granted. A second click changes nothing and sends no mail. */
async function remove(r: UserRequest, deps: AccountDeps) {
  const { user, origin } = r;
  const { database, connectedApps, outbox } = deps;
  const app = await findApp(r, deps);
  await database.transaction(async (trx) => {
    if (!app || !(await connectedApps.remove(trx, user.id, app.clientId))) return;
    await notifySecurityChange(trx, deps, { user, change: 'app-removed', from: origin, detail: app.name });
  });
  outbox.wake();
  r.redirect(`${connectedAppsPath}?${new URLSearchParams({ notice: 'removed' })}`);
}

/**
 * Every session of the user may remove an app, however old its authentication is: it gives no access, and a user who
 * sees an unknown app must not have to look for the password first.
 */
export function connectedAppRoutes(add: AddPage<AccountDeps>): void {
  add(connectedAppsPath, { get: requireUser(list) });
  add(`${connectedAppsPath}/remove`, { get: requireUser(showRemove), post: requireUser(remove) });
}
