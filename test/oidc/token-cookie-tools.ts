import { ensureDefaultClient } from '../../server/oidc/index.ts';
import { sha256 } from '../../server/shared/index.ts';
import type { User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';

export const names = ['foyer_id_token', 'foyer_access_token', 'foyer_refresh_token'];
export const minuteMs = 60_000;

export const withDefaultClient = async (foyer: TestFoyer) => {
  const { config, database, now } = foyer.deps;
  await ensureDefaultClient(
    database,
    { id: 'web', name: 'Foyer', publicUrl: config.PUBLIC_URL, development: !config.production },
    now(),
  );
};

/** The token cookies that these lines set, by name; '' for a cookie that they remove. */
export function setOf(lines: readonly string[]): Record<string, string> {
  const pairs = lines.map((line) => line.split(';', 1)[0]?.split('=', 2) ?? []);
  return Object.fromEntries(
    pairs.flatMap(([name = '', value = '']) => (names.includes(name.replace('__Host-', '')) ? [[name, value]] : [])),
  );
}
export const setBy = (answer: Response) => setOf(answer.headers.getSetCookie());

/** Steps of the tests of token cookies, on the Foyer that runs at the moment. */
export function tokenCookieTools(foyer: () => TestFoyer) {
  const userinfo = (token: string) =>
    sendRequest(`${foyer().url}/oauth2/userInfo`, { headers: { authorization: `Bearer ${token}` } });
  const page = (browser: Browser, path = '/tos') => browser.get(path);
  /** Ends the half minute in which only one request renews the tokens. */
  const endLeases = async (user: User) => {
    const sessions = await foyer().deps.kv.setMembers(`sessions-of:${user.id}`);
    await foyer().deps.kv.delete(...sessions.map((idHash) => `token-cookies:${idHash}`));
  };
  const refreshTokenIn = (value: string | undefined) => value?.split('.')[1] ?? '';
  const stored = (token: string) =>
    foyer()
      .deps.database.db.selectFrom('oidc')
      .select(['consumedAt', 'grantId'])
      .where('model', '=', 'RefreshToken')
      .where('idHash', '=', sha256(token))
      .executeTakeFirst();
  return { userinfo, page, endLeases, refreshTokenIn, stored };
}
