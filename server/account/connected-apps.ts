import { ConnectedAppsPage, connectedAppsPath, RemoveAppPage } from '../../views/account/connected-apps-page.tsx';
import { AddressWithNotice, HttpError } from '../http/index.ts';
import { notifySecurityChange } from '../messages/index.ts';
import { toClientId } from '../shared/index.ts';
import { requireUser, type UserRequest } from '../sign-in/index.ts';
import type { AccountDeps } from './deps.ts';
import { type PageRoute, settingsPage } from './settings-page.ts';

/** The id of the client app follows: its name comes from the store. */
const removedNotice = 'connected-apps:removed/';
/** The policy header lists them, and must not grow without limit. */
const maxOrigins = 30;

async function list(r: UserRequest, { connectedApps }: AccountDeps) {
  const apps = (await connectedApps.list(r.user.id)).map(({ scopes, resources, ...app }) => {
    const atServers = [...resources].flatMap(([id, names]) => names.map((name) => `${name} (${id})`));
    return { ...app, scopes: [...scopes, ...atServers] };
  });
  const removedId = r.takeNotice((name) =>
    name.startsWith(removedNotice) ? toClientId(name.slice(removedNotice.length)) : undefined,
  );
  const removed = removedId === undefined ? undefined : { name: await connectedApps.findName(removedId) };
  const policy = { images: [...new Set(apps.flatMap(({ logoOrigins }) => logoOrigins))].slice(0, maxOrigins) };
  r.render(
    ConnectedAppsPage,
    { apps, removed },
    { title: 'oauth.connected.title', address: connectedAppsPath, policy },
  );
}

/** The app in the address; undefined if the user is not connected with it. */
async function findApp(r: UserRequest, { connectedApps }: AccountDeps) {
  const id = r.query('client_id');
  return (await connectedApps.list(r.user.id)).find(({ clientId }) => clientId === id);
}

/** Ends everything that the app was granted. A second click changes nothing and sends no mail. */
const removePage = settingsPage({
  path: `${connectedAppsPath}/remove`,
  withQuery: true,
  title: (t, { clientName }) => t('oauth.connected.removing.title', { clientName }),
  guard: requireUser,
  Page: RemoveAppPage,
  async toProps(r, deps) {
    const app = await findApp(r, deps);
    if (!app) throw new HttpError('notFound', { detail: 'user has no such connected app' });
    return { clientName: app.name };
  },
  async act(r, deps) {
    const { user, origin } = r;
    const { database, connectedApps, outbox } = deps;
    const app = await findApp(r, deps);
    await database.transaction(async (trx) => {
      if (!app || !(await connectedApps.remove(trx, user.id, app.clientId))) return;
      await notifySecurityChange(trx, deps, {
        user,
        change: 'app-removed',
        from: origin,
        detail: app.name,
        clientId: app.clientId,
      });
    });
    outbox.wake();
    return new AddressWithNotice(connectedAppsPath, `${removedNotice}${r.query('client_id') ?? ''}`);
  },
});

/**
 * Every session of the user may remove an app, however old its authentication is: it gives no access, and a user who
 * sees an unknown app must not have to look for the password first.
 */
export const connectedAppPages: readonly PageRoute[] = [
  { path: connectedAppsPath, get: requireUser(list) },
  removePage,
];
