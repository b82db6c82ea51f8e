import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import * as oidc from 'openid-client';
import { demoMember } from '../../sandbox/index.ts';
import { runtimeFault } from '../../server/runtime-check.ts';
import { Browser, locationOf } from '../support/browser.ts';
import { homeFrom, relyingParty, signInFor } from '../support/relying-party.ts';
import { production } from './production.ts';
import { createServers, foyerCommand, isFree, quietPort, type ServerProcess } from './server-process.ts';

const servers = createServers();
afterAll(() => servers.end());

const demoClient = (server: ServerProcess) => ({
  id: 'demo-app',
  secret: null,
  redirectUri: `${server.demoUrl}/callback`,
});

/** Signs the demo member in to the demo client, as a fresh browser; answers the tokens. */
async function tokensOfDemoMember(server: ServerProcess) {
  const client = await relyingParty(server, demoClient(server));
  const begun = await client.begin();
  const callback = await signInFor(new Browser(server.url), begun, demoMember, demoMember.password);
  return { client, tokens: await client.redeem(callback, begun) };
}

/** Asks like a proxy before Foyer. */
function askAsProxy(port: number, path: string, headers: Record<string, string>) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    asked.once('error', reject).end();
  });
}

describe('the server as a process', () => {
  it('The server prints its addresses and the demo user, and every printed address answers', async () => {
    const cwd = await servers.folder();
    const begunMs = performance.now();
    const server = await servers.start({}, { cwd });
    await server.ready;
    const readyMs = performance.now() - begunMs;
    expect(server.stdout().replace(/^Database: .*\n/, '')).toBe(
      [
        `Foyer is ready: ${server.url}`,
        `Sandbox:         ${server.url}/sandbox`,
        'Demo member:     vera@example.com  password: open sesame 7',
        `Demo client app: ${server.demoUrl}`,
        `Mailbox:         ${server.url}/sandbox/mailbox`,
        `Billing:         ${server.url}/sandbox/billing`,
        `Providers:       ${server.url}/sandbox/providers`,
        `Refused:         ${server.url}/sandbox/refusals`,
        `JSON API:        ${server.url}/docs/api`,
        'Stop with Ctrl-C.',
        '',
      ].join('\n'),
    );
    expect(server.stderr()).toBe('');
    const landing = await fetch(server.url);
    console.info(`first start on an empty folder: ready after ${Math.round(readyMs)} ms`);
    expect(landing.status).toBe(200);
    expect(await landing.text()).toContain('name="password"');
    expect((await fetch(server.demoUrl)).status).toBe(200);
    // Where nothing is said, its data lies below the folder that it was started in.
    expect(existsSync(join(cwd, 'data'))).toBe(true);
    const { tokens } = await tokensOfDemoMember(server);
    expect(tokens.claims()).toMatchObject({ iss: server.url, email: demoMember.email });
    // What the joined server loads at its first use is there: the passkeys' library, GraphQL's engine.
    const browser = new Browser(server.url);
    await browser.post('/sign-in', { username: demoMember.email, password: demoMember.password });
    expect((await browser.get('/settings/passkeys/add')).status).toBe(200);
    const asked = await browser.postJson('/graphql', { query: '{ listUsers { items { username } } }' });
    expect(await asked.json()).toEqual({ data: { listUsers: { items: [{ username: demoMember.email }] } } });
  });

  it('The server listens on PORT, stores its data in DATA_DIR and has the issuer of PUBLIC_URL', async () => {
    const [cwd, dataDir] = [await servers.folder(), await servers.preparedFolder()];
    const port = await quietPort();
    const url = `http://127.0.0.1:${port}`;
    const server = await servers.start({ DATA_DIR: dataDir, PORT: String(port), PUBLIC_URL: url }, { cwd });
    await server.ready;
    expect(server.stdout()).toContain(`is ready: ${url}\n`);
    const ofThisServer = `providers-${new URL(server.demoUrl).port}.json`;
    expect(existsSync(join(dataDir, 'sandbox-providers', ofThisServer))).toBe(true);
    expect(existsSync(join(cwd, 'data'))).toBe(false);
    const discovery = await fetch(`${url}/.well-known/openid-configuration`);
    expect(await discovery.json()).toMatchObject({ issuer: url, token_endpoint: `${url}/oauth2/token` });
    // Foyer refuses any other host name.
    expect((await fetch(`http://localhost:${server.port}/`)).status).toBe(421);
  });

  it('The sandbox keeps its Stripe data, ends at SIGTERM and SIGINT with exit code 0 and frees its ports', async () => {
    const DATA_DIR = await servers.preparedFolder();
    const overviewUntil = async (signal: 'SIGTERM' | 'SIGINT') => {
      const server = await servers.start({ DATA_DIR });
      await server.ready;
      const authorization = 'Bearer sk_test_sandbox';
      const ask = async (path: string) => (await fetch(server.demoUrl + path, { headers: { authorization } })).json();
      const { data: prices } = (await ask('/v1/prices?limit=100')) as { data: { id: string; lookup_key: string }[] };
      const { data: codes } = (await ask('/v1/promotion_codes')) as { data: { code: string }[] };
      const pages = await Promise.all([
        fetch(`${server.url}/sandbox/billing`),
        fetch(`${server.demoUrl}/stripe.js`),
        fetch(server.demoUrl),
        fetch(server.url),
      ]);
      expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(await pages[0].text()).toContain('<code>4242 4242 4242 4242</code>');
      // Open connections of clients do not delay the end.
      server.signal(signal);
      expect(await server.ended).toBe(0);
      expect(await Promise.all([isFree(server.port), isFree(Number(new URL(server.demoUrl).port))])).toEqual([
        true,
        true,
      ]);
      expect(server.stderr()).toBe('');
      return { prices, codes };
    };
    const first = await overviewUntil('SIGTERM');
    expect(first.prices.map(({ lookup_key }) => lookup_key)).toEqual(expect.arrayContaining(['m-99', 'y-900']));
    expect(first.codes.length).toBeGreaterThan(2);
    expect(await overviewUntil('SIGINT')).toEqual(first);
  });

  it('Two servers that start at once on one missing folder both serve the same users', async () => {
    const DATA_DIR = join(await servers.folder(), 'deep', 'down');
    const pair = await Promise.all([servers.start({ DATA_DIR }), servers.start({ DATA_DIR })]);
    await Promise.all(pair.map(({ ready }) => ready));
    expect(existsSync(DATA_DIR)).toBe(true);
    // Each process has its own demo app.
    for (const server of pair) expect((await tokensOfDemoMember(server)).tokens.claims()?.aud).toBe('demo-app');
    const [one, other] = pair;
    const { tokens } = await tokensOfDemoMember(one);
    const elsewhere = await relyingParty(other, demoClient(other));
    expect(await oidc.fetchUserInfo(elsewhere.config, tokens.access_token, tokens.claims()?.sub ?? '')).toMatchObject({
      email: demoMember.email,
    });
  });

  it('A server that is killed (kill -9) loses no user, client, refresh token or waiting request', async () => {
    const DATA_DIR = await servers.preparedFolder();
    const server = await servers.start({ DATA_DIR });
    await server.ready;
    const redirectUri = 'http://127.0.0.1:9/callback';
    const member = { email: 'ida@example.com', password: 'nine lives and 1' };
    const command = (...words: string[]) => foyerCommand(DATA_DIR, ...words);
    const [added] = await Promise.all([
      command('client', 'add', '--id', 'shop', '--name', 'Shop', '--redirect-uri', redirectUri),
      command('user', 'add', '--email', member.email, '--password', member.password, '--verified', '--accept-terms'),
    ]);
    const secret = String(added.client_secret);
    const client = await relyingParty(server, { id: 'shop', secret, redirectUri });
    const begun = await client.begin();
    const browser = new Browser(server.url);
    const tokens = await client.redeem(await signInFor(browser, begun, member, member.password), begun);
    const renewed = await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '');
    // Somebody stands at the form, and somebody has left it already.
    const [form, left] = [new Browser(server.url), new Browser(server.url)];
    const waiting = [await client.begin(), await client.begin()] as const;
    const landing = locationOf(await form.get(waiting[0].url));
    const errand = new URL(locationOf(await left.get(waiting[1].url))).search;
    const fields = { username: member.email, password: member.password };
    const verify = locationOf(await left.post(`/sign-in${errand}`, fields));
    server.signal('SIGKILL');
    expect(await server.ended).toBe('SIGKILL');

    const again = await servers.start({ DATA_DIR, PORT: String(server.port) });
    await again.ready;
    const afterwards = await oidc.refreshTokenGrant(client.config, renewed.refresh_token ?? '');
    expect(afterwards.claims()).toMatchObject({ sub: tokens.claims()?.sub, aud: 'shop' });
    // The key that signed before still verifies, and the browser is still signed in.
    const silent = await client.begin({ prompt: 'none', id_token_hint: tokens.id_token ?? '' });
    expect((await client.redeem(await signInFor(browser, silent, member), silent)).claims()?.sub).toBe(
      tokens.claims()?.sub,
    );
    const home = await homeFrom(form, landing, member, member.password);
    expect((await client.redeem(home, waiting[0])).claims()?.sub).toBe(tokens.claims()?.sub);
    // The user is still signed in, so no password is needed.
    const here = await homeFrom(left, verify, member, 'no longer asked for');
    expect((await client.redeem(here, waiting[1])).claims()?.sub).toBe(tokens.claims()?.sub);
  });
});

