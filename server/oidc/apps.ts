import type { AppView } from '../../views/oidc/dashboard-page.tsx';
import type { ClientId } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import type { CanAccessClient } from './access-rule.ts';
import { type ClientMetadata, isVisibleToUsers, toLogoOrigins } from './client-metadata.ts';
import { initiateLoginUrl } from './initiate-login.ts';
import { planRequiredUrlForClient } from './plan-required-handlers.ts';

interface AppRules {
  canAccessClient: CanAccessClient;
  publicUrl: string;
  /** The client of this site itself: not listed, unless it has an address of its own. */
  defaultClientId: ClientId;
  /** When the user last used each app. */
  lastUses: ReadonlyMap<ClientId, number>;
}

/** The user's view of the client apps: the most recently used first, then by name. */
export function listApps(
  user: Pick<User, 'planId' | 'seats' | 'trialUntil'>,
  clients: readonly ClientMetadata[],
  { canAccessClient, publicUrl, defaultClientId, lastUses }: AppRules,
): AppView[] {
  const lastUse = ({ client_id: id }: ClientMetadata) => lastUses.get(id) ?? 0;
  return clients
    .toSorted((one, other) => lastUse(other) - lastUse(one) || one.client_name.localeCompare(other.client_name))
    .filter((client) => isVisibleToUsers(client))
    .filter((client) => client.client_id !== defaultClientId || client.initiate_login_uri !== undefined)
    .map((client): AppView => {
      const { client_id: id, client_name: name, logo_uri: logoUrl, initiate_login_uri: start } = client;
      const app = { id, name, ...(logoUrl !== undefined && { logoUrl }) };
      if (!canAccessClient(client, user)) return { ...app, limitedHref: planRequiredUrlForClient(id) };
      if (start === undefined) return app;
      return { ...app, href: initiateLoginUrl(start, publicUrl), host: new URL(start).host };
    });
}

/** With this many apps or more there is a search box. */
export const searchFrom = 9;

/** Normalizes text for the comparison: without case and accents. */
const plain = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** The apps whose name contains every word, in any order. */
export function matchesSearch(apps: readonly AppView[], words: string): AppView[] {
  const expected = plain(words).split(/\s+/).filter(Boolean);
  return apps.filter(({ name }) => expected.every((word) => plain(name).includes(word)));
}

/** Maximum number of hosts of pictures: the policy header lists them, and must not grow without limit. */
const maxOrigins = 30;

/** The origins of the apps' pictures, for the content security policy. */
export function logoOrigins(apps: readonly Pick<AppView, 'logoUrl'>[]): string[] {
  const origins = apps.flatMap(({ logoUrl }) => toLogoOrigins(logoUrl));
  return [...new Set(origins)].slice(0, maxOrigins);
}
