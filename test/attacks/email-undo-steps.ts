import type { User } from '../../server/users/index.ts';
import { newPassword, rowOf, signIn } from '../account/contact/steps.ts';
import { read } from '../password/steps.ts';
import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import type { Backend } from '../support/stores.ts';

/** For each test a new user whose account a thief is signed in to. */
export function setUpStolenAccount(backend: Backend) {
  let foyer: TestFoyer;
  let user: User;
  /** A browser in which the thief is signed in. */
  let thief: Browser;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000', SMS_LIMIT_ADDRESS: '1000' });
  });
  beforeEach(async () => {
    await foyer.deps.kv.delete('contact-email:address:127.0.0.1');
    user = await foyer.addUser();
    thief = await foyer.signedIn(user);
  });
  afterAll(() => foyer?.close());

  const expectTakenBack = async () => {
    expect(await rowOf(foyer, user)).toMatchObject({ email: user.email, emailVerified: 1 });
    expect((await signIn(foyer.browser(), user.email, newPassword)).status).toBe(303);
  };
  const expectGone = async (answer: Response) => {
    expect([answer.status, await read(answer)]).toEqual([404, expect.stringContaining('This link no longer works')]);
  };

  return {
    get foyer() {
      return foyer;
    },
    get user() {
      return user;
    },
    get thief() {
      return thief;
    },
    expectTakenBack,
    expectGone,
  };
}