describe('a start that fails', () => {
  it('A port in use is reported with the variable to change', async () => {
    const first = await servers.start({ DATA_DIR: await servers.preparedFolder() });
    await first.ready;
    const DATA_DIR = await servers.preparedFolder();
    for (const variable of ['PORT', 'SANDBOX_PORT'] as const) {
      const taken = variable === 'PORT' ? first.port : Number(new URL(first.demoUrl).port);
      const second = await servers.start({ DATA_DIR, [variable]: String(taken) });
      expect(await second.ended).toBe(1);
      expect(second.stderr()).toBe(`Port ${taken} is in use: set PORT (or SANDBOX_PORT) to another one.\n`);
    }
  });

  it('A production start lists every missing setting at once and writes no file', async () => {
    const cwd = await servers.folder();
    const server = await servers.start({ NODE_ENV: 'production', PORT: '99999', REDIS_URL: 'localhost' }, { cwd });
    expect(await server.ended).toBe(1);
    for (const name of [
      'PUBLIC_URL',
      'SECRET_KEY',
      'SEARCH_APP_URL',
      'TRUST_PROXY',
      'PORT',
      'REDIS_URL',
      'MAIL_FROM',
    ]) {
      expect(server.stderr()).toMatch(new RegExp(`^ {2}- ${name}(:| is missing:) .*(write|must) `, 'm'));
    }
    expect(server.stderr()).not.toMatch(/^\s+at /m);
    expect(server.stdout()).toBe('');
    expect(existsSync(join(cwd, 'data'))).toBe(false);
  });

  it('Attack: production refuses a sandbox database, whose demo password is public', async () => {
    const server = await servers.start({ ...production, DATA_DIR: await servers.preparedFolder() });
    expect(await server.ended).toBe(1);
    expect(server.stderr()).toMatch(/^This database has been used by a sandbox.*set DATABASE_URL or DATA_DIR/);
  });

  it('A complete production start has no sandbox, sends HSTS and answers only to its own host name', async () => {
    const server = await servers.start({ ...production, DATA_DIR: await servers.folder() });
    await server.ready;
    expect(server.stdout()).toContain('Foyer is ready: https://login.example.com\n');
    expect(server.stdout()).not.toContain('Demo member');
    expect(await isFree(Number(new URL(server.demoUrl).port))).toBe(true);
    const headers = { host: 'login.example.com', 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' };
    const landing = await askAsProxy(server.port, '/', headers);
    expect(landing.status).toBe(200);
    expect(landing.body).not.toContain('Sandbox');
    expect(landing.headers['strict-transport-security']).toBeDefined();
    expect((await askAsProxy(server.port, '/sandbox/search', headers)).status).toBe(404);
    expect((await askAsProxy(server.port, '/', { ...headers, host: 'evil.example' })).status).toBe(421);
    server.signal('SIGTERM');
    expect(await server.ended).toBe(0);
  });

  it('An older Node is refused with the version that is needed, before any other module is loaded', async () => {
    expect(runtimeFault('20.19.2')).toContain('Foyer needs Node 24 or newer, and this is Node 20.19.2');
    expect(runtimeFault('v23.11.0')).toContain('needs Node 24');
    for (const version of ['24.0.0', 'v24.21.0', '26.1.0']) expect(runtimeFault(version)).toBeUndefined();
    const entry = readFileSync(join(import.meta.dirname, '..', '..', 'dist', 'server', 'main.js'), 'utf8');
    expect(entry.match(/^import .*$/gm)).toEqual(["import { runtimeFault } from './runtime-check.js';"]);

    // This Node reports an older version.
    const older = `data:text/javascript,${encodeURIComponent("Object.defineProperty(process.versions, 'node', { value: '20.19.2' })")}`;
    const server = await servers.start({ DATA_DIR: await servers.folder() }, { nodeOptions: ['--import', older] });
    expect(await server.ended).toBe(1);
    expect(server.stderr()).toMatch(/^Foyer needs Node 24 or newer, and this is Node 20\.19\.2/);
    expect(server.stdout()).toBe('');
  });
});
