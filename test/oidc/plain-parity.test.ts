import Provider from 'oidc-provider';
import * as oidc from 'openid-client';
import { type ClientRequest, findClient, updateClient } from '../../server/oidc/index.ts';
import { noMetrics } from '../../server/shared/index.ts';
import type { User } from '../../server/users/index.ts';
import { production, site } from '../attacks/production.ts';
import { type Answer, portOf, send, Visitor } from '../attacks/wire.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';
import { appOf, authenticationOf, exchange, exchangeByLibrary, type Fields } from './plain-exchange-steps.ts';

const bodyOf = (fields: Fields) => new URLSearchParams(fields).toString();

describe.each(backends)('plain answers beside those of the library on $name', (backend) => {
  const counted: string[] = [];
  const count =
    (name: string) =>
    (...values: unknown[]): void => {
      counted.push([name, ...values].join(' '));
    };
  let foyer: TestFoyer;
  beforeAll(async () => {
    const counting = { issued: count('issued'), reused: count('reused'), clientRefused: count('refused') };
    foyer = await startFoyer(backend, {}, { metrics: { ...noMetrics, on: true, ...counting } });
  });
  afterAll(() => foyer?.close());
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** A client app with a member of its own who is signed in to it. */
  async function alone(request: Partial<ClientRequest> = {}) {
    const member = await foyer.addUser();
    const of = await foyer.signedIn(member);
    return { member, of, app: await appOf(foyer, await foyer.addClient(request), { browser: of, user: member }) };
  }

  async function countedBy(act: () => Promise<unknown>): Promise<string[]> {
    counted.length = 0;
    await act();
    return counted.toSorted();
  }

  /** @returns the answer, and whether the library had the request */
  async function authorize(of: Browser, url: string): Promise<Answer & { byLibrary: boolean }> {
    const reached = jest.spyOn(Provider.prototype, 'createContext');
    const { host, pathname, search } = new URL(url);
    const cookie = await of.jar.getCookieString(foyer.url);
    const answer = await send(portOf(foyer.url), pathname + search, { headers: { host, accept: 'text/html', cookie } });
    const byLibrary = reached.mock.calls.length > 0;
    reached.mockRestore();
    return { ...answer, byLibrary };
  }

  const grantsOf = ({ id }: User) =>
    foyer.stores.database.db
      .selectFrom('oidc')
      .select('idHash')
      .where('model', '=', 'Grant')
      .where('accountId', '=', id)
      .execute();

  it.each<[string, Partial<ClientRequest>]>([
    ['a confidential app', {}],
    ['a public app', { public: true }],
  ])('The metrics count the codes and tokens of %s as those of the library', async (_, request) => {
    const { app, of } = await alone(request);
    await app.newCode();
    const { url } = await app.party.begin();
    const codes = [await countedBy(() => authorize(of, url)), await countedBy(() => authorize(of, `${url}&unknown=1`))];
    expect(codes[0]).toHaveLength(1);
    expect(codes[0]).toEqual(codes[1]);
    const { headers, fields } = authenticationOf(app.client);
    const bodies = [await app.newCode(), await app.newCode()].map((code) => bodyOf({ ...code, ...fields }));
    const plain = await countedBy(() => exchange(foyer, bodies[0] ?? '', headers));
    const library = await countedBy(() => exchangeByLibrary(foyer, bodies[1] ?? '', headers));
    expect(plain).toHaveLength(3);
    expect(plain).toEqual(library);
  });

  it('A grant that ends during an exchange is not reported as a stolen code, as by the library', async () => {
    const { kv, database } = foyer.stores;
    const consume = kv.consume.bind(kv);
    const outcomes = [];
    for (const by of [exchange, exchangeByLibrary]) {
      const { app, member } = await alone();
      const body = bodyOf(await app.newCode());
      jest.spyOn(kv, 'consume').mockImplementationOnce(async (key) => {
        const result = await consume(key);
        await database.db.deleteFrom('oidc').where('accountId', '=', member.id).execute();
        return result;
      });
      let status = 0;
      const events = await countedBy(async () => {
        ({ status } = await by(foyer, body, authenticationOf(app.client).headers));
      });
      // The library counts the access token, although it does not give it out.
      outcomes.push({ status, events: events.filter((event) => !event.startsWith('issued')) });
    }
    expect(outcomes[0]).toEqual({ status: 400, events: ['refused token invalid_grant'] });
    expect(outcomes[0]).toEqual(outcomes[1]);
  });

  it('A code that is used twice is reported once, by either way', async () => {
    for (const by of [exchange, exchangeByLibrary]) {
      const { app } = await alone();
      const body = bodyOf(await app.newCode());
      const { headers } = authenticationOf(app.client);
      expect((await exchange(foyer, body, headers)).status).toBe(200);
      const again = await countedBy(() => by(foyer, body, headers));
      expect(again).toEqual(['refused token invalid_grant', 'reused authorization_code']);
    }
  });

  it('Of ten equal exchanges at once, half of them the library’s, one gets tokens at most, which end', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { app, member } = await alone({ public: round % 2 === 0 });
      const { headers, fields } = authenticationOf(app.client);
      const body = bodyOf({ ...(await app.newCode()), ...fields });
      const both = [exchange, exchangeByLibrary];
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => both.map((by) => by(foyer, body, headers))).flat(),
      );
      const given = answers.filter(({ status }) => status !== 400);
      expect(given.length).toBeLessThanOrEqual(1);
      expect(await grantsOf(member)).toEqual([]);
      for (const { status, text } of given) {
        const tokens = JSON.parse(text) as { access_token: string; refresh_token: string };
        expect(status).toBe(200);
        await expect(oidc.fetchUserInfo(app.party.config, tokens.access_token, member.id)).rejects.toThrow();
        await expect(oidc.refreshTokenGrant(app.party.config, tokens.refresh_token)).rejects.toThrow();
      }
    }
  });

  it('An address with a percent sign of its own, which the library encodes, is the library’s', async () => {
    const { app, of } = await alone({ redirectUris: ['http://127.0.0.1:9/100%'] });
    await app.newCode();
    const { url } = await app.party.begin();
    const answer = await authorize(of, url);
    expect([answer.byLibrary, answer.headers.location]).toEqual([true, expect.stringContaining('/100%25?code=')]);
  });

  async function change(id: string, metadata: object): Promise<void> {
    const { db } = foyer.stores.database;
    const registered = await findClient(db, toClientId(id));
    if (!registered) throw new Error('no client');
    await updateClient(db, { ...registered, ...metadata }, { nowMs: Date.now() });
  }

  it('An app whose id tokens have an algorithm that Foyer does not use gets no code', async () => {
    const { app, of } = await alone();
    await app.newCode();
    const { url } = await app.party.begin();
    await change(app.client.id, { id_token_signed_response_alg: 'HS256' });
    const answer = await authorize(of, url);
    expect([answer.byLibrary, answer.status]).toEqual([true, 400]);
  });

  it('An app that may not ask for codes any more exchanges none, whatever its grant types', async () => {
    const { app } = await alone();
    const body = bodyOf(await app.newCode());
    await change(app.client.id, { response_types: ['id_token'] });
    const answer = await exchange(foyer, body, authenticationOf(app.client).headers);
    expect([answer.byLibrary, answer.status]).toEqual([true, 400]);
  });

  it('With https the cookies of a plain answer have the prefix and attributes of the library’s', async () => {
    const behind = await startFoyer(backend, production);
    try {
      const member = await behind.addUser();
      const client = await behind.addClient({ redirectUris: ['https://app.example.com/callback'] });
      const visitor = new Visitor(portOf(behind.url), site, { 'x-forwarded-for': '203.0.113.7' });
      await visitor.post('/sign-in', { username: member.email, password });
      const query = new URLSearchParams({
        client_id: client.id,
        redirect_uri: client.redirectUri,
        response_type: 'code',
        scope: 'openid email',
        code_challenge: 'c'.repeat(43),
        code_challenge_method: 'S256',
      });
      const ask = async (more = '') => {
        const reached = jest.spyOn(Provider.prototype, 'createContext');
        const answer = await visitor.get(`/oauth2/authorize?${query}${more}`, { 'sec-fetch-site': 'cross-site' });
        const byLibrary = reached.mock.calls.length > 0;
        reached.mockRestore();
        expect(answer.headers.location).toContain('https://app.example.com/callback?code=');
        return {
          byLibrary,
          cookies: answer.setCookies.map((one) =>
            one.replace(/expires=[^;]+/, 'expires').replace(/max-age=\d+/, 'max-age'),
          ),
        };
      };
      await ask();
      const [plain, library] = [await ask(), await ask('&unknown=1')];
      expect([plain.byLibrary, library.byLibrary]).toEqual([false, true]);
      expect(plain.cookies).toEqual(library.cookies);
      expect(plain.cookies.join('\n')).toMatch(/^__Host-foyer_op=.*; secure; httponly/);
    } finally {
      await behind.close();
    }
  });
});
