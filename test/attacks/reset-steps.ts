import type { User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import type { Backend } from '../support/stores.ts';

/** A Foyer, and what a test of a password reset reads of a user. */
export function setUpReset(backend: Backend) {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000' });
  });
  afterAll(() => foyer?.close());

  const rowOf = ({ id }: User) =>
    foyer.stores.database.db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const signIn = (browser: Browser, user: User, given: string) =>
    browser.post('/sign-in', { username: user.email, password: given });
  const expectUnchanged = async (user: User) => {
    const row = await rowOf(user);
    expect([row.passwordHash === user.passwordHash, row.passwordEpoch]).toEqual([true, user.passwordEpoch]);
  };

  return {
    get foyer() {
      return foyer;
    },
    rowOf,
    signIn,
    expectUnchanged,
  };
}
