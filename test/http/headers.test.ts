import express, { Router } from 'express';
import { PasswordQueueFullError } from '../../server/password/index.ts';
import { listen } from '../../server/process/index.ts';
import { StoreUnavailable } from '../../server/store/index.ts';
import { production, site } from '../attacks/production.ts';
import { type Answer, portOf, type Sent, speak, Visitor } from '../attacks/wire.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { listenToAnswers } from '../support/http-client.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { routesOf } from '../support/routes.ts';
import { anyBackend } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';
import { faultsOf, headerOf, type Seen } from './header-faults.ts';

describe.each([
  { kind: 'production, https', environment: production, https: true },
  { kind: 'development with the sandbox, http', environment: {}, https: false },
])('the headers of every answer: $kind', ({ environment, https }) => {
  let foyer: TestFoyer;
  const fault: { thrown: unknown } = { thrown: undefined };
  beforeAll(async () => {
    const hasher = {
      hash: async () => 'right',
      async verify(_hash: string | null, given: string) {
        if (fault.thrown !== undefined) throw fault.thrown;
        return given === password;
      },
    };
    foyer = await startFoyer(anyBackend, environment, { passwords: hasher });
  });
  afterAll(() => foyer?.close());

  const visitor = () =>
    https
      ? new Visitor(portOf(foyer.url), site, { 'x-forwarded-for': '203.0.113.7' })
      : new Visitor(portOf(foyer.url), foyer.url);
  const seen = (what: string, path: string, { status, headers, setCookies, text }: Answer): Seen => ({
    what,
    status,
    setCookies,
    text,
    path: path.split('?', 1)[0] ?? '',
    header: headerOf(headers),
  });

  thorough(
    'Every route and method has the required headers, for a visitor and for a user',
    async () => {
      const routes = routesOf(foyer.app.express);
      const paths = routes.map(({ path }) => path);
      for (const path of [
        '/',
        '/sign-in',
        '/signup',
        '/signup/plan/x/emailCaptured',
        '/verify-code',
        '/forgot-password',
        '/reset-password',
        '/second-factor',
        '/re-authenticate',
        '/settings/email',
        '/settings/phone/code',
        '/undo-email-change',
        '/settings/delete-account',
        '/cancel-factor-reset',
        '/identity/changePassword',
        '/tos',
        '/logout',
        '/consent',
        '/oauth2/authorize',
        '/oauth2/token',
        '/healthz',
        '/readyz',
        '/.well-known/openid-configuration',
      ])
        expect(paths).toContain(path);
      expect(paths.includes('/sandbox/search')).toBe(!https);

      const member = visitor();
      const user = await foyer.addUser({ passwordHash: 'right' });
      expect((await member.post('/sign-in', { username: user.email, password })).status).toBe(303);
      const faults: string[] = [];
      let answers = 0;
      for (const { path, methods } of routes) {
        for (const method of new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE', ...methods])) {
          // Signing out ends what the rest needs.
          const signsOut = path.includes('logout');
          for (const [who, browser] of [
            ['visitor', visitor()],
            ['member', signsOut ? visitor() : member],
          ] as const) {
            const headers = { origin: https ? site : foyer.url, 'sec-fetch-site': 'same-origin' };
            const answer = await browser.send(path, { method, headers });
            faults.push(...faultsOf(seen(`${method} ${path} as a ${who}`, path, answer), https));
            answers += 1;
          }
        }
      }
      expect(faults).toEqual([]);
      expect(answers).toBeGreaterThan(150);
      expect((await member.get('/tos')).status).toBe(200);
    },
    60_000,
  );

  const asJson = { accept: 'application/json', 'content-type': 'application/json' };
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  const ownForm = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
  const errors: { what: string; path: string; sent: Sent; status: number }[] = [
    { what: 'an unknown page', path: '/no/such/page', sent: {}, status: 404 },
    { what: 'an unknown page, as JSON', path: '/no/such/page', sent: { headers: asJson }, status: 404 },
    { what: 'an unknown asset', path: '/assets/none.js', sent: {}, status: 404 },
    { what: 'a path that cannot be decoded', path: '/oauth2/authorize/%E0%A4%A', sent: {}, status: 400 },
    { what: 'a foreign host', path: '/', sent: { headers: { host: 'evil.example' } }, status: 421 },
    {
      what: 'a foreign page’s post',
      path: '/sign-in',
      sent: { method: 'POST', headers: { ...ownForm, ...foreign } },
      status: 403,
    },
    {
      what: 'a body of an unknown kind',
      path: '/sign-in',
      sent: { method: 'POST', headers: { ...ownForm, 'content-type': 'text/xml' }, body: '<a/>' },
      status: 415,
    },
    {
      what: 'a body that is too large',
      path: '/sign-in',
      sent: { method: 'POST', headers: ownForm, body: `a=${'b'.repeat(20_000)}` },
      status: 413,
    },
    {
      what: 'JSON that is none',
      path: '/storage',
      sent: { method: 'POST', headers: { ...asJson, 'sec-fetch-site': 'same-origin' }, body: '{"a"' },
      status: 400,
    },
    { what: 'an unknown client', path: '/oauth2/authorize?client_id=unknown-client', sent: {}, status: 400 },
    {
      what: 'a token request without anything',
      path: '/oauth2/token',
      sent: { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      status: 400,
    },
    { what: 'userinfo without a token', path: '/oauth2/userInfo', sent: {}, status: 401 },
  ];
  it.each(errors)('The answer to $what has the required headers', async ({ what, path, sent, status }) => {
    const answer = await visitor().send(path, sent);
    expect(answer.status).toBe(status);
    expect(faultsOf(seen(what, path, answer), https)).toEqual([]);
  });

  it.each([
    { what: 'a fault of our own', thrown: new Error('a secret detail'), status: 500 },
    { what: 'a store that is away', thrown: new StoreUnavailable('a secret detail'), status: 503 },
    { what: 'a full password queue', thrown: new PasswordQueueFullError('a secret detail'), status: 503 },
  ])('An error answer discloses no detail of $what', async ({ what, thrown, status }) => {
    const user = await foyer.addUser({ passwordHash: 'right' });
    fault.thrown = thrown;
    try {
      const answer = await visitor().post('/sign-in', { username: user.email, password });
      expect(answer.status).toBe(status);
      expect(answer.text).not.toContain('a secret detail');
      expect(faultsOf(seen(what, '/sign-in', answer), https)).toEqual([]);
    } finally {
      fault.thrown = undefined;
    }
  });

  it('Assets have their cache headers, and a nonce is used once', async () => {
    const [one, two] = [await visitor().get('/'), await visitor().get('/')];
    const assets = [...one.text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '');
    expect(assets.length).toBeGreaterThan(2);
    for (const path of assets) {
      const answer = await visitor().get(path);
      expect(answer.status).toBe(200);
      expect(faultsOf(seen(path, path, answer), https)).toEqual([]);
    }
    const nonceOf = ({ headers }: Answer) => /'nonce-([^']+)'/.exec(String(headers['content-security-policy']))?.[1];
    expect(nonceOf(one)).toBeDefined();
    expect(nonceOf(one)).not.toBe(nonceOf(two));
  });
});

