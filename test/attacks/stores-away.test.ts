import * as oidc from 'openid-client';
import { type Database, type KeyValueStore, StoreUnavailable } from '../../server/store/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { behindProxies } from '../support/proxy.ts';
import { type RelyingParty, relyingParty, signInFor, store } from '../support/relying-party.ts';
import { anyBackend, type Backend, secondBackends } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Answer, basicOf, callByServer, portOf } from './wire.ts';

type Which = 'the key-value store' | 'the database';

/** Stores that a test can make fail as in an outage: every call rejects, as the contract tests require. */
function breakable(backend: Backend) {
  let away: Which | undefined;
  const check = (which: Which) => {
    if (away === which) throw new StoreUnavailable(`${which} is away`);
  };
  function keyValue(kv: KeyValueStore): KeyValueStore {
    return new Proxy(kv, {
      get(target, name, receiver) {
        const member: unknown = Reflect.get(target, name, receiver);
        if (typeof member !== 'function' || name === 'close') return member;
        return async (...args: unknown[]) => {
          check('the key-value store');
          return Reflect.apply(member, target, args);
        };
      },
    });
  }
  function database(real: Database): Database {
    const db = real.db.withPlugin({
      transformQuery({ node }) {
        check('the database');
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    // Prepared statements bypass the plugins.
    const executeQuery = db.executeQuery.bind(db);
    db.executeQuery = async (...query) => {
      check('the database');
      return executeQuery(...query);
    };
    // A cached value is used only while the store confirms that nothing has changed.
    const changes: typeof real.changes = {
      ofRows(table) {
        check('the database');
        return real.changes.ofRows(table);
      },
      ofTable(table) {
        check('the database');
        return real.changes.ofTable(table);
      },
    };
    return {
      ...real,
      db,
      changes,
      async transaction(work) {
        check('the database');
        return real.transaction(work);
      },
    };
  }
  return {
    backend: {
      ...backend,
      async open() {
        const stores = await backend.open();
        return { ...stores, kv: keyValue(stores.kv), database: database(stores.database) };
      },
    } satisfies Backend,
    async without<T>(which: Which, act: () => Promise<T>): Promise<T> {
      away = which;
      try {
        return await act();
      } finally {
        away = undefined;
      }
    },
  };
}

describe.each([anyBackend])('while a store is away', (real) => {
  const { backend, without } = breakable(real);
  let foyer: TestFoyer;
  let app: RelyingParty;
  let basic: string;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { LOG_LEVEL: 'silent' });
    const client = await foyer.addClient();
    app = await relyingParty(foyer, client);
    basic = basicOf(client);
  });
  afterAll(() => foyer?.close());

  const call = (path: string, fields: Record<string, string>, authorization = basic): Promise<Answer> =>
    callByServer(portOf(foyer.url), path, fields, { host: new URL(foyer.url).host, authorization });
  /** The answer is 503 without a redirect, and the browser keeps its session. */
  async function expectAway(answer: Response): Promise<void> {
    expect([answer.status, answer.headers.get('location')]).toEqual([503, null]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await answer.text()).toContain('<h1');
    const kept = answer.headers.getSetCookie().filter((line) => /^foyer_session=/.test(line));
    expect(kept).toEqual([]);
  }
  async function member(): Promise<{ browser: Browser; tokens: oidc.TokenEndpointResponse; sub: string }> {
    const [browser, user, begun] = [foyer.browser(), await foyer.addUser(), await app.begin()];
    return { browser, sub: user.id, tokens: await app.redeem(await signInFor(browser, begun, user), begun) };
  }

  it('A session that could not be read once is not ended', async () => {
    const browser = await foyer.signedIn(await foyer.addUser());
    const { kv } = foyer.stores;
    const read = kv.get;
    kv.get = async () => {
      throw new StoreUnavailable('one read took too long');
    };
    expect((await browser.get('/')).status).toBe(503);
    kv.get = read;
    expect((await browser.get('/')).status).toBe(303);
  });

  it.each([false, true])(
    'A sign-in whose session is stored is answered when the store is away afterwards; remembered: %s',
    async (remember) => {
      const [user, browser] = [await foyer.addUser(), foyer.browser()];
      const { kv } = foyer.stores;
      const { update } = kv;
      kv.update = async () => {
        throw new StoreUnavailable('away');
      };
      try {
        const fields = { username: user.email, password, ...(remember && { remember: '1' }) };
        expect((await browser.post('/sign-in', fields)).status).toBe(303);
      } finally {
        kv.update = update;
      }
      expect((await browser.get('/settings')).status).toBe(200);
    },
  );

  it('Another fault is 500 with a text of Foyer that names the reference of the log line', async () => {
    const { tokens } = await member();
    const { kv } = foyer.stores;
    const read = kv.getConsumable;
    kv.getConsumable = async () => {
      throw new TypeError('a fault of the code');
    };
    const answer = await call('/oauth2/userInfo', {}, `Bearer ${tokens.access_token}`);
    kv.getConsumable = read;
    expect(answer.status).toBe(500);
    const { error, error_description: description } = JSON.parse(answer.text) as Record<string, string>;
    expect([error, description]).toEqual([
      'server_error',
      expect.stringMatching(/^Foyer failed; the log has the reason under [0-9A-F]{10}\.$/),
    ]);
    const [reference = ''] = description?.match(/[0-9A-F]{10}/) ?? [];
    const line = foyer
      .logged()
      .split('\n')
      .find((text) => text.includes('a fault of the code'));
    expect(line).toContain(reference);
  });

  describe.each(['the key-value store', 'the database'] as const)('%s', (which) => {
    it('Signed-in users get 503 and stay signed in', async () => {
      const { browser } = await member();
      await without(which, async () => {
        for (const path of ['/', '/tos', '/verify-user?authorization_code=x', '/oauth2/authorize?client_id=x']) {
          await expectAway(await browser.get(path));
        }
        await expectAway(await browser.post('/storage', { authorization_code: 'x' }));
        await expectAway(await browser.get((await app.begin()).url));
        await expectAway(await browser.get((await app.begin({ prompt: 'none' })).url));
      });
      expect((await browser.get('/')).status).toBe(303);
    });

    it('No user signs in, whatever the password, and no attempt is counted', async () => {
      const user = await foyer.addUser();
      const browser = foyer.browser();
      await without(which, async () => {
        for (let n = 0; n < 12; n += 1) {
          await expectAway(await browser.post('/sign-in', { username: user.email, password }));
        }
      });
      expect((await browser.post('/sign-in', { username: user.email, password })).status).toBe(303);
    });

    it('Client apps get 503, and no token is called invalid or revoked', async () => {
      const { tokens } = await member();
      const { access_token: token, refresh_token = '' } = tokens;
      await without(which, async () => {
        for (const [path, fields, authorization] of [
          ['/oauth2/userInfo', {}, `Bearer ${token}`],
          ['/oauth2/introspect', { token }, basic],
          ['/oauth2/revoke', { token }, basic],
          ['/oauth2/token', { grant_type: 'refresh_token', refresh_token }, basic],
          ['/oauth2/par', { response_type: 'code', redirect_uri: app.redirectUri, scope: 'openid' }, basic],
          ['/oauth2/device_authorization', { scope: 'openid' }, basic],
        ] as [string, Record<string, string>, string][]) {
          const answer = await call(path, fields, authorization);
          expect([path, answer.status, answer.headers['retry-after'], JSON.parse(answer.text)]).toEqual([
            path,
            503,
            '5',
            { error: 'temporarily_unavailable', error_description: 'A store does not answer; try again.' },
          ]);
        }
      });
      expect((await oidc.tokenIntrospection(app.config, token)).active).toBe(true);
      // The failed refresh has not used its token up.
      expect((await oidc.refreshTokenGrant(app.config, refresh_token)).access_token).toBeTruthy();
    });

    it('A code that gets 503 meanwhile is redeemed afterwards', async () => {
      const [browser, user, begun] = [foyer.browser(), await foyer.addUser(), await app.begin()];
      const home = await signInFor(browser, begun, user);
      const fields = {
        grant_type: 'authorization_code',
        code: new URL(home).searchParams.get('code') ?? '',
        redirect_uri: app.redirectUri,
        code_verifier: begun.verifier,
      };
      await without(which, async () => {
        expect((await call('/oauth2/token', fields)).status).toBe(503);
      });
      expect((await call('/oauth2/token', fields)).status).toBe(200);
    });

    it('A sign-out that cannot be carried out gets 503 and works afterwards', async () => {
      const { browser, tokens, sub } = await member();
      const out = await without(which, () => browser.post('/logout'));
      expect(out.status).toBe(503);
      expect((await browser.post('/logout')).status).toBe(303);
      expect((await browser.get('/')).status).toBe(200);
      await expect(oidc.fetchUserInfo(app.config, tokens.access_token, sub)).rejects.toThrow();
    });

    it('A sign-in for a client app continues where it stopped', async () => {
      const [browser, user, begun] = [foyer.browser(), await foyer.addUser(), await app.begin()];
      const at = locationOf(await browser.get(begun.url));
      await without(which, async () => expectAway(await browser.get(at)));
      const verify = locationOf(
        await browser.post(`/sign-in${new URL(at).search}`, { username: user.email, password }),
      );
      await without(which, async () => {
        const id = new URL(at).searchParams.get('authorization_code');
        expect((await browser.postJson('/storage', { authorization_code: id })).status).toBe(503);
      });
      const home = locationOf(await browser.get(await store(browser, verify)));
      expect((await app.redeem(home, begun)).claims()?.sub).toBe(user.id);
    });
  });
});

const [servers] = secondBackends;

if (servers) {
  describe('while Redis itself does not answer', () => {
    const { backend, proxies } = behindProxies(servers);
    let foyer: TestFoyer;
    beforeAll(async () => {
      foyer = await startFoyer(backend, { LOG_LEVEL: 'silent' });
    });
    afterAll(() => foyer?.close());

    it('A signed-in browser gets 503 and keeps its session when the session cannot be read', async () => {
      const browser = await foyer.signedIn(await foyer.addUser());
      const { foyer_session: before } = await browser.cookies();
      proxies.keyValue().cut();
      try {
        const answer = await browser.get('/settings');
        expect([answer.status, answer.headers.get('location')]).toEqual([503, null]);
        expect(answer.headers.getSetCookie().filter((line) => line.startsWith('foyer_session='))).toEqual([]);
      } finally {
        await proxies.keyValue().mend();
      }
      await waitFor(async () => expect((await browser.get('/settings')).status).toBe(200), 10_000);
      expect((await browser.cookies()).foyer_session).toBe(before);
    });
  });
}
