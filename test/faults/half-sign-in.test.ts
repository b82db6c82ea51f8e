import type { KyselyPlugin } from 'kysely';
import { type Database, type KeyValueStore, StoreUnavailable } from '../../server/store/index.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend, type Backend } from '../support/stores.ts';

/** More calls than one request makes. */
const mostCalls = 150;
/** Cookies that give access; the others are of forms, notices and devices. */
const ofAccess = /^(?:__Host-)?foyer_(?:session|op|id_token|access_token|refresh_token)$/;

/** Stores that fail one call, the n-th from `fail` on, and those after it if they are `away`. */
function failingStores(backend: Backend) {
  let calls = 0;
  let failing: { n: number; away: boolean } | undefined;
  let hasFailed = false;
  function call(): void {
    if (!failing) return;
    calls += 1;
    if (calls === failing.n || (failing.away && calls > failing.n)) {
      hasFailed = true;
      throw new StoreUnavailable('this call fails');
    }
  }
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      call();
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const ofDatabase = (database: Database): Database => ({
    ...database,
    db: database.db.withPlugin(plugin),
    transaction: (work) => database.transaction((trx) => work(trx.withPlugin(plugin) as typeof trx)),
  });
  const ofKeyValue = (kv: KeyValueStore): KeyValueStore =>
    new Proxy(kv, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return async (...words: unknown[]) => {
          if (name !== 'close') call();
          return Reflect.apply(value, target, words);
        };
      },
    });
  return {
    backend: {
      ...backend,
      async open() {
        const { database, kv, ...stores } = await backend.open();
        return { ...stores, database: ofDatabase(database), kv: ofKeyValue(kv) };
      },
    } satisfies Backend,
    fail(n: number, away: boolean) {
      failing = { n, away };
      calls = 0;
      hasFailed = false;
    },
    /** @returns whether a call has failed since `fail` */
    mend() {
      failing = undefined;
      return hasFailed;
    },
  };
}

describe.each([
  ['fails for one call', false],
  ['is away from one call on', true],
])('a sign-in during which a store %s', (_what, away) => {
  const stores = failingStores(anyBackend);
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(stores.backend);
  });
  afterAll(() => foyer?.close());

  interface Acted {
    browser: Browser;
    answer: Response;
  }

  /** Lets each call of the act fail in turn. @returns the answers that were errors */
  async function eachCall(
    open: () => Promise<Browser>,
    act: (browser: Browser) => Promise<Response>,
  ): Promise<(Acted & { n: number })[]> {
    const refused = [];
    for (let n = 1; n <= mostCalls; n += 1) {
      const browser = await open();
      stores.fail(n, away);
      const answer = await act(browser);
      if (!stores.mend()) return refused;
      if (answer.status !== 303) refused.push({ n, browser, answer });
    }
    throw new Error('the act makes more calls than expected');
  }

  /** The names of the cookies that an answer sets, and that give access. */
  const given = ({ headers }: Response) =>
    headers.getSetCookie().flatMap((line) => {
      const [, name = '', value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      return value !== '' && ofAccess.test(name) ? [name] : [];
    });

  it('A sign-in that is answered with an error gives the browser no session, and no token', async () => {
    const user = await foyer.addUser();
    const refused = await eachCall(
      async () => foyer.browser(),
      (browser) => browser.post('/sign-in', { username: user.email, password }),
    );
    expect(refused.length).toBeGreaterThan(10);
    for (const { n, answer, browser } of refused) {
      expect([n, answer.status, given(answer)]).toEqual([n, 503, []]);
      expect([n, (await browser.get('/settings')).status]).toEqual([n, 303]);
    }
    const browser = await foyer.signedIn(user);
    expect((await browser.get('/settings')).status).toBe(200);
  });

  it('A renewed sign-in that is answered with an error gives the browser no other session than it had', async () => {
    const refused = await eachCall(
      async () => foyer.signedIn(await foyer.addUser()),
      (browser) => browser.post('/re-authenticate', { password }),
    );
    expect(refused.length).toBeGreaterThan(10);
    for (const { n, answer } of refused) expect([n, answer.status, given(answer)]).toEqual([n, 503, []]);
  });
});
