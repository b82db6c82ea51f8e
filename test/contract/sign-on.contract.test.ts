import * as oidc from 'openid-client';
import { openDatabase, openKeyValue } from '../../server/store/index.ts';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, tokensFor } from '../support/relying-party.ts';
import { type Backend, backends } from '../support/stores.ts';

/** The same stores, each with a counter of what it is asked. */
function counted(backend: Backend, count: (operation: string) => void): Backend {
  return {
    ...backend,
    async open() {
      const { urls, remove } = await backend.reserve({ migrated: true });
      const observeAs = (store: string) => (operation: string) => count(`${store} ${operation}`);
      const { databaseUrl, redisUrl, dataDir } = urls;
      const database = await openDatabase({ url: databaseUrl, dataDir, observe: observeAs('database') });
      const kv = await openKeyValue({ url: redisUrl, dataDir, observe: observeAs('key-value') });
      const destroy = () => Promise.all([kv.close(), database.close()]).then(remove);
      return { database, kv, urls, destroy };
    },
  };
}

const rounds = 5;

/**
 * SQLite answers from memory while the file tells that nothing has changed. Of PostgreSQL nothing is kept: the client app,
 * the user and the grant are read each time, by one statement.
 */
const selects = (backend: Backend, count: number): string[] =>
  backend.name.startsWith('PostgreSQL') ? Array.from({ length: count }, () => 'database select') : [];

describe.each(backends)('calls to the stores on $name', (backend) => {
  const calls: string[] = [];
  let foyer: TestFoyer;
  let user: User;
  let client: RelyingParty;
  let browser: Browser;
  beforeAll(async () => {
    const stores = counted(backend, (operation) => calls.push(operation));
    foyer = await startFoyer(stores, { KEYS_REFRESH_SECONDS: '300' });
    user = await foyer.addUser();
    client = await relyingParty(foyer, await foyer.addClient());
    browser = foyer.browser();
    await tokensFor(client, browser, user);
    // Jobs (the audit trail's sealer, each second) ask the stores too, and on a busy machine a round can take longer.
    await foyer.app.stop();
  });
  afterAll(() => foyer?.close());

  /** The calls of each round, after one round that fills the caches: the same each time. */
  async function callsOf<T>(act: (prepared: T) => Promise<unknown>, prepare: () => Promise<T>): Promise<string[]> {
    await act(await prepare());
    const asked = new Set<string>();
    for (let round = 1; round < rounds; round += 1) {
      const prepared = await prepare();
      calls.length = 0;
      await act(prepared);
      asked.add(
        calls
          .filter((call) => call !== 'database connect')
          .toSorted()
          .join('\n'),
      );
    }
    expect([...asked]).toHaveLength(1);
    return [...asked].join('\n').split('\n');
  }

  async function authorize() {
    const begun = await client.begin();
    return { begun, callback: locationOf(await browser.get(begun.url, { from: 'cross-site' })) };
  }
  const redeem = ({ callback, begun }: Awaited<ReturnType<typeof authorize>>) => client.redeem(callback, begun);

  it('A silent authorization reads two sessions and writes the code, and reads nothing that only a page shows', async () => {
    expect(await callsOf(authorize, async () => {})).toEqual([
      ...selects(backend, 1),
      'key-value get',
      'key-value getConsumable',
      'key-value set',
    ]);
  });

  it('A silent authorization after a code exchange reads no more: a new refresh token changes no grant', async () => {
    const exchange = async () => void (await redeem(await authorize()));
    expect(await callsOf(authorize, exchange)).toEqual([
      ...selects(backend, 1),
      'key-value get',
      'key-value getConsumable',
      'key-value set',
    ]);
  });

  it('A code exchange consumes the code and writes two tokens', async () => {
    expect(await callsOf(redeem, authorize)).toEqual([
      'database insert',
      ...selects(backend, 1),
      'key-value consume',
      'key-value getConsumable',
      'key-value set',
    ]);
  });

  it('Userinfo reads the access token', async () => {
    const { access_token } = await redeem(await authorize());
    const ask = () => oidc.fetchUserInfo(client.config, access_token, user.id);
    expect(await callsOf(ask, async () => {})).toEqual([...selects(backend, 1), 'key-value getConsumable']);
  });
});
