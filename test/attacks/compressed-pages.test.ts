import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import express from 'express';
import { createPageSender, hostCookies, pageAccess } from '../../server/http/index.ts';
import type { User } from '../../server/users/index.ts';
import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';

interface Answer {
  status: number | undefined;
  encoding: string | undefined;
  vary: string;
  cookies: readonly string[];
  /** As it was sent. */
  bytes: Buffer;
  html: string;
}

const decoders = new Map([
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
]);

/** Without a client that decompresses by itself, and with no header but these. */
function ask(address: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(address, { method, headers: { 'accept-encoding': 'gzip, br', ...headers } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const encoding = answer.headers['content-encoding'];
        const decode = bytes.length > 0 && encoding !== undefined && decoders.get(encoding);
        resolve({
          status: answer.statusCode,
          encoding,
          vary: answer.headers.vary ?? '',
          cookies: answer.headers['set-cookie'] ?? [],
          bytes,
          html: (decode ? decode(bytes) : bytes).toString(),
        });
      });
    });
    sent.once('error', reject);
    sent.end();
  });
}

/** The values that are new in every answer. */
const withoutRandom = (html: string) =>
  html.replaceAll(/nonce="[^"]+"/g, '').replaceAll(/challenge&quot;:&quot;[\w-]+/g, '');

const pagesOf = (isChosen: (rule: unknown) => boolean) =>
  Object.entries(pageAccess)
    .filter(([route, rule]) => route.startsWith('GET ') && !route.includes(':') && isChosen(rule))
    .map(([route]) => route.slice('GET '.length));
const anonymousPages = ['/', '/signup', '/forgot-password', '/reset-password', '/tos', '/imprint', '/accessibility'];

describe('compressed pages', () => {
  let foyer: TestFoyer;
  let user: User;
  let session: string;
  const get = (path: string, headers?: Record<string, string>) => ask(foyer.url + path, headers);
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    session = await browser.jar.getCookieString(foyer.url);
  });
  afterAll(() => foyer.close());

  it.each(anonymousPages)('%s: a visitor without cookies gets the same text in each encoding', async (path) => {
    const plain = await get(path, { 'accept-encoding': 'identity' });
    expect([plain.status, plain.encoding]).toEqual([200, undefined]);
    for (const encoding of ['br', 'gzip']) {
      const packed = await get(path, { 'accept-encoding': encoding });
      expect([packed.status, packed.encoding]).toEqual([200, encoding]);
      expect(packed.vary).toContain('Accept-Encoding');
      expect(withoutRandom(packed.html)).toBe(withoutRandom(plain.html));
      expect(packed.bytes.length).toBeLessThan(plain.bytes.length * 0.6);
    }
    const head = await ask(foyer.url + path, {}, 'HEAD');
    expect([head.encoding, head.bytes.length]).toEqual(['br', 0]);
  });

  it.each(anonymousPages)(
    '%s holds no secret: two visitors get the same but nonce and passkey challenge',
    async (path) => {
      const [first, second] = [await get(path), await get(path)];
      expect(withoutRandom(first.html)).toBe(withoutRandom(second.html));
      expect([first.cookies, second.cookies]).toEqual([[], []]);
    },
  );

  it('BREACH: no page is compressed for a browser with a session, whatever the address plants', async () => {
    for (const path of pagesOf(() => true)) {
      const answer = await get(`${path}?redirect=%2Fplanted&email=planted%40example.com`, { cookie: session });
      expect([path, answer.encoding]).toEqual([path, undefined]);
    }
    expect((await get('/settings', { cookie: session })).html).toContain(user.email);
  });

  it('BREACH: the size of a page with a secret does not tell whether the planted text repeats it', async () => {
    const size = async (planted: string) =>
      (await get(`/settings?planted=${encodeURIComponent(planted)}`, { cookie: session })).bytes.length;
    expect(await size(user.email)).toBe(await size(`@${'q'.repeat(user.email.length - 1)}`));
  });

  it('BREACH: a pending authorization request is not compressed beside a planted address', async () => {
    const client = await relyingParty(foyer, await foyer.addClient());
    const browser = foyer.browser();
    const signIn = new URL(locationOf(await browser.get((await client.begin()).url, { from: 'cross-site' })));
    const answer = await ask(signIn.href, { cookie: await browser.jar.getCookieString(signIn.href) });
    expect([answer.status, answer.encoding]).toEqual([200, undefined]);
  });

  it.each([
    ['a session', { cookie: 'foyer_session=1' }],
    ['a cookie of another site of the domain', { cookie: '_ga=1' }],
    ['a cookie beside the language', { cookie: 'foyer_lang=de; foyer_notice=1' }],
    ['a cookie before the language', { cookie: 'foyer_notice=1; foyer_lang=de' }],
    ['a cookie without a name', { cookie: 'secret' }],
    ['a cookie whose name begins as the language', { cookie: 'foyer_language=1' }],
    ['a bearer token', { authorization: 'Bearer 1' }],
    ['credentials of a gateway', { authorization: 'Basic dTpw' }],
  ])('BREACH: a request with %s gets no compressed page', async (_name, headers) => {
    expect((await get('/', headers)).encoding).toBeUndefined();
  });

  it('BREACH: pages of links and flows, and answers to forms, are never compressed', async () => {
    for (const path of pagesOf((rule) => rule !== 'visitor')) {
      expect([path, (await get(`${path}?token=planted`)).encoding]).toEqual([path, undefined]);
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded', origin: foyer.url };
    expect((await ask(`${foyer.url}/sign-in`, form, 'POST')).encoding).toBeUndefined();
  });

  it('BREACH: a page that sets a cookie is not compressed', async () => {
    const cookies = hostCookies(false);
    const send = createPageSender(cookies);
    const app = express();
    app.get('/', (req, res) => {
      if (req.query.cookie !== undefined) cookies.set(res, 'foyer_session', { value: 'new' });
      send({ req, res }, 'x'.repeat(5_000));
    });
    const server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const bound = server.address();
    const at = `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}/`;
    try {
      expect((await ask(at)).encoding).toBe('br');
      expect((await ask(`${at}?cookie=1`)).encoding).toBeUndefined();
    } finally {
      server.close();
    }
  });

  it('The chosen language does not keep a page from being compressed', async () => {
    const answer = await get('/', { cookie: 'foyer_lang=de' });
    expect(answer.encoding).toBe('br');
    expect(answer.html).toContain('lang="de"');
  });

  it.each(['', 'identity', 'br;q=0, gzip;q=0', 'zstd'])('"Accept-Encoding: %s" gets plain text', async (accepted) => {
    expect((await get('/', { 'accept-encoding': accepted })).encoding).toBeUndefined();
  });
});
