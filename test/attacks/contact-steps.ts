import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import type { Backend } from '../support/stores.ts';

/** A Foyer that sends codes to the addresses and numbers of many users. */
export function setUpContactChanges(backend: Backend) {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, {
      GUESS_LIMIT_ADDRESS: '1000',
      SMS_LIMIT_ADDRESS: '1000',
      SIGN_UP_LIMIT_ADDRESS: '1000',
    });
  });
  afterAll(() => foyer?.close());

  /** All requests come from one address. Its limits have a test of their own. */
  beforeEach(() =>
    foyer.deps.kv.delete(...['email', 'guess-email', 'guess-phone'].map((what) => `contact-${what}:address:127.0.0.1`)),
  );

  async function somebody(user?: Parameters<TestFoyer['addUser']>[0]) {
    const member = await foyer.addUser(user);
    return { user: member, browser: await foyer.signedIn(member) };
  }

  return {
    get foyer() {
      return foyer;
    },
    somebody,
  };
}
