import { listIdentities } from '../../server/federation/identity-store.ts';
import { findUserByIdentifier, type User } from '../../server/users/index.ts';
import { comeBy, type Kind, pathOf, somebody } from '../federation/steps.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toNormalisedEmail, toUserId } from '../support/ids.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import type { Backend } from '../support/stores.ts';

/** Two Foyers with the same providers: the second one gives uniform answers. */
export function setUpFederatedAccounts(backend: Backend) {
  let providers: TestProviders;
  let foyer: TestFoyer;
  /** A Foyer with PREVENT_USER_EXISTENCE_ERRORS. */
  let silent: TestFoyer;
  beforeAll(async () => {
    providers = await startProviders();
    const limits = { SIGN_UP_LIMIT_ADDRESS: '100000', GUESS_LIMIT_ADDRESS: '100000', GUESS_LIMIT_ACCOUNT: '1000' };
    foyer = await startFoyer(backend, { ...providers.environment(), ...limits });
    const uniform = { PREVENT_USER_EXISTENCE_ERRORS: 'true' };
    silent = await startFoyer(backend, { ...providers.environment(), ...limits, ...uniform });
  });
  afterAll(async () => {
    await foyer?.close();
    await silent?.close();
    await providers?.close();
  });

  const db = () => foyer.stores.database.db;
  const member = (email = '') => findUserByIdentifier(db(), { email: toNormalisedEmail(email) });
  const links = async (user: User | undefined) => listIdentities(db(), toUserId(user?.id ?? ''));
  const path = (answer: Response) => pathOf(foyer, answer);
  const by = (browser: Browser, kind: Kind, email: string, more = {}) =>
    comeBy(providers, browser, kind, somebody(providers, kind, { email, ...more }));
  const signIn = (browser: Browser, email: string, secret = password, search = '') =>
    browser.post(`/sign-in${search}`, { username: email, password: secret });

  return {
    get providers() {
      return providers;
    },
    get foyer() {
      return foyer;
    },
    get silent() {
      return silent;
    },
    db,
    member,
    links,
    path,
    by,
    signIn,
  };
}
