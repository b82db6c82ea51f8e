import { DashboardPage } from '../../views/oidc/dashboard-page.tsx';
import type { ClientId } from '../shared/index.ts';
import { requireUser, type UserRequest } from '../sign-in/index.ts';
import { listApps, logoOrigins, matchesSearch, searchFrom } from './apps.ts';
import type { ClientMetadata } from './client-metadata.ts';
import { listClients } from './client-store.ts';
import { listLastUses } from './connected-app-store.ts';
import type { OidcDeps } from './deps.ts';

const maxWords = 100;

interface LoadedApps {
  clients: ClientMetadata[];
  lastUses: Map<ClientId, number>;
}

/** Undefined: the list cannot be loaded. */
async function loadApps(r: UserRequest, { database }: OidcDeps): Promise<LoadedApps | undefined> {
  try {
    const [clients, lastUses] = await Promise.all([listClients(database.db), listLastUses(database.db, r.user.id)]);
    return { clients, lastUses };
  } catch (error) {
    r.log.error({ err: error }, 'could not list the client apps');
    return undefined;
  }
}

async function renderDashboard(r: UserRequest, deps: OidcDeps): Promise<void> {
  const { publicUrl, defaultClientId, canAccessClient } = deps;
  const searchText = (r.query('q') ?? '').trim().slice(0, maxWords);
  const loaded = await loadApps(r, deps);
  const rules = { canAccessClient, publicUrl, defaultClientId };
  const all = loaded && listApps(r.user, loaded.clients, { ...rules, lastUses: loaded.lastUses });
  const apps = all && matchesSearch(all, searchText);
  const hasSearch = (all?.length ?? 0) >= searchFrom || searchText !== '';
  r.render(
    DashboardPage,
    { apps, ...(hasSearch && { searchText }) },
    { title: 'dashboard.title', status: apps ? 200 : 503, policy: { images: logoOrigins(apps ?? []) } },
  );
}

/** GET /dashboard: for users. If the list cannot be loaded, the page says so and still shows its other links. */
export const showDashboard = requireUser(renderDashboard);
