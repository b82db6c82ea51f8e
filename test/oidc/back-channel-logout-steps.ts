import type { User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { cliOf } from '../support/cli.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import type { Tokens } from '../support/relying-party.ts';
import type { Backend } from '../support/stores.ts';
import { sidOf, type ToldApp, toldApp } from '../support/told-app.ts';

/** For each test a new user, who is signed in to Foyer and to a client app that records its logout tokens. */
export function setUpBackChannelLogout(backend: Backend) {
  let foyer: TestFoyer;
  let app: ToldApp;
  let user: User;
  let browser: Browser;
  let tokens: Tokens;
  let sid: string;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000' });
    app = await toldApp(foyer);
  });
  beforeEach(async () => {
    user = await foyer.addUser();
    ({ browser, tokens } = await inSession());
    sid = sidOf(tokens);
    expect(await app.heard()).toEqual([]);
  });
  afterAll(async () => {
    await app?.close();
    await foyer?.close();
  });

  /** Signs the user in to the client app in a new browser. */
  async function inSession(who = user, at: Browser | undefined = undefined) {
    const own = at ?? (await foyer.signedIn(who));
    return { browser: own, tokens: await app.tokens(own, who) };
  }
  const operator = () => cliOf(foyer);

  return {
    get foyer() {
      return foyer;
    },
    get app() {
      return app;
    },
    get user() {
      return user;
    },
    get browser() {
      return browser;
    },
    get tokens() {
      return tokens;
    },
    set tokens(next: Tokens) {
      tokens = next;
    },
    get sid() {
      return sid;
    },
    inSession,
    operator,
  };
}