describe('the headers of every answer', () => {
  thorough('The check walks every added route and finds each missing header', async () => {
    const app = express();
    app.get('/planted/:id', (_req, res) => void res.send('<p style="color: red">'));
    const inner = Router();
    inner.route('/deeper').post((_req, res) => void res.send());
    app.use(inner);
    expect(routesOf(app)).toEqual([
      { path: '/planted/x', pattern: '/planted/:id', methods: ['GET'] },
      { path: '/deeper', pattern: '/deeper', methods: ['POST'] },
    ]);
    app.use('/elsewhere', Router());
    expect(() => routesOf(app)).toThrow('mounted under a path');
    const bare = { what: 'GET /planted/x', path: '/planted/x', status: 200, setCookies: ['foyer_session=1'] };
    const faults = faultsOf({ ...bare, header: () => undefined, text: '' }, true);
    for (const missing of [
      'nosniff',
      'referrer',
      'opener',
      'resource',
      'HSTS',
      'cache-control',
      'policy',
      'cookie',
      'camera',
    ])
      expect(faults.join('\n')).toContain(missing === 'nosniff' ? 'x-content-type-options' : missing);
    const page = { ...bare, text: '<script src="/a.js"></script><p style="color: red">' };
    const loose = "default-src 'none'; script-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";
    const header = (name: string) => ({ 'content-type': 'text/html', 'content-security-policy': loose })[name];
    const ofPage = faultsOf({ ...page, header }, true).join('\n');
    for (const fault of [`policy is ${loose}`, 'a page without a nonce', 'lacks the nonce', 'inline style'])
      expect(ofPage).toContain(fault);
  });

  it('A sign-in for a client with consent, tokens and sign-out has the required headers in every answer', async () => {
    const foyer = await startFoyer(anyBackend);
    const faults: string[] = [];
    let answers = 0;
    const stop = listenToAnswers(async (request, answer) => {
      const { pathname } = new URL(answer.url);
      const [text, { status, headers }] = [await answer.clone().text(), answer];
      const seen = { what: `${request.method} ${pathname}`, path: pathname, status, text };
      faults.push(
        ...faultsOf(
          { ...seen, header: (name) => headers.get(name) ?? undefined, setCookies: headers.getSetCookie() },
          false,
        ),
      );
      answers += 1;
    });
    try {
      const user = await foyer.addUser();
      const client = await relyingParty(foyer, await foyer.addClient({ thirdParty: true }));
      const browser = foyer.browser();
      await tokensFor(client, browser, user);
      await browser.get('/logout');
      await browser.post('/logout');
    } finally {
      stop();
      await foyer.close();
    }
    expect(faults).toEqual([]);
    expect(answers).toBeGreaterThan(10);
  });

  it('A request that is not valid HTTP gets the required headers', async () => {
    const server = await listen(() => {}, { port: 0, host: '127.0.0.1' });
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    try {
      for (const [bytes, status] of [
        ['this is no HTTP\r\n\r\n', '400'],
        [`GET / HTTP/1.1\r\nHost: x\r\nCookie: ${'c'.repeat(20_000)}\r\n\r\n`, '431'],
      ] as const) {
        const heard = await speak(port, bytes);
        expect(heard).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
        expect(heard).toContain('X-Content-Type-Options: nosniff');
        expect(heard).toContain('Cache-Control: no-store');
        expect(heard).toContain('Connection: close');
        expect(heard).toContain('Content-Type: application/problem+json');
        const body = heard.slice(heard.indexOf('\r\n\r\n') + 4);
        expect(heard).toContain(`Content-Length: ${body.length}`);
        const type = status === '431' ? 'urn:foyer:problem:headersTooLarge' : 'urn:foyer:problem:badRequest';
        expect(JSON.parse(body)).toMatchObject({ type, status: Number(status) });
      }
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
