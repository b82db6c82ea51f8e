import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { apiScopes, HttpError, memberApiScopes, problemKinds } from '../../server/http/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { createAnswerCheck, type OpenApi } from './answers.ts';
import { signedInto } from './callers.ts';
import { serveProbes } from './probes.ts';

describe.each(backends)('the JSON API on $name', (backend) => {
  let foyer: TestFoyer;
  let served: Awaited<ReturnType<typeof serveProbes>>;
  let document: OpenApi & Record<string, unknown>;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { BRAND_NAME: 'Lobby' });
    served = await serveProbes(foyer);
    document = (await (await ask('/openapi.json')).json()) as typeof document;
  });
  afterAll(async () => {
    served?.server.close();
    await foyer?.close();
  });

  const ask = (path: string, init: RequestInit = {}) => sendRequest(foyer.url + path, { redirect: 'manual', ...init });
  const html = { accept: 'text/html', 'accept-language': 'de' };
  const problem = async (answer: Response) => {
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    return (await answer.json()) as Record<string, unknown>;
  };

  it('/openapi.json is a valid OpenAPI 3.1 document that may be cached publicly', async () => {
    const answer = await ask('/openapi.json', { headers: { accept: 'text/html' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
    expect(answer.headers.getSetCookie()).toEqual([]);
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    expect((await ask('/openapi.json', { method: 'HEAD' })).status).toBe(200);
  });

  /** As the document lists them: three ways to send a token, each name of the scope by itself. */
  const byToken = (...scopes: string[]) =>
    scopes.flatMap((scope) => [{ oauth: [scope] }, { openId: [scope] }, { dpop: [scope] }]);

  it('/openapi.json lists every call, its access and the token endpoints', () => {
    expect(document).toMatchObject({ info: { title: 'Lobby API' }, servers: [{ url: foyer.url }] });
    expect(Object.keys(document.paths).toSorted()).toEqual(
      [...new Set(foyer.app.operations.map(({ path }) => path))].toSorted(),
    );
    expect(document.paths).toMatchObject({
      '/user/info': { get: { security: [{ session: [] }, ...byToken('account', 'aws.cognito.signin.user.admin')] } },
      '/clients': {
        get: {
          security: [
            { session: [] },
            ...byToken('account', 'aws.cognito.signin.user.admin'),
            { oauth: ['clients:read'] },
            { dpop: ['clients:read'] },
          ],
        },
      },
      '/identity/changeEmail': { post: { security: [{ session: [] }, ...byToken('account:security')] } },
      '/verifyClient': {
        get: {
          security: [],
          parameters: [
            { name: 'client_id', in: 'query', required: true },
            {},
            { name: 'Foyer-Visitor-Address', in: 'header' },
          ],
        },
      },
    });
    expect(document.components).toMatchObject({
      securitySchemes: {
        session: { name: 'foyer_session' },
        openId: { type: 'openIdConnect', openIdConnectUrl: `${foyer.url}/.well-known/openid-configuration` },
        dpop: { type: 'http', scheme: 'DPoP' },
        oauth: {
          flows: {
            authorizationCode: { authorizationUrl: `${foyer.url}/oauth2/authorize` },
            clientCredentials: { tokenUrl: `${foyer.url}/oauth2/token` },
          },
        },
      },
    });
    const { clientCredentials, authorizationCode } = (
      document.components as {
        securitySchemes: { oauth: { flows: Record<'clientCredentials' | 'authorizationCode', { scopes: object }> } };
      }
    ).securitySchemes.oauth.flows;
    expect(Object.keys(clientCredentials.scopes)).toEqual([...apiScopes]);
    expect(Object.keys(authorizationCode.scopes).toSorted()).toEqual([
      'account',
      'account:payments',
      'account:security',
      'aws.cognito.signin.user.admin',
    ]);
  });

  it('The page docs/json-api.md lists every call with its scope or as public', () => {
    const lines = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'json-api.md'), 'utf8').split('\n');
    const wrong = foyer.app.operations.filter(({ path, access }) => {
      const words =
        access === 'public'
          ? ['anyone']
          : [
              access.client ?? 'member',
              ...(access.member === undefined || access.member === 'account' ? [] : [`\`${access.member}\``]),
              ...(access.recent === undefined ? [] : ['recent']),
            ];
      const name = new RegExp(`${path.replaceAll('/', '\\/').replace(/[{}]/g, '\\$&')}(?![\\w/{])`);
      return !lines.some(
        (line) => line.startsWith('|') && name.test(line) && words.every((word) => line.includes(word)),
      );
    });
    expect(wrong.map(({ id }) => id)).toEqual([]);
    expect(memberApiScopes.filter((scope) => !lines.some((line) => line.startsWith(`| \`${scope}\``)))).toEqual([]);
    expect(apiScopes.filter((scope) => !lines.some((line) => line.startsWith(`| \`${scope}\``)))).toEqual([]);
  });

  it('Every problem type is in /openapi.json and in docs/json-api.md, with its status', () => {
    const { Problem } = (document.components as { schemas: { Problem: { properties: { type: { enum: string[] } } } } })
      .schemas;
    expect(Problem.properties.type.enum).toEqual(problemKinds.map((kind) => `urn:foyer:problem:${kind}`));
    const lines = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'json-api.md'), 'utf8').split('\n');
    const missing = problemKinds.filter(
      (kind) =>
        !lines.some(
          (line) =>
            line.startsWith('| `') && line.includes(`\`${kind}\``) && line.includes(`| ${new HttpError(kind).status} `),
        ),
    );
    expect(missing).toEqual([]);
  });

  it('A revoked token, a missing scope and an old sign-in have problem types of their own', async () => {
    const { tokens } = await signedInto(foyer, 'openid account:security');
    const call = (token: string, path: string, method = 'GET') =>
      ask(path, { method, headers: { authorization: `Bearer ${token}` } });
    const told = async (answer: Response) => [answer.status, (await problem(answer)).type];
    const type = (kind: string) => `urn:foyer:problem:${kind}`;
    expect(await told(await ask('/user/info'))).toEqual([401, type('unauthorized')]);
    expect(await told(await call('unknown', '/user/info'))).toEqual([401, type('tokenRevoked')]);
    expect(await told(await call(tokens.access_token, '/user/info'))).toEqual([403, type('insufficientScope')]);
    foyer.passTime(11 * 60_000);
    const late = await call(tokens.access_token, '/identity/setupTOTP', 'POST');
    expect(await told(late)).toEqual([401, type('insufficientAuthentication')]);
  });

  it('Each call has a unique id, which counters and documents use', () => {
    const ids = foyer.app.operations.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('The response check finds an answer that differs from its description', async () => {
    const check = createAnswerCheck(document);
    const call = { method: 'get', path: '/user/info' } as const;
    const limits = { RateLimit: 'x', 'RateLimit-Policy': 'x' };
    const json = (body: object, status = 200, headers: Record<string, string> = limits) =>
      Response.json(body, { status, headers });
    const good = { sub: '1', email: 'a@example.com', email_verified: true, entitlements: [] };
    expect(await check(call, json(good))).toEqual([]);
    expect(await check(call, json({ ...good, passwordHash: 'x' }))).toHaveLength(1);
    expect(await check(call, json({ sub: '1' }))).toHaveLength(1);
    expect(await check(call, json(good, 200, {}))).toHaveLength(2);
    expect(await check(call, json(good, 401))).toHaveLength(1);
  });

  it('Attack: a user reads only their own data, also with the id of another user', async () => {
    const [ada, bob] = [await signedInto(foyer), await signedInto(foyer)];
    for (const { user, browser, tokens } of [ada, bob]) {
      const own = (await (await browser.get('/user/info', { from: 'same-origin' })).json()) as { sub: string };
      const headers = { authorization: `Bearer ${tokens.access_token}` };
      const byToken = (await (await ask(`/user/info?sub=${ada.user.id}`, { headers })).json()) as { sub: string };
      expect([own.sub, byToken.sub]).toEqual([user.id, user.id]);
    }
  });

  it('A field that the description does not name is removed from the answer', async () => {
    const answer = await sendRequest(`${served.url}/probe/leaky`);
    expect(await answer.json()).toEqual({ principal: 'nobody', note: '' });
  });

  it.each([
    ['/clients', 'POST', 405],
    ['/clients', 'OPTIONS', 405],
    ['/user/info', 'DELETE', 405],
    ['/openapi.json', 'PUT', 405],
    ['/clients/', 'GET', 404],
    ['/clients/7', 'GET', 404],
    ['/user/nobody', 'GET', 404],
    ['/user/info/', 'GET', 404],
    ['/verifyClient/x', 'POST', 404],
    ['/clients', 'GET', 401],
    ['/verifyClient', 'GET', 400],
  ])('%s answers %s with problem details and %i, whatever Accept says', async (path, method, status) => {
    const answer = await ask(path, { method, headers: { ...html, 'sec-fetch-site': 'none' } });
    expect(answer.status).toBe(status);
    expect(await problem(answer)).toEqual({
      type: expect.stringMatching(/^urn:foyer:problem:[a-zA-Z]+$/),
      title: expect.any(String),
      status,
      detail: expect.any(String),
      instance: expect.stringMatching(/^urn:foyer:reference:[0-9A-F]{10}$/),
      ...(status === 400 && { errors: expect.any(Array) }),
    });
    expect(answer.headers.has('allow')).toBe(status === 405);
  });

  it('Attack: a page of another origin can neither read a call nor pass a preflight request', async () => {
    const from = { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' };
    const asking = {
      ...from,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    };
    const wrong: string[] = [];
    for (const path of Object.keys(document.paths)) {
      const asked = await ask(path, { method: 'OPTIONS', headers: asking });
      const called = await ask(path, {
        method: 'POST',
        headers: { ...from, 'content-type': 'text/plain' },
        body: '{}',
      });
      const allowing = [asked, called]
        .flatMap(({ headers }) => [...headers.keys()])
        .filter((n) => /^access-control/.test(n));
      if (asked.status !== 405 || called.ok || allowing.length > 0) wrong.push(path);
    }
    expect(wrong).toEqual([]);
  });

  it('Pages keep their addresses beside the API', async () => {
    for (const path of ['/', '/nowhere', '/usersettings', '/clientside']) {
      const answer = await ask(path, { headers: html });
      expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
    }
  });

  it('Problem details are in the caller’s language', async () => {
    const answer = await ask('/clients/7', { headers: { 'accept-language': 'nl' } });
    expect(await problem(answer)).toMatchObject({ title: 'Niet gevonden' });
  });

  it('Invalid input is refused with the names of the fields, never with a value', async () => {
    const query = new URLSearchParams({ client_id: '', logout_uri: 'secret-'.repeat(400) });
    const answer = await ask(`/verifyClient?${query}`);
    expect(answer.status).toBe(400);
    const body = await problem(answer);
    expect((body.errors as { name: string }[]).map(({ name }) => name)).toEqual([
      'query.client_id',
      'query.logout_uri',
    ]);
    expect(JSON.stringify(body)).not.toContain('secret-');
  });

  it('/verifyClient accepts registered logout addresses only on an exact match', async () => {
    const logoutUri = 'http://127.0.0.1:9/out';
    const { id } = await foyer.addClient({ logoutUris: [logoutUri] });
    const verify = (client: string, uri: string) =>
      ask(`/verifyClient?${new URLSearchParams({ client_id: client, logout_uri: uri })}`);
    expect((await verify(id, logoutUri)).status).toBe(200);
    for (const [client, uri] of [
      [id, `${logoutUri}/`],
      [id, `${logoutUri}?x=1`],
      [id, 'https://evil.example/'],
      ['unknown', logoutUri],
    ] as const) {
      expect((await verify(client, uri)).status).toBe(404);
    }
  });

  it('A body must be JSON of 16 KiB at most', async () => {
    const { tokens } = await signedInto(foyer);
    const post = (type: string, body: string) =>
      sendRequest(`${served.url}/probe/member`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tokens.access_token}`, 'content-type': type },
        body,
      });
    expect((await post('application/json', '{"note":"x"}')).status).toBe(200);
    expect((await post('application/json; charset=utf-8', '{"note":"x"}')).status).toBe(200);
    expect((await post('text/plain', '{"note":"x"}')).status).toBe(415);
    expect((await post('application/x-www-form-urlencoded', 'note=x')).status).toBe(415);
    expect((await post('application/json', '{"note":')).status).toBe(400);
    expect((await post('application/json', '"x"')).status).toBe(400);
    expect((await post('application/json', '{"note":7}')).status).toBe(400);
    expect((await post('application/json', JSON.stringify({ note: 'x'.repeat(20_000) }))).status).toBe(413);
  });

  describe('limits', () => {
    const call = (token: string) =>
      sendRequest(`${served.url}/probe/rare`, { headers: { authorization: `Bearer ${token}` } });

    it('Each caller has its own limit, sees the calls left and gets Retry-After when refused', async () => {
      const [ada, bob] = [await signedInto(foyer), await signedInto(foyer)];
      const left: (string | null)[] = [];
      for (let times = 0; times < 3; times += 1) {
        const answer = await call(ada.tokens.access_token);
        expect(answer.status).toBe(200);
        expect(answer.headers.get('ratelimit-policy')).toMatch(/^"api:probeRare"; q=3; w=60/);
        expect(answer.headers.get('retry-after')).toBeNull();
        left.push(/; r=(\d+); t=\d+$/.exec(answer.headers.get('ratelimit') ?? '')?.[1] ?? null);
      }
      expect(left).toEqual(['2', '1', '0']);
      const refused = await call(ada.tokens.access_token);
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      expect((await call(bob.tokens.access_token)).status).toBe(200);
    });

    it('Attack: another app or session of the same user gives no more calls', async () => {
      const { user, browser, tokens } = await signedInto(foyer);
      for (let times = 0; times < 3; times += 1) await call(tokens.access_token);
      const cookie = await browser.jar.getCookieString(foyer.url);
      expect((await sendRequest(`${served.url}/probe/rare`, { headers: { cookie } })).status).toBe(429);
      const second = await foyer.signedIn(user);
      const other = await second.jar.getCookieString(foyer.url);
      expect((await sendRequest(`${served.url}/probe/rare`, { headers: { cookie: other } })).status).toBe(429);
    });

    it('Attack: parallel calls do not exceed the limit', async () => {
      const { tokens } = await signedInto(foyer);
      const answers = await Promise.all(Array.from({ length: 20 }, () => call(tokens.access_token)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    });

    it('Visitors are counted by their address, and the refusal is a problem with its limit', async () => {
      const path = '/verifyClient?client_id=a&logout_uri=https%3A%2F%2Fb.example%2F';
      let refused: Response | undefined;
      for (let times = 0; times < 80 && !refused; times += 1) {
        const answer = await ask(path, { headers: html });
        if (answer.status !== 404) refused = answer;
      }
      expect(refused?.status).toBe(429);
      expect(await createAnswerCheck(document)({ method: 'get', path: '/verifyClient' }, refused as Response)).toEqual(
        [],
      );
      expect(await problem(refused as Response)).toMatchObject({ type: 'urn:foyer:problem:tooMany', status: 429 });
      expect(refused?.headers.get('ratelimit-policy')).toMatch(/^"api:verifyClient"; q=60; w=60/);
    });
  });
});
