import { type AppPath, appPaths } from '../../config/app-paths.ts';
import type { PageContext } from '../../views/page-context.ts';

interface LinkSettings {
  mainAppUrl?: string | undefined;
  userManagementUrl?: string | undefined;
  searchAppUrl?: string | undefined;
  helpUrl?: string | undefined;
  privacyUrl?: string | undefined;
  /** Paths of pages in the two apps, if they differ from the defaults. */
  paths?: Partial<Record<AppPath, string>> | undefined;
}

/** The addresses of the marketplace's other apps. An app that is not configured gets no link. */
export function toAppLinks(settings: LinkSettings): PageContext['links'] {
  const bases = { main: settings.mainAppUrl, users: settings.userManagementUrl };
  const pages = Object.entries(appPaths).map(([name, { app, path }]) => {
    const base = bases[app];
    const own = settings.paths?.[name as AppPath] ?? path;
    // The app's address may have a path of its own.
    return [name, base === undefined ? undefined : `${base.replace(/\/+$/, '')}${own}`];
  });
  const others = [
    ['search', settings.searchAppUrl],
    ['help', settings.helpUrl],
    ['privacy', settings.privacyUrl],
  ];
  return Object.fromEntries([...pages, ...others].filter(([, address]) => address !== undefined));
}
