import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { apiProblems, apiScopes, memberApiScopes } from '../../server/http/index.ts';
import { backends } from '../support/stores.ts';
import { createAnswerCheck } from './answers.ts';
import { signedInto } from './callers.ts';
import { documentedProblems } from './documented-problems.ts';
import { readProblem, type StartedApi, startApi } from './started-api.ts';

describe.each(backends)('the OpenAPI document on $name', (backend) => {
  let api: StartedApi;
  beforeAll(async () => {
    api = await startApi(backend);
  });
  afterAll(() => api?.close());

  it('/openapi.json is a valid OpenAPI 3.1 document that may be cached publicly', async () => {
    const answer = await api.ask('/openapi.json', { headers: { accept: 'text/html' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
    expect(answer.headers.getSetCookie()).toEqual([]);
    const validator = new Validator();
    expect(await validator.validate(structuredClone(api.document))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    expect((await api.ask('/openapi.json', { method: 'HEAD' })).status).toBe(200);
  });

  /** As the document lists them: each name of the scope by itself, and two other ways to send the token. */
  const byToken = (...scopes: string[]) => [
    ...scopes.map((scope) => ({ oauth: [scope] })),
    { openId: [] },
    { dpop: [] },
  ];

  it('/openapi.json lists every call, its access and the token endpoints', () => {
    expect(api.document).toMatchObject({ info: { title: 'Lobby API' }, servers: [{ url: api.foyer.url }] });
    expect(Object.keys(api.document.paths).toSorted()).toEqual(
      [...new Set([...api.foyer.app.operations.map(({ path }) => path), '/oauth2/token', '/storage'])].toSorted(),
    );
    expect(api.document.paths).toMatchObject({
      '/user/info': {
        get: { security: [{ bearer: [] }, { session: [] }, ...byToken('account', 'aws.cognito.signin.user.admin')] },
      },
      '/clients': {
        get: {
          security: [
            { bearer: [] },
            { session: [] },
            ...byToken('account', 'aws.cognito.signin.user.admin', 'clients:read'),
          ],
        },
      },
      '/identity/changeEmail': {
        post: { security: [{ bearer: [] }, { session: [] }, ...byToken('account:security')] },
      },
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
    expect(api.document.components).toMatchObject({
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        session: { name: 'foyer_session' },
        openId: { type: 'openIdConnect', openIdConnectUrl: `${api.foyer.url}/.well-known/openid-configuration` },
        dpop: { type: 'http', scheme: 'DPoP' },
        oauth: {
          flows: {
            authorizationCode: { authorizationUrl: `${api.foyer.url}/oauth2/authorize` },
            clientCredentials: { tokenUrl: `${api.foyer.url}/oauth2/token` },
          },
        },
      },
    });
    const { clientCredentials, authorizationCode } = (
      api.document.components as {
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
    const wrong = api.foyer.app.operations.filter(({ path, access }) => {
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
    const { Problem } = (
      api.document.components as { schemas: { Problem: { properties: { type: { enum: string[] } } } } }
    ).schemas;
    const described = documentedProblems();
    expect(Problem.properties.type.enum).toEqual(described.map(({ type }) => `urn:foyer:problem:${type}`));
    expect(described).toEqual(Object.entries(apiProblems).map(([type, { status }]) => ({ type, status })));
  });

  it('A revoked token, a missing scope and an old sign-in have problem types of their own', async () => {
    const { tokens } = await signedInto(api.foyer, 'openid account:security');
    const call = (token: string, path: string, method = 'GET') =>
      api.ask(path, { method, headers: { authorization: `Bearer ${token}` } });
    const told = async (answer: Response) => [answer.status, (await readProblem(answer)).type];
    const type = (kind: string) => `urn:foyer:problem:${kind}`;
    expect(await told(await api.ask('/user/info'))).toEqual([401, type('unauthorized')]);
    expect(await told(await call('unknown', '/user/info'))).toEqual([401, type('tokenRevoked')]);
    expect(await told(await call(tokens.access_token, '/user/info'))).toEqual([403, type('insufficientScope')]);
    api.foyer.passTime(11 * 60_000);
    const late = await call(tokens.access_token, '/identity/setupTOTP', 'POST');
    expect(await told(late)).toEqual([401, type('insufficientAuthentication')]);
  });

  it('The properties that repeat another one for older callers are marked in /openapi.json', () => {
    const marked: string[] = [];
    const { schemas } = api.document.components as { schemas: Record<string, object> };
    const walk = (value: unknown, at: string) => {
      if (typeof value !== 'object' || value === null) return;
      const name: unknown = Reflect.get(value, '$ref');
      if (typeof name === 'string') walk(schemas[name.split('/').at(-1) ?? ''], at);
      const alias: unknown = Reflect.get(value, 'x-alias-of');
      if (typeof alias === 'string') marked.push(`${at} → ${alias}`);
      for (const [key, inner] of Object.entries(value)) walk(inner, key === 'properties' ? at : `${at}.${key}`);
    };
    for (const [path, methods] of Object.entries(api.document.paths)) {
      for (const { responses } of Object.values(methods)) {
        walk(Reflect.get(responses['200']?.content['application/json'] ?? {}, 'schema'), path);
      }
    }
    expect(marked.toSorted()).toEqual([
      '/customer/coupons/{code}.amount_off → data.amount_off',
      '/customer/coupons/{code}.id → data.id',
      '/customer/coupons/{code}.percent_off → data.percent_off',
      '/customer/coupons/{code}.percent_off_precise → data.percent_off_precise',
      '/user/listPlans.Items → data.Items',
      '/user/listUserWithPoolId.data.data → data',
      '/user/listplanWithHash.Items → data.Items',
      '/user/listplanWithId.Items → data.Items',
    ]);
  });

  it('Each call has a unique id, which counters and documents use', () => {
    const ids = api.foyer.app.operations.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('The response check finds an answer that differs from its description', async () => {
    const check = createAnswerCheck(api.document);
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
});
