import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { production, site } from './production.ts';
import { portOf, send, speak } from './wire.ts';

const discovery = '/.well-known/openid-configuration';
const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);

describe('a foreign Host (rule 11)', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  const paths = ['/', discovery, '/oauth2/authorize', '/oauth2/token', '/oauth2/userInfo', '/oauth2/jwks', '/logout'];

  it.each([
    ['another name', () => 'evil.example'],
    ['another name with our port', () => `evil.example:${portOf(foyer.url)}`],
    ['our name without its port', () => 'localhost'],
    ['our name with another port', () => 'localhost:1'],
    ['our name at the start of a longer name', () => `localhost.evil.example:${portOf(foyer.url)}`],
    ['a user before our name', () => `evil.example@localhost:${portOf(foyer.url)}`],
    ['our address as a number', () => `127.0.0.1:${portOf(foyer.url)}`],
    ['two names', () => `localhost:${portOf(foyer.url)}, evil.example`],
    ['a name with a path', () => `localhost:${portOf(foyer.url)}/evil`],
    ['an empty value', () => ''],
  ])('A Host header with %s gets 421 on every path', async (_what, host) => {
    for (const path of paths) {
      for (const method of ['GET', 'POST']) {
        const answer = await send(portOf(foyer.url), path, { method, headers: { host: host(), accept: 'text/html' } });
        expect([path, method, answer.status]).toEqual([path, method, 421]);
        expect(answer.headers.location).toBeUndefined();
        expect(answer.text).not.toContain('evil.example');
      }
    }
  });

  it('A request without a Host header is refused in HTTP/1.1 and 1.0', async () => {
    const port = portOf(foyer.url);
    expect(statusOf(await speak(port, `GET ${discovery} HTTP/1.1\r\nConnection: close\r\n\r\n`))).toBe(400);
    expect(statusOf(await speak(port, `GET ${discovery} HTTP/1.0\r\n\r\n`))).toBe(421);
  });

  it.each([...paths, '/healthz', '/readyz', '/openapi.json', '/assets/x.css'])(
    'Two Host headers get 400 at %s, in any order, even when both are ours (RFC 9112, section 3.2)',
    async (path) => {
      const own = new URL(foyer.url).host;
      for (const [first, second] of [
        [`Host: ${own}`, 'Host: evil.example'],
        ['Host: evil.example', `Host: ${own}`],
        [`Host: ${own}`, `hOST: ${own}`],
      ]) {
        for (const method of ['GET', 'POST']) {
          const heard = await speak(
            portOf(foyer.url),
            `${method} ${path} HTTP/1.1\r\n${first}\r\nAccept: */*\r\n${second}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
          );
          expect([method, first, statusOf(heard)]).toEqual([method, first, 400]);
          expect(heard).not.toContain('evil.example');
        }
      }
    },
  );

  it.each(['http://evil.example', 'https://evil.example', 'HTTP://evil.example:80', 'evil://x', '//evil.example', '*'])(
    'A request line that names %s itself never shows it in an answer',
    async (target) => {
      const own = new URL(foyer.url).host;
      const client = await foyer.addClient();
      const app = await relyingParty(foyer, client);
      const query = new URL((await app.begin()).url).search;
      for (const path of [discovery, `/oauth2/authorize${query}`, '/', '/tos']) {
        const heard = await speak(
          portOf(foyer.url),
          `GET ${target === '*' ? '*' : target + path} HTTP/1.1\r\nHost: ${own}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
        );
        expect(statusOf(heard)).toBeGreaterThanOrEqual(400);
        expect(statusOf(heard)).toBeLessThan(500);
        expect(heard).not.toMatch(/location:.*evil/i);
        expect(heard).not.toMatch(/"issuer"|_endpoint"/);
      }
    },
  );

  it('A request line that names this site is answered like the path alone', async () => {
    const own = new URL(foyer.url).host;
    const heard = await speak(
      portOf(foyer.url),
      `GET ${foyer.url}${discovery} HTTP/1.1\r\nHost: ${own}\r\nConnection: close\r\n\r\n`,
    );
    expect(statusOf(heard)).toBe(200);
    expect(heard).toContain(`"authorization_endpoint":"${foyer.url}/oauth2/authorize"`);
  });
});

describe('headers of a proxy', () => {
  async function shown(foyer: TestFoyer, headers: Record<string, string>) {
    const answer = await send(portOf(foyer.url), discovery, { headers });
    return { status: answer.status, text: answer.text };
  }

  it('Proxy headers are refused outside production, where no proxy can stand before Foyer (rule 16)', async () => {
    const foyer = await startFoyer(anyBackend);
    try {
      const host = new URL(foyer.url).host;
      for (const header of [
        'x-forwarded-for',
        'x-forwarded-host',
        'x-forwarded-proto',
        'x-forwarded-port',
        'x-forwarded-server',
        'x-real-ip',
        'forwarded',
        'via',
        'cf-connecting-ip',
        'true-client-ip',
        'x-original-host',
      ]) {
        const { status } = await shown(foyer, { host, [header]: '127.0.0.1' });
        expect([header, status]).toEqual([header, 403]);
      }
      expect((await shown(foyer, { host })).status).toBe(200);
    } finally {
      await foyer.close();
    }
  });

  it('With TRUST_PROXY, X-Forwarded-Host must name this site and has no other effect', async () => {
    const foyer = await startFoyer(anyBackend, production);
    try {
      const host = new URL(site).host;
      const own = await shown(foyer, { host: 'internal:8080', 'x-forwarded-host': host, 'x-forwarded-proto': 'http' });
      expect(own.status).toBe(200);
      const { issuer, authorization_endpoint, end_session_endpoint } = JSON.parse(own.text);
      for (const address of [issuer, authorization_endpoint, end_session_endpoint]) {
        expect(address).toMatch(/^https:\/\/login\.example\.com(\/|$)/);
      }
      for (const evil of ['evil.example', `${host}, evil.example`, `evil.example, ${host}`, `${host}:444`]) {
        expect((await shown(foyer, { host, 'x-forwarded-host': evil })).status).toBe(421);
      }
      const others: Record<string, string>[] = [
        { host, forwarded: 'host=evil.example;proto=http' },
        { host, 'x-forwarded-proto': 'http' },
        { host, 'x-forwarded-proto': 'javascript' },
        { host, 'x-original-url': 'https://evil.example/', 'x-rewrite-url': '/evil' },
        { host, 'x-forwarded-prefix': '//evil.example', 'x-forwarded-port': '444' },
      ];
      for (const headers of others) {
        const { status, text } = await shown(foyer, headers);
        expect(status).toBe(200);
        expect(JSON.parse(text).token_endpoint).toBe(`${site}/oauth2/token`);
      }
    } finally {
      await foyer.close();
    }
  });

  it('X-Forwarded-Host is ignored when it comes from an address that is not the proxy’s', async () => {
    const foyer = await startFoyer(anyBackend, { ...production, TRUST_PROXY: '192.0.2.0/24' });
    try {
      const host = new URL(site).host;
      expect((await shown(foyer, { host: 'evil.example', 'x-forwarded-host': host })).status).toBe(421);
      const { status, text } = await shown(foyer, { host, 'x-forwarded-host': 'evil.example' });
      expect([status, JSON.parse(text).issuer]).toEqual([200, site]);
    } finally {
      await foyer.close();
    }
  });
});
