import type { Server } from 'node:http';
import { createDiscovery } from '../../server/federation/providers/discovery.ts';
import { listenOnFreePort } from '../support/foyer.ts';
import { refusal } from './strategies.ts';

describe('metadata of an OpenID provider', () => {
  let server: Server;
  let issuer: string;
  let asked = 0;
  /** Undefined if the provider does not answer. */
  let answer: unknown;
  let nowMs: number;
  let proxyStatus: number | undefined;
  const configuration = () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
  });
  beforeAll(async () => {
    const { server: listening, port } = await listenOnFreePort((req, res) => {
      asked += 1;
      if (answer === undefined) return void res.destroy();
      if (proxyStatus !== undefined) return void res.writeHead(proxyStatus).end('<h1>Bad Gateway</h1>');
      if (req.url !== '/tenant/.well-known/openid-configuration') res.statusCode = 404;
      res.setHeader('content-type', 'application/json');
      res.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    });
    server = listening;
    issuer = `http://127.0.0.1:${port}/tenant`;
  });
  beforeEach(() => {
    asked = 0;
    answer = configuration();
    nowMs = 1_000_000;
    proxyStatus = undefined;
  });
  afterAll(() => {
    server?.closeAllConnections();
    server?.close();
  });
  const open = () => createDiscovery({ issuer, clientId: 'foyer' }, { now: () => nowMs });

  it('The metadata is fetched on first use, once for concurrent callers, and cached for an hour', async () => {
    const discovery = open();
    expect(asked).toBe(0);
    await Promise.all([discovery(), discovery(), discovery()]);
    nowMs += 59 * 60_000;
    expect((await discovery()).serverMetadata().issuer).toBe(issuer);
    expect(asked).toBe(1);
    nowMs += 60_000;
    await discovery();
    expect(asked).toBe(2);
  });

  it('An unreachable provider is asked again after a pause, not by every caller', async () => {
    const discovery = open();
    answer = undefined;
    expect(await refusal(discovery())).toMatchObject({ kind: 'unreachable' });
    expect(await refusal(discovery())).toMatchObject({ kind: 'unreachable' });
    expect(asked).toBe(1);
    answer = configuration();
    nowMs += 5_000;
    expect((await discovery()).serverMetadata().issuer).toBe(issuer);
  });

  it('Cached metadata stays valid while the provider is unreachable', async () => {
    const discovery = open();
    await discovery();
    answer = undefined;
    nowMs += 2 * 60 * 60_000;
    for (let i = 0; i < 3; i += 1) expect((await discovery()).serverMetadata().issuer).toBe(issuer);
    expect(asked).toBe(2);
  });

  it.each([
    ...([400, 401, 403, 404, 410, 301, 308] as const).map(
      (status) => [status, 'not-set-up', `discovery: status ${status}`] as const,
    ),
    ...([408, 429, 500, 302] as const).map((status) => [status, 'provider-error', `status ${status}`] as const),
  ])('A discovery that is answered %i is a fault of the kind %s', async (status, kind, detail) => {
    proxyStatus = status;
    expect(await refusal(open()())).toMatchObject({ kind, detail });
  });

  it('An issuer whose document appears later is used at once', async () => {
    const discovery = open();
    proxyStatus = 404;
    expect(await refusal(discovery())).toMatchObject({ kind: 'not-set-up' });
    proxyStatus = undefined;
    nowMs += 5_000;
    expect((await discovery()).serverMetadata().issuer).toBe(issuer);
  });

  it.each([502, 503, 504])('Cached metadata stays valid while the provider’s proxy answers %i', async (status) => {
    const discovery = open();
    await discovery();
    proxyStatus = status;
    nowMs += 2 * 60 * 60_000;
    expect((await discovery()).serverMetadata().issuer).toBe(issuer);
    expect(await refusal(open()())).toMatchObject({
      kind: 'unreachable',
      detail: expect.stringMatching(`status ${status}`),
    });
  });

  it.each<[string, () => unknown, string]>([
    ['of another issuer', () => ({ ...configuration(), issuer: 'https://evil.example' }), 'not-set-up'],
    ['no JSON', () => '{"issuer": ', 'invalid'],
    ['a list', () => [], 'invalid'],
    ['endless', () => ({ ...configuration(), more: 'x'.repeat(2_000_000) }), 'invalid'],
  ])('Metadata is refused when it is %s', async (_what, wrong, kind) => {
    answer = wrong();
    expect(await refusal(open()())).toMatchObject({ kind });
  });
});
