import type { AppView } from '../../views/dashboard/dashboard-page.tsx';
import {
  type CanAccessClient,
  type ClientMetadata,
  initiateLoginUrl,
  isVisibleToUsers,
  planRequiredUrlForClient,
} from '../oidc/index.ts';
import type { User } from '../users/index.ts';

export interface AppRules {
  mayEnter: CanAccessClient;
  publicUrl: string;
  /** This site itself as a client: where members are already, unless it has an address of its own. */
  defaultClientId: string;
}

/** What a member is shown of the client apps, by name. */
export function listApps(
  user: Pick<User, 'planId' | 'trialUntil'>,
  clients: readonly ClientMetadata[],
  { mayEnter, publicUrl, defaultClientId }: AppRules,
): AppView[] {
  return clients
    .filter((client) => isVisibleToUsers(client))
    .filter((client) => client.client_id !== defaultClientId || client.initiate_login_uri !== undefined)
    .map((client): AppView => {
      const { client_id: id, client_name: name, logo_uri: logoUrl, initiate_login_uri: start } = client;
      const app = { id, name, ...(logoUrl !== undefined && { logoUrl }) };
      if (!mayEnter(client, user)) return { ...app, limitedHref: planRequiredUrlForClient(id) };
      return start === undefined ? app : { ...app, href: initiateLoginUrl(start, publicUrl) };
    })
    .sort((one, other) => one.name.localeCompare(other.name));
}

/** From so many apps on there is a search box. */
export const searchFrom = 9;

/** As letters are compared: without case, without their accents. */
const plain = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Those whose name or id has every word, in any order. */
export function matchesSearch(apps: readonly AppView[], words: string): AppView[] {
  const expected = plain(words).split(/\s+/).filter(Boolean);
  return apps.filter(({ name, id }) => expected.every((word) => plain(`${name} ${id}`).includes(word)));
}

/** Of how many hosts pictures are shown at most: they are named in a header, which must not grow without end. */
const maxOrigins = 30;

/** Where the apps' pictures come from, for the content security policy. */
export function logoOrigins(apps: readonly Pick<AppView, 'logoUrl'>[]): string[] {
  const origins = apps.flatMap(({ logoUrl }) => {
    const url = logoUrl === undefined ? null : URL.parse(logoUrl);
    return url === null || url.origin === 'null' ? [] : [url.origin];
  });
  return [...new Set(origins)].slice(0, maxOrigins);
}
