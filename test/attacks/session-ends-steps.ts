import { sessionIdHash } from '../../server/sessions/session.ts';
import type { User } from '../../server/users/index.ts';
import { withDefaultClient } from '../oidc/token-cookie-tools.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toSessionId } from '../support/ids.ts';
import type { Backend } from '../support/stores.ts';

/** A Foyer whose sessions last at most 24 hours. */
export function setUpSessionEnds(backend: Backend) {
  let foyer: TestFoyer;
  beforeAll(async () => {
    const environment = { SESSION_MAX_HOURS: '24', REMEMBER_ME_DAYS: '30' };
    foyer = await startFoyer(backend, { ...environment, GUESS_LIMIT_ADDRESS: '10000', GUESS_LIMIT_DEVICE: '10000' });
    await withDefaultClient(foyer);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(() => foyer?.close());

  const isIn = async (browser: Browser) => (await browser.get('/settings')).status === 200;
  const idOf = async (browser: Browser) => {
    const cookie = decodeURIComponent((await browser.cookies()).foyer_session ?? '');
    return sessionIdHash(toSessionId(cookie.slice(2).split('.')[0] ?? ''));
  };
  const signIn = async (user: User, more: Record<string, string> = {}) => {
    const browser = foyer.browser();
    expect((await browser.post('/sign-in', { username: user.email, password, ...more })).status).toBe(303);
    return browser;
  };

  return {
    get foyer() {
      return foyer;
    },
    isIn,
    idOf,
    signIn,
  };
}
