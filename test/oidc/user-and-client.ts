import type { User } from '../../server/users/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty } from '../support/relying-party.ts';
import type { Backend } from '../support/stores.ts';

/** A Foyer with one user. */
export function setUpUser(backend: Backend) {
  let foyer: TestFoyer;
  let user: User;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
  });
  afterAll(() => foyer?.close());

  return {
    get foyer() {
      return foyer;
    },
    get user() {
      return user;
    },
  };
}

/** A Foyer with one user and one client app. */
export function setUpUserAndClient(backend: Backend) {
  const context = setUpUser(backend);
  let client: RelyingParty;
  beforeAll(async () => {
    client = await relyingParty(context.foyer, await context.foyer.addClient());
  });

  return {
    get foyer() {
      return context.foyer;
    },
    get user() {
      return context.user;
    },
    get client() {
      return client;
    },
  };
}
