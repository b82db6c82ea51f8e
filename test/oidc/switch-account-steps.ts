import type { User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty } from '../support/relying-party.ts';
import type { Backend } from '../support/stores.ts';

export const site = 'https://shop.example';
export const callback = `${site}/callback`;
export const fromShop = { from: 'cross-site', headers: { referer: `${site}/account` } } as const;

/** For each test a browser with a session of one user, and the client app that links to /logout. */
export function setUpSwitchAccount(backend: Backend) {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  let client: RelyingParty;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
    const added = await foyer.addClient({ redirectUris: [callback], responseTypes: ['code', 'id_token'] });
    client = await relyingParty(foyer, added);
  });
  beforeEach(async () => {
    browser = await foyer.signedIn(user);
  });
  afterAll(() => foyer?.close());

  const isSignedIn = async () => (await browser.get('/settings')).status === 200;
  const logout = (parameters: Record<string, string>) => `/logout?${new URLSearchParams(parameters)}`;
  const idToken = (more: Record<string, string> = {}) => ({
    response_type: 'id_token',
    client_id: client.id,
    redirect_uri: callback,
    scope: 'openid email',
    nonce: 'n-1',
    state: 's-1',
    ...more,
  });

  return {
    get foyer() {
      return foyer;
    },
    get user() {
      return user;
    },
    get browser() {
      return browser;
    },
    set browser(next: Browser) {
      browser = next;
    },
    get client() {
      return client;
    },
    isSignedIn,
    logout,
    idToken,
  };
}
