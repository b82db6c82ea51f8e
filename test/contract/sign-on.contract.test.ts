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

/** Tasks in the background ask the stores too: the least of some rounds is the request alone. */
const rounds = 5;

/**
 * SQLite answers from memory while the file tells that nothing has changed. Of PostgreSQL nothing is kept: the client app,
 * the user and the grant are read each time.
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
  });
  afterAll(() => foyer?.close());

  async function fewest(act: () => Promise<unknown>): Promise<string[]> {
    let least: string[] | undefined;
    for (let round = 0; round < rounds; round += 1) {
      calls.length = 0;
      await act();
      const asked = calls.filter((call) => call !== 'database connect').toSorted();
      if (!least || asked.length < least.length) least = asked;
    }
    return least ?? [];
  }

  async function authorize() {
    const begun = await client.begin();
    return { begun, callback: locationOf(await browser.get(begun.url, { from: 'cross-site' })) };
  }

  it('A silent authorization reads two sessions and writes the code, and reads nothing that only a page shows', async () => {
    expect(await fewest(authorize)).toEqual([
      ...selects(backend, 5),
      'key-value get',
      'key-value getConsumable',
      'key-value set',
    ]);
  });

  it('A code exchange consumes the code and writes two tokens', async () => {
    const open: Awaited<ReturnType<typeof authorize>>[] = [];
    for (let round = 0; round < rounds; round += 1) open.push(await authorize());
    expect(
      await fewest(async () => {
        const { callback, begun } = open.pop() ?? (await authorize());
        await client.redeem(callback, begun);
      }),
    ).toEqual([
      'database insert',
      ...selects(backend, 4),
      'key-value consume',
      'key-value getConsumable',
      'key-value set',
    ]);
  });

  it('Userinfo reads the access token', async () => {
    const { callback, begun } = await authorize();
    const { access_token } = await client.redeem(callback, begun);
    expect(await fewest(() => oidc.fetchUserInfo(client.config, access_token, user.id))).toEqual([
      ...selects(backend, 3),
      'key-value getConsumable',
    ]);
  });
});
