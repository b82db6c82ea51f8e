import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';

/** A cookie that nothing reads: the request passes Express and its session, and the visitor is the same. */
const routed = { cookie: 'unknown=1' };
const browsers = {
  plain: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36',
  embedded:
    'Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 Version/4.0 Chrome/140.0 Mobile Safari/537.36',
};
const providers = {
  GOOGLE_CLIENT_ID: 'google',
  GOOGLE_CLIENT_SECRET: 'of google',
  FACEBOOK_CLIENT_ID: 'facebook',
  FACEBOOK_CLIENT_SECRET: 'of facebook',
};

describe('The sign-in page of visitors without cookies, which is rendered once', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend, {
      SANDBOX: 'false',
      SEARCH_APP_URL: 'https://search.example.com/',
      ...providers,
    });
  });
  afterAll(() => foyer.close());

  async function ask(headers: Record<string, string>, path = '/') {
    const answer = await fetch(`${foyer.url}${path}`, { headers });
    const html = await answer.text();
    // The length of a compressed answer depends on its random values.
    const { date: _date, 'content-length': _length, ...head } = Object.fromEntries(answer.headers);
    const nonce = /'nonce-([^']+)'/.exec(head['content-security-policy'] ?? '')?.[1] ?? 'none';
    const challenge = /challenge&quot;:&quot;([\w-]+)/.exec(html)?.[1] ?? 'none';
    const fixed = (text: string) => text.replaceAll(nonce, 'NONCE').replaceAll(challenge, 'CHALLENGE');
    const status = answer.status;
    return { nonce, challenge, status, html: fixed(html), head: fixed(JSON.stringify(head)) };
  }

  it.each(['en', 'de', 'fr-CH', 'nl, en;q=0.5', 'it', ''])(
    'In the language %p it is the page that Express answers, with the same headers',
    async (lang) => {
      for (const userAgent of Object.values(browsers)) {
        for (const encoding of ['br', 'gzip', 'identity']) {
          const headers = { 'accept-language': lang, 'user-agent': userAgent, 'accept-encoding': encoding };
          const direct = await ask(headers);
          const { html, head, status } = await ask({ ...headers, ...routed });
          const { 'content-encoding': packed, ...others } = JSON.parse(direct.head);
          expect(packed).toBe(encoding === 'identity' ? undefined : encoding);
          expect({ ...direct, head: others }).toMatchObject({ status, html, head: JSON.parse(head) });
          expect(status).toBe(200);
        }
      }
    },
  );

  it('Each answer has its own nonce and passkey challenge, and every script has that nonce', async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => ask({})));
    expect(new Set(answers.map(({ nonce }) => nonce)).size).toBe(4);
    expect(new Set(answers.map(({ challenge }) => challenge)).size).toBe(4);
    for (const { html, nonce, challenge } of answers) {
      expect(nonce).toMatch(/^[\w+/]{22}==$/);
      expect(challenge).toMatch(/^[\w-]{40,}$/);
      const scripts = html.match(/<script[^>]*>/g) ?? [];
      expect(scripts.length).toBeGreaterThan(0);
      for (const script of scripts) expect(script).toContain('nonce="NONCE"');
    }
  });

  it('A browser in another app gets no button of a provider that refuses it', async () => {
    const [plain, embedded] = await Promise.all(
      [browsers.plain, browsers.embedded].map((userAgent) => ask({ 'user-agent': userAgent })),
    );
    expect(plain?.html).toContain('/federation/google"');
    expect(embedded?.html).not.toContain('/federation/google"');
  });

  it.each([
    ['the language of the cookie', { cookie: 'foyer_lang=de', 'accept-language': 'fr' }, 'lang="de"'],
    ['a query', {}, '/sign-in?redirect=%2Fsettings', '/?redirect=%2Fsettings'],
    ['a part of the page', { 'foyer-part': 'dialog' }, ''],
  ])('%s changes the answer as before', async (_what, headers, expected, path = '/') => {
    await ask({});
    const { html } = await ask(headers, path);
    expect(html).toContain(expected);
    if (expected === '') expect(html).not.toContain('<html');
  });

  it('A signed-in user, and a request with credentials, are never answered with the prepared page', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const answer = await browser.get('/', { from: 'none' });
    expect(answer.status).toBe(303);
    const { html, head } = await ask({ authorization: 'Bearer unknown', 'accept-encoding': 'br' });
    expect(html).toContain('name="password"');
    expect(head).not.toContain('content-encoding');
  });
});
