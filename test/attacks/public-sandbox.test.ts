import { ConfigurationError, loadConfig } from '../../config/load.ts';
import { createCarriers } from '../../server/carriers.ts';
import { createBoxes, createDeps } from '../../server/deps.ts';
import { listen, prepare } from '../../server/process/index.ts';
import { isStamped, stampSandbox } from '../../server/store/index.ts';
import { startFoyer } from '../support/foyer.ts';
import { freePort } from '../support/services.ts';
import { anyBackend } from '../support/stores.ts';
import { production, site } from './production.ts';
import { send, speak } from './wire.ts';

function faultsOf(environment: Record<string, string>): string {
  try {
    loadConfig(environment);
    return '';
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults.join('\n');
    throw error;
  }
}

const local = { DATA_DIR: '/nonexistent', SECRET_KEY: 'a secret key that is used by tests alone' };

/** `security.md`, rule 16. */
describe('a sandbox that others could reach', () => {
  it.each([
    'https://login.example.com',
    'http://login.example.com',
    'http://192.168.1.10:3000',
    'http://10.0.0.1',
    'http://0.0.0.0:3000',
    'http://127.0.0.1.evil.example',
    'http://localhost.example.com',
    'http://localhost.:3000',
    'http://127.0.0.2:3000',
    'http://[::ffff:10.0.0.1]:3000',
    'http://[::]:3000',
    'http://169.254.169.254',
  ])('The sandbox does not start at %s, with NODE_ENV unset, development or test, requested or not', (PUBLIC_URL) => {
    const asked: Record<string, string>[] = [
      {},
      { NODE_ENV: 'development' },
      { NODE_ENV: 'test' },
      { SANDBOX: 'true' },
      { SANDBOX: 'false' },
    ];
    for (const more of asked) {
      expect(faultsOf({ ...local, SEARCH_APP_URL: 'https://www.example.com', PUBLIC_URL, ...more })).toContain(
        'PUBLIC_URL',
      );
    }
  });

  it.each(['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000', 'http://127.1:3000'])(
    'The sandbox starts on this machine: %s',
    (PUBLIC_URL) => {
      expect(faultsOf({ ...local, PUBLIC_URL })).toBe('');
    },
  );

  it.each([
    ['the sandbox', { SANDBOX: 'true' }, 'SANDBOX'],
    ['plain http', { PUBLIC_URL: 'http://login.example.com' }, 'PUBLIC_URL'],
    ['no address', { PUBLIC_URL: '' }, 'PUBLIC_URL'],
    ['a development key', { SECRET_KEY: `development-${'x'.repeat(40)}` }, 'SECRET_KEY'],
    ['a development key among others', { SECRET_KEY: `${'y'.repeat(40)},development-${'x'.repeat(40)}` }, 'SECRET_KEY'],
    ['a short key', { SECRET_KEY: 'short' }, 'SECRET_KEY'],
    ['no key', { SECRET_KEY: '' }, 'SECRET_KEY'],
    ['a misspelt environment', { NODE_ENV: 'Production' }, 'NODE_ENV'],
  ] as [string, Record<string, string>, string][])('Production refuses %s', (_what, change, named) => {
    expect(faultsOf({ ...local, ...production, ...change })).toContain(named);
  });

  it('A program without the sandbox does not start with SANDBOX, and sends no messages for it', async () => {
    for (const SANDBOX of ['true', '']) {
      await expect(createDeps({ ...local, SANDBOX })).rejects.toThrow('SANDBOX: this program has no sandbox');
    }
    await expect(createCarriers(loadConfig({ ...local, SANDBOX: 'true' }))).rejects.toThrow('sends no messages');
  });

  it('Production refuses a database that a sandbox has used and starts on another one', async () => {
    const foyer = await startFoyer(anyBackend, production);
    try {
      const deps = { ...foyer.deps, boxes: createBoxes(foyer.deps.config.SECRET_KEYS) };
      await expect(prepare(deps, () => {})).resolves.toBeUndefined();
      await stampSandbox(foyer.stores.database, Date.now());
      expect(await isStamped(foyer.stores.database)).toBe(true);
      await expect(prepare(deps, () => {})).rejects.toThrow(/used by a sandbox/);
      // The pages of the sandbox do not exist either.
      for (const path of ['/sandbox/search', '/sandbox/main', '/sandbox/mailbox', '/sandbox']) {
        const answer = await send(Number(new URL(foyer.url).port), path, {
          headers: { host: new URL(site).host, accept: 'text/html' },
        });
        expect([path, answer.status]).toEqual([path, 404]);
      }
    } finally {
      await foyer.close();
    }
  });
});

describe('requests that Node’s parser refuses', () => {
  it('A request that the parser refuses gets a clear error and disconnects no other client', async () => {
    const port = await freePort();
    let answered = 0;
    const server = await listen(
      (_req, res) => {
        answered += 1;
        res.end('fine');
      },
      { port, host: '127.0.0.1' },
    );
    const head = `GET / HTTP/1.1\r\nHost: localhost\r\n`;
    try {
      for (const [what, bytes, status] of [
        ['a header of 20 KB', `${head}X: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
        ['1,000 headers of 20 bytes', `${head}${'X-A: 0123456789abcdef\r\n'.repeat(1_000)}\r\n`, 431],
        ['a path of 20 KB', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431],
        ['a cookie of 20 KB', `${head}Cookie: a=${'x'.repeat(20_000)}\r\n\r\n`, 431],
        ['no HTTP', 'hello\r\n\r\n', 400],
        ['a TLS greeting', '\u0016\u0003\u0001\u0002\u0000', 400],
        ['an unknown method', 'EVIL / HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
        ['two lengths', `${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, 400],
        ['a length and chunks', `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
        ['chunks said twice', `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`, 400],
        ['a negative length', `${head}Content-Length: -1\r\n\r\n`, 400],
        ['a length that is no number', `${head}Content-Length: 1e3\r\n\r\n`, 400],
        ['a space before the colon', `${head}Content-Length : 1\r\n\r\n`, 400],
        ['a folded header', `${head}X: a\r\n b\r\nY\r\n\r\n`, 400],
        ['a header with a zero byte', `${head}X: a\u0000b\r\n\r\n`, 400],
        ['a line feed alone as the end', `${head}X: a\nY: b\r\n\r\n`, 400],
      ] as const) {
        const heard = await speak(port, bytes);
        expect([what, /^HTTP\/1\.1 (\d+)/.exec(heard)?.[1]]).toEqual([what, String(status)]);
        const [, body = ''] = heard.split('\r\n\r\n');
        expect(heard).toMatch(/^Content-Type: application\/problem\+json\r$/m);
        expect(JSON.parse(body)).toMatchObject({ status, detail: expect.stringMatching(/^The request/) });
      }
      expect(answered).toBe(0);
      expect((await send(port, '/')).text).toBe('fine');
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
