import { decodeJwt } from 'jose';
import Provider from 'oidc-provider';
import { type ClientRequest, findClient, updateClient } from '../../server/oidc/index.ts';
import { sha256, toSealedText } from '../../server/shared/index.ts';
import { StoreUnavailable } from '../../server/store/index.ts';
import { setDisabled, type User } from '../../server/users/index.ts';
import { type Answer, portOf, send } from '../attacks/wire.ts';
import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { type Begun, type RelyingParty, relyingParty, signInFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

type Fields = Record<string, string>;
type Client = Awaited<ReturnType<TestFoyer['addClient']>>;

const without = (names: readonly string[], record: object) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));

describe.each(backends)('a plain silent authorization on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  let client: Client;
  let party: RelyingParty;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
    browser = await foyer.signedIn(user);
    client = await foyer.addClient();
    party = await signedInto(client);
  });
  afterAll(() => foyer?.close());
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** A client app to which the browser has signed in. */
  async function signedInto(app: Client, { of = browser, member = user, scope = 'openid profile email phone' } = {}) {
    const its = await relyingParty(foyer, app, scope);
    await signInFor(of, await its.begin(), member);
    return its;
  }

  /** @returns the answer, and whether the library had the request */
  async function ask(url: string, headers: Fields = {}, of = browser): Promise<Answer & { byLibrary: boolean }> {
    const created = jest.spyOn(Provider.prototype, 'createContext');
    const { pathname, search, host } = new URL(url);
    const cookie = await of.jar.getCookieString(foyer.url);
    try {
      const answer = await send(portOf(foyer.url), pathname + search, {
        headers: { host, accept: 'text/html,*/*', cookie, ...headers },
      });
      return { ...answer, byLibrary: created.mock.calls.length > 0 };
    } finally {
      created.mockRestore();
    }
  }

  const codeIn = (answer: Answer) => new URL(answer.headers.location ?? '', foyer.url).searchParams.get('code') ?? '';
  async function recordOf(model: string, id: string) {
    const key = `oidc:${model}:${sha256(id)}`;
    const entry = await foyer.stores.kv.getConsumable(key);
    const opened = foyer.deps.boxes.oidc.open(toSealedText(entry?.value ?? ''), key);
    return JSON.parse(opened) as Record<string, unknown>;
  }

  /** A parameter that the library ignores (RFC 6749, section 3.1). */
  const byLibrary = (url: string) => `${url}&unknown=1`;

  const kinds: [what: string, request: Partial<ClientRequest>, scope: string, more: Fields][] = [
    ['a confidential app', {}, 'openid profile email phone', {}],
    ['a public app', { public: true }, 'openid email', {}],
    ['an app whose address has a query', { redirectUris: ['http://127.0.0.1:9/q?a=b&c=%20d'] }, 'openid', {}],
    ['an app with a long state', {}, 'openid', { state: 'a b+c/d?e=f&g="\'<é>'.repeat(10) }],
    ['an app that asks for less than before', {}, 'openid phone', {}],
  ];

  it.each(kinds)('The answer to %s is that of the library', async (_, request, scope, more) => {
    const app = await foyer.addClient(request);
    await signedInto(app);
    const its = await relyingParty(foyer, app, scope);
    const begun = await its.begin(more);
    const plain = await ask(begun.url);
    const library = await ask(byLibrary(begun.url));
    expect([plain.status, plain.byLibrary, library.status, library.byLibrary]).toEqual([303, false, 303, true]);
    const hide = (answer: Answer, text = '') => text.replaceAll(codeIn(answer), 'CODE');
    const headers = (answer: Answer) => ({
      ...without(['date', 'x-request-id', 'location', 'set-cookie'], answer.headers),
      location: hide(answer, answer.headers.location),
      text: hide(answer, answer.text),
    });
    expect(headers(plain)).toEqual(headers(library));
    // The end of a cookie can differ by a second.
    const cookies = ({ setCookies }: Answer) => setCookies.map((one) => one.replace(/expires=[^;]+/, 'expires'));
    expect(cookies(plain)).toEqual(cookies(library));
    expect(codeIn(plain)).toMatch(/^[\w-]{43}$/);
    const [ours, theirs] = [
      await recordOf('AuthorizationCode', codeIn(plain)),
      await recordOf('AuthorizationCode', codeIn(library)),
    ];
    expect(without(['iat', 'exp', 'jti'], ours)).toEqual(without(['iat', 'exp', 'jti'], theirs));
    expect([Number(ours.exp) - Number(ours.iat), ours.jti]).toEqual([60, codeIn(plain)]);
    // openid-client derives its redirect_uri from an address without a query.
    if (app.redirectUri.includes('?')) return;
    const tokens = await its.redeem(plain.headers.location ?? '', { ...begun, ...more });
    expect(decodeJwt(tokens.id_token ?? '')).toMatchObject({ sub: user.id, nonce: begun.nonce });
  });

  it('A remembered session’s cookies end with it, as the library’s do', async () => {
    const own = await foyer.addUser();
    const remembering = foyer.browser();
    await remembering.post('/sign-in', { username: own.email, password: 'correct horse 9', remember: '1' });
    const its = await signedInto(client, { of: remembering, member: own });
    const { url } = await its.begin();
    const [plain, library] = [await ask(url, {}, remembering), await ask(byLibrary(url), {}, remembering)];
    expect([plain.byLibrary, library.byLibrary]).toEqual([false, true]);
    const ends = ({ setCookies }: Answer) =>
      setCookies.map((one) => Date.parse(/expires=([^;]+)/.exec(one)?.[1] ?? ''));
    expect(ends(plain)).toHaveLength(2);
    for (const [at, end] of ends(plain).entries()) expect(Math.abs(end - (ends(library)[at] ?? 0))).toBeLessThan(3_000);
    expect(plain.setCookies.map((one) => one.replace(/expires=[^;]+/, ''))).toEqual(
      library.setCookies.map((one) => one.replace(/expires=[^;]+/, '')),
    );
  });

  const changes: [what: string, change: (url: URL) => void][] = [
    ['another redirect_uri', (url) => url.searchParams.set('redirect_uri', `${client.redirectUri}/`)],
    ['a redirect_uri of another host', (url) => url.searchParams.set('redirect_uri', 'http://127.0.0.1:8/callback')],
    ['no redirect_uri', (url) => url.searchParams.delete('redirect_uri')],
    ['an unknown client', (url) => url.searchParams.set('client_id', 'unknown-client')],
    ['no challenge', (url) => url.searchParams.delete('code_challenge')],
    ['a plain challenge', (url) => url.searchParams.set('code_challenge_method', 'plain')],
    ['a short challenge', (url) => url.searchParams.set('code_challenge', 'short')],
    ['a scope that the app may not have', (url) => url.searchParams.set('scope', 'openid address')],
    ['a scope of services', (url) => url.searchParams.set('scope', 'openid users:read')],
    ['an id token', (url) => url.searchParams.set('response_type', 'id_token')],
    ['prompt=login', (url) => url.searchParams.set('prompt', 'login')],
    ['prompt=consent', (url) => url.searchParams.set('prompt', 'consent')],
    ['max_age=0', (url) => url.searchParams.set('max_age', '0')],
    ['a surer class', (url) => url.searchParams.set('acr_values', 'aal2')],
    ['a hint at another member', (url) => url.searchParams.set('id_token_hint', 'x.y.z')],
    ['a resource', (url) => url.searchParams.set('resource', 'https://orders.example.com/')],
    ['a client twice', (url) => url.searchParams.append('client_id', client.id)],
    ['a redirect_uri twice', (url) => url.searchParams.append('redirect_uri', 'http://127.0.0.1:8/callback')],
    ['a challenge twice', (url) => url.searchParams.append('code_challenge', 'x'.repeat(43))],
    ['a request object', (url) => url.searchParams.set('request', 'x.y.z')],
    ['a pushed request', (url) => url.searchParams.set('request_uri', 'urn:ietf:params:oauth:request_uri:x')],
    ['a form_post answer', (url) => url.searchParams.set('response_mode', 'form_post')],
  ];

  it.each(changes)('A request with %s is the library’s', async (_, change) => {
    const url = new URL((await party.begin()).url);
    change(url);
    expect((await ask(url.href)).byLibrary).toBe(true);
  });

  /** A member of its own with a browser, signed in to an app. */
  async function alone(request: Partial<ClientRequest> = {}) {
    const [member, app] = [await foyer.addUser(), await foyer.addClient(request)];
    const of = await foyer.signedIn(member);
    const its = await signedInto(app, { of, member });
    const begun = await its.begin();
    return { member, app, of, begun };
  }
  type Alone = Awaited<ReturnType<typeof alone>>;

  const change = async ({ app }: Alone, metadata: object) => {
    const { db } = foyer.stores.database;
    const registered = await findClient(db, toClientId(app.id));
    if (!registered) throw new Error('no client');
    await updateClient(db, { ...registered, ...metadata }, { nowMs: Date.now() });
  };

  const endings: [what: string, end: (alone: Alone) => Promise<unknown>][] = [
    ['the session has ended', ({ member }) => foyer.app.sessions.endAll(member.id)],
    [
      'the member is disabled',
      ({ member }) => setDisabled(foyer.stores.database.db, member.id, { disabledAt: Date.now(), nowMs: Date.now() }),
    ],
    [
      'the password has changed',
      ({ member }) =>
        foyer.stores.database.db.updateTable('users').set({ passwordEpoch: 9 }).where('id', '=', member.id).execute(),
    ],
    [
      'the member must accept new terms',
      ({ member }) =>
        foyer.stores.database.db
          .updateTable('users')
          .set({ acceptedTosVersion: 0 })
          .where('id', '=', member.id)
          .execute(),
    ],
    [
      'the member must set up a second factor',
      ({ member }) =>
        foyer.stores.database.db
          .updateTable('users')
          .set({ secondFactorRequired: 1 })
          .where('id', '=', member.id)
          .execute(),
    ],
    ['the app is for members of another plan', (it) => change(it, { required_plans: ['another'] })],
    ['a scope of the request is not registered any more', (it) => change(it, { scope: 'openid email' })],
    ['the app must push its requests', (it) => change(it, { require_pushed_authorization_requests: true })],
    ['the app must sign its requests', (it) => change(it, { require_signed_request_object: true })],
    ['the address is not registered any more', (it) => change(it, { redirect_uris: ['http://127.0.0.1:9/other'] })],
  ];

  it.each(endings)('The first request after %s gets no plain code', async (_, end) => {
    const it = await alone();
    const before = await ask(it.begun.url, {}, it.of);
    expect([before.status, before.byLibrary]).toEqual([303, false]);
    await end(it);
    const after = await ask(it.begun.url, {}, it.of);
    expect([after.byLibrary, codeIn(after)]).toEqual([true, '']);
  });

  it.each<[string, (it: Alone) => Promise<unknown>]>([
    [
      'the grant has ended',
      ({ member }) => foyer.stores.database.db.deleteFrom('oidc').where('accountId', '=', member.id).execute(),
    ],
    ['the app is another party’s', (it) => change(it, { first_party: false })],
    ['the app is a native one', (it) => change(it, { application_type: 'native' })],
    ['the app hears of sign-outs', (it) => change(it, { backchannel_logout_uri: 'http://127.0.0.1:9/out' })],
  ])('Once %s the library decides', async (_, end) => {
    const it = await alone();
    await end(it);
    expect((await ask(it.begun.url, {}, it.of)).byLibrary).toBe(true);
  });

  it('A code for a grant that has ended is not given: the library makes a new grant first', async () => {
    const it = await alone();
    const first = await recordOf('AuthorizationCode', codeIn(await ask(it.begun.url, {}, it.of)));
    await foyer.stores.database.db.deleteFrom('oidc').where('accountId', '=', it.member.id).execute();
    const second = await recordOf('AuthorizationCode', codeIn(await ask(it.begun.url, {}, it.of)));
    expect(second.grantId).not.toBe(first.grantId);
  });

  it('Another member’s provider session beside this session gets no plain code', async () => {
    const [one, other] = [await alone(), await alone()];
    const [mine, theirs] = await Promise.all([one, other].map(({ of }) => of.jar.getCookies(foyer.url)));
    const isProviders = ({ key }: { key: string }) => key.includes('foyer_op');
    const mixed = [...(mine ?? []).filter((one) => !isProviders(one)), ...(theirs ?? []).filter(isProviders)];
    const cookie = mixed.map((one) => one.cookieString()).join('; ');
    const answer = await ask(one.begun.url, { cookie }, one.of);
    expect([answer.byLibrary, codeIn(answer)]).toEqual([true, '']);
  });

  it.each<[string, (cookie: string) => string]>([
    [
      'whose signature is changed',
      (cookie) => cookie.replace(/(foyer_op\.sig=)(.)/, (_, start, first) => `${start}${first === '_' ? 'A' : '_'}`),
    ],
    ['that comes twice', (cookie) => `foyer_op=other; ${cookie}`],
    ['behind a malformed one', (cookie) => `foyer_op=a b; ${cookie}`],
    ['with a lax form of its signature', (cookie) => cookie.replace(/(foyer_op\.sig=[^;]+)/, '$1==')],
    ['that is missing', (cookie) => cookie.replace(/foyer_op=[^;]+;? ?/, '')],
    ['without its signature', (cookie) => cookie.replace(/foyer_op\.sig=[^;]+;? ?/, '')],
  ])('A provider session %s gets no plain code', async (_, tamper) => {
    const cookie = await browser.jar.getCookieString(foyer.url);
    expect(cookie).toContain('foyer_op.sig=');
    const answer = await ask((await party.begin()).url, { cookie: tamper(cookie) });
    expect(answer.byLibrary).toBe(true);
  });

  it.each<[string, (cookie: string) => string, code: boolean]>([
    ['whose signature is changed', (cookie) => cookie.replace(/(foyer_session=[^;]+)[\w]{3}/, '$1AAA'), false],
    ['without its signature', (cookie) => cookie.replace(/(foyer_session=[^;.]+)[^;]+/, '$1'), false],
    ['that is missing', (cookie) => cookie.replace(/foyer_session=[^;]+;? ?/, ''), false],
    ['that comes twice, a planted one first', (cookie) => `foyer_session=s%3Aplanted.x; ${cookie}`, false],
    ['that comes twice, a planted one last', (cookie) => `${cookie}; foyer_session=s%3Aplanted.x`, true],
  ])('Attack: a session cookie %s is express-session’s to judge', async (_, tamper, code) => {
    const cookie = await browser.jar.getCookieString(foyer.url);
    const answer = await ask((await party.begin()).url, { cookie: tamper(cookie) });
    expect([answer.byLibrary, codeIn(answer) !== '']).toEqual([true, code]);
  });

  it('The first sign-in of a session to an app is the library’s', async () => {
    const app = await relyingParty(foyer, await foyer.addClient());
    expect((await ask((await app.begin()).url)).byLibrary).toBe(true);
  });

  it('A request for something besides a page is the library’s', async () => {
    expect((await ask((await party.begin()).url, { accept: 'application/json' })).byLibrary).toBe(true);
  });

  it('While a store is away the answer is the library’s for that', async () => {
    const begun: Begun = await party.begin();
    jest.spyOn(foyer.stores.kv, 'set').mockRejectedValue(new StoreUnavailable('away'));
    const plain = await ask(begun.url);
    const library = await ask(byLibrary(begun.url));
    expect([plain.status, library.status, codeIn(plain)]).toEqual([503, 503, '']);
    const shown = ({ text }: Answer) =>
      text.replaceAll(/[0-9A-F]{10}|nonce="[^"]+"/g, '').replaceAll(/&(?:amp;)?unknown=1/g, '');
    expect(shown(plain).length).toBe(shown(library).length);
  });
});
