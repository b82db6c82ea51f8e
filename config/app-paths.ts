/** The pages of the marketplace's other apps in the header: the app of each, and its default path. */
export const appPaths = {
  dashboard: { app: 'main', path: '/dashboard' },
  showcasePages: { app: 'main', path: '/showcase-pages' },
  shortlist: { app: 'main', path: '/shortlist' },
  profile: { app: 'users', path: '/profile' },
  wallet: { app: 'users', path: '/wallet' },
  teams: { app: 'users', path: '/teams' },
  membership: { app: 'users', path: '/membership' },
  paymentMethods: { app: 'users', path: '/payment-methods' },
} as const satisfies Record<string, { app: 'main' | 'users'; path: string }>;

export type AppPath = keyof typeof appPaths;

const isAppPath = (name: string): name is AppPath => Object.hasOwn(appPaths, name);

/** `wallet=/purse,teams=/people` as paths by name; undefined if a name is unknown or a path is invalid. */
export function parseAppPaths(text: string): Partial<Record<AppPath, string>> | undefined {
  const paths: Partial<Record<AppPath, string>> = {};
  for (const pair of text.split(',')) {
    const [, name = '', path = ''] = /^\s*(\w+)\s*=\s*(\/[^\s,]*)\s*$/.exec(pair) ?? [];
    if (!isAppPath(name)) return undefined;
    paths[name] = path;
  }
  return paths;
}
