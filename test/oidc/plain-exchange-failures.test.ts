import { request } from 'node:http';
import * as oidc from 'openid-client';
import { StoreUnavailable } from '../../server/store/index.ts';
import type { User } from '../../server/users/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { until } from '../support/workers.ts';
import {
  type App,
  appOf,
  authenticationOf,
  exchange,
  exchangeByLibrary,
  type Fields,
  refreshRecordOf,
} from './plain-exchange-steps.ts';

const bodyOf = (fields: Fields) => new URLSearchParams(fields).toString();

describe.each(backends)('a plain exchange that is disturbed on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let app: App;
  let headers: Fields;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
    app = await appOf(foyer, await foyer.addClient(), { browser: await foyer.signedIn(user), user });
    headers = authenticationOf(app.client).headers;
  });
  afterAll(() => foyer?.close());
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** The head of an exchange. */
  const begin = (body: string) =>
    request(`${foyer.url}/oauth2/token`, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': body.length,
      },
    });

  it('A body that arrives in pieces is exchanged once it is there', async () => {
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    const body = bodyOf(await app.newCode());
    const sent = begin(body);
    sent.on('response', (answer) => resolve(answer.resume().statusCode));
    await new Promise((done) => sent.write(body.slice(0, 20), done));
    await new Promise((done) => setTimeout(done, 20));
    sent.end(body.slice(20));
    expect(await promise).toBe(200);
  });

  it('A client that leaves within its body gets no answer, and its code stays valid', async () => {
    const body = bodyOf(await app.newCode());
    const gone = Promise.withResolvers<void>();
    const sent = begin(body);
    sent.on('close', gone.resolve);
    sent.on('error', () => {});
    sent.write(body.slice(0, -1), () => sent.destroy());
    await gone.promise;
    expect((await exchange(foyer, body, headers)).status).toBe(200);
  });

  const aborted = () => foyer.logged().split('request aborted').length;

  it('A used code whose sender leaves at once ends the grant of its first use too', async () => {
    const body = bodyOf(await app.newCode());
    const first = await exchange(foyer, body, headers);
    const { kv } = foyer.stores;
    const find = kv.getConsumable.bind(kv);
    const sent = begin(body);
    sent.on('error', () => {});
    jest.spyOn(kv, 'getConsumable').mockImplementationOnce(async (key) => {
      const before = aborted();
      sent.destroy();
      await until('the server sees the end of the connection', () => aborted() > before);
      return find(key);
    });
    const before = aborted();
    sent.end(body);
    await until('the server sees the end of the connection', () => aborted() > before);
    const { access_token } = JSON.parse(first.text) as { access_token: string };
    await until(
      'the grant has ended',
      async () => !(await oidc.tokenIntrospection(app.party.config, access_token)).active,
    );
  });

  it.each(['getConsumable', 'consume', 'set'] as const)(
    'While the store refuses %s the answer is the library’s for a store that is away',
    async (operation) => {
      const [body, other] = [bodyOf(await app.newCode()), bodyOf(await app.newCode())];
      jest.spyOn(foyer.stores.kv, operation).mockRejectedValue(new StoreUnavailable('away'));
      const plain = await exchange(foyer, body, headers);
      const library = await exchangeByLibrary(foyer, other, headers);
      expect([plain.status, plain.byLibrary, library.status, plain.text]).toEqual([503, false, 503, library.text]);
      for (const name of ['retry-after', 'cache-control', 'content-type'])
        expect([name, plain.headers[name]]).toEqual([name, library.headers[name]]);
    },
  );

  it('A fault after the use of the code is a server error with its reference, and ends no other sign-in', async () => {
    const earlier = await tokensFor(app.party, await foyer.signedIn(user), user);
    const body = bodyOf(await app.newCode());
    jest.spyOn(foyer.stores.kv, 'set').mockRejectedValueOnce(new Error('a fault of a test'));
    const answer = await exchange(foyer, body, headers);
    expect([answer.status, answer.byLibrary]).toEqual([500, false]);
    const { error, error_description } = JSON.parse(answer.text) as Record<string, string>;
    expect(error).toBe('server_error');
    expect(foyer.logged()).toContain('a fault of a test');
    expect(foyer.logged()).toContain(/under ([0-9A-F]{10})\.$/.exec(error_description ?? '')?.[1]);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect((await oidc.tokenIntrospection(app.party.config, earlier.access_token)).active).toBe(true);
    expect(await grants()).toBeGreaterThan(0);
  });

  const grants = async () =>
    (
      await foyer.stores.database.db
        .selectFrom('oidc')
        .select('idHash')
        .where('model', '=', 'Grant')
        .where('accountId', '=', user.id)
        .execute()
    ).length;

  it('The use of a code and its access token are sent to the store together', async () => {
    const body = bodyOf(await app.newCode());
    const { kv } = foyer.stores;
    const order: string[] = [];
    const consume = kv.consume.bind(kv);
    const set = kv.set.bind(kv);
    jest.spyOn(kv, 'consume').mockImplementation(async (key) => {
      order.push('consume');
      const result = await consume(key);
      order.push('consumed');
      return result;
    });
    jest.spyOn(kv, 'set').mockImplementation(async (...entry) => {
      order.push('set');
      await set(...entry);
    });
    expect((await exchange(foyer, body, headers)).status).toBe(200);
    expect(order).toEqual(['consume', 'set', 'consumed']);
  });

  it('A grant that ends between the use of the code and the tokens gives neither', async () => {
    const body = bodyOf(await app.newCode());
    const { kv, database } = foyer.stores;
    const consume = kv.consume.bind(kv);
    jest.spyOn(kv, 'consume').mockImplementationOnce(async (key) => {
      const result = await consume(key);
      await database.db.deleteFrom('oidc').where('accountId', '=', user.id).execute();
      return result;
    });
    const answer = await exchange(foyer, body, headers);
    expect([answer.status, answer.byLibrary]).toEqual([400, true]);
    expect(JSON.parse(answer.text)).toMatchObject({ error: 'invalid_grant' });
    expect(answer.text).not.toContain('token":');
  });

  it('Of exchanges at once each stores a refresh token of its own member, and one whose grant has ended meanwhile none', async () => {
    const members = await Promise.all(
      Array.from({ length: 5 }, (_, at) => foyer.addUser({ email: `m${at}@example.com` })),
    );
    const bodies: string[] = [];
    for (const member of members) {
      const own = await appOf(foyer, app.client, { browser: await foyer.signedIn(member), user: member });
      bodies.push(bodyOf(await own.newCode()));
    }
    const { kv, database } = foyer.stores;
    const countTokens = async () =>
      (await database.db.selectFrom('oidc').select('idHash').where('model', '=', 'RefreshToken').execute()).length;
    const before = await countTokens();
    const all = Promise.withResolvers<void>();
    const consume = kv.consume.bind(kv);
    let consumed = 0;
    jest.spyOn(kv, 'consume').mockImplementation(async (key) => {
      const result = await consume(key);
      consumed += 1;
      if (consumed === members.length) {
        const [ended] = members;
        if (ended) await database.db.deleteFrom('oidc').where('accountId', '=', ended.id).execute();
        all.resolve();
      }
      await all.promise;
      return result;
    });
    const answers = await Promise.all(bodies.map((body) => exchange(foyer, body, headers)));
    expect(answers.map(({ status }) => status)).toEqual([400, 200, 200, 200, 200]);
    for (const [at, { text }] of answers.entries()) {
      const { refresh_token: token } = JSON.parse(text) as { refresh_token?: string };
      if (at === 0) expect(token).toBeUndefined();
      else expect(await refreshRecordOf(foyer, token ?? '')).toMatchObject({ accountId: members[at]?.id });
    }
    expect(await countTokens()).toBe(before + 4);
  });

  it('Of two exchanges that have both read the unused code one gets tokens, and the other ends their grant', async () => {
    const body = bodyOf(await app.newCode());
    const { kv } = foyer.stores;
    const both = Promise.withResolvers<void>();
    const consume = kv.consume.bind(kv);
    let waiting = 0;
    jest.spyOn(kv, 'consume').mockImplementation(async (key) => {
      waiting += 1;
      if (waiting === 2) both.resolve();
      await both.promise;
      return consume(key);
    });
    const answers = await Promise.all([exchange(foyer, body, headers), exchange(foyer, body, headers)]);
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 400).length).toBeGreaterThan(0);
    for (const { status, text } of answers) {
      if (status !== 200) continue;
      const { access_token } = JSON.parse(text) as { access_token: string };
      expect(await oidc.tokenIntrospection(app.party.config, access_token)).toEqual({ active: false });
    }
    expect(await grants()).toBe(0);
  });
});
