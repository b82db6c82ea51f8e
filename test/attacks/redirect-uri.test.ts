import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty } from '../support/relying-party.ts';
import { strictest } from './bad-input.ts';
import { portOf, send } from './wire.ts';

const registered = 'https://app.example.com/callback?app=1';
const look = (uri: string): [string, string] => [JSON.stringify(uri).slice(0, 90), uri];

/** Addresses that a careless comparison accepts as the registered one. */
const lookalikes = [
  'https://app.example.com/callback',
  'https://app.example.com/callback?app=1&next=https://evil.example',
  'https://app.example.com/callback?app=1#fragment',
  'https://app.example.com/callback?app=1#',
  'https://app.example.com/callback?app=1&',
  'https://app.example.com/callback?app=2',
  'https://app.example.com/callback?APP=1',
  'https://app.example.com/callback/?app=1',
  'https://app.example.com/callback/../callback?app=1',
  'https://app.example.com/./callback?app=1',
  'https://app.example.com//callback?app=1',
  'https://app.example.com/callback/evil?app=1',
  'https://app.example.com/Callback?app=1',
  'https://app.example.com/%63allback?app=1',
  'https://app.example.com/callback%3Fapp=1',
  'https://app.example.com/callback?app=%31',
  'https://app.example.com/callback;x?app=1',
  'https://app.example.com:443/callback?app=1',
  'https://app.example.com:8443/callback?app=1',
  'https://app.example.com./callback?app=1',
  'https://APP.example.com/callback?app=1',
  'HTTPS://app.example.com/callback?app=1',
  'http://app.example.com/callback?app=1',
  'https://user@app.example.com/callback?app=1',
  'https://app.example.com@evil.example/callback?app=1',
  'https://app.example.com:x@evil.example/callback?app=1',
  'https://evil.example\\@app.example.com/callback?app=1',
  'https://app.example.com\\.evil.example/callback?app=1',
  'https:\\\\app.example.com\\callback?app=1',
  'https:app.example.com/callback?app=1',
  'https:///app.example.com/callback?app=1',
  '//app.example.com/callback?app=1',
  '/callback?app=1',
  'https://app.example.com.evil.example/callback?app=1',
  'https://evil.example/https://app.example.com/callback?app=1',
  'https://evil.example/?https://app.example.com/callback?app=1',
  'https://evil.example#https://app.example.com/callback?app=1',
  'https://evil-app.example.com/callback?app=1',
  'https://example.com/callback?app=1',
  'https://xn--pp-1ia.example.com/callback?app=1',
  'https://аpp.example.com/callback?app=1',
  'https://app。example.com/callback?app=1',
  'https://app.example.com/callback?app=1\u0000',
  'https://app.example.com/callback?app=1\r\nLocation: https://evil.example',
  ' https://app.example.com/callback?app=1',
  'https://app.example.com/callback?app=1 ',
  'https://app.exam\tple.com/callback?app=1',
  'https://app.example.com/callback?app=1\u200b',
  'https://%61pp.example.com/callback?app=1',
  'javascript:alert(1)//https://app.example.com/callback?app=1',
  'data:text/html,https://app.example.com/callback?app=1',
  'blob:https://app.example.com/callback?app=1',
  `https://app.example.com/callback?app=1${'&x=1'.repeat(1_000)}`,
  'null',
  '*',
  'https://*.example.com/callback?app=1',
].map(look);

describe.each(strictest())('a redirect_uri that looks like the registered one, on $name', (backend) => {
  let foyer: TestFoyer;
  let app: RelyingParty;
  let signedIn: Browser;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    signedIn = await foyer.signedIn(await foyer.addUser());
    app = await relyingParty(foyer, await foyer.addClient({ redirectUris: [registered] }));
  });
  afterAll(() => foyer?.close());

  async function expectNoRedirect(query: string): Promise<void> {
    for (const browser of [foyer.browser(), signedIn]) {
      const answer = await browser.get(`/oauth2/authorize?${query}`, { from: 'cross-site' });
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
      const page = await answer.text();
      expect(page).toContain('<h1');
      expect(page).not.toContain('http-equiv="refresh"');
      expect(page).not.toContain('evil.example');
    }
  }

  it('The registered redirect_uri itself gets the redirect', async () => {
    const answer = await signedIn.get((await app.begin()).url);
    expect(answer.headers.get('location')).toMatch(/^https:\/\/app\.example\.com\/callback\?app=1&code=/);
  });

  it.each(lookalikes)(
    'A redirect_uri that only looks like the registered one gets no redirect: %s',
    async (_shown, uri) => {
      const query = new URL((await app.begin({ redirect_uri: uri })).url).searchParams;
      await expectNoRedirect(query.toString());
      // The error is not sent there either.
      query.set('response_type', 'token');
      query.set('prompt', 'none');
      await expectNoRedirect(query.toString());
    },
  );

  it.each([
    [
      'two values, the right one first',
      `redirect_uri=${encodeURIComponent(registered)}&redirect_uri=https://evil.example/`,
    ],
    [
      'two values, the right one last',
      `redirect_uri=https://evil.example/&redirect_uri=${encodeURIComponent(registered)}`,
    ],
    ['a list', `redirect_uri[]=${encodeURIComponent(registered)}`],
    ['no value', ''],
    ['an empty value', 'redirect_uri='],
  ])('A request whose redirect_uri has %s gets no redirect', async (_what, given) => {
    const query = new URL((await app.begin()).url).searchParams;
    query.delete('redirect_uri');
    await expectNoRedirect(`${query}&${given}`);
  });

  it('The redirect_uri of another client gets no redirect', async () => {
    const other = await foyer.addClient({ redirectUris: ['https://other.example.com/callback'] });
    const query = new URL((await app.begin({ redirect_uri: other.redirectUri })).url).searchParams;
    await expectNoRedirect(query.toString());
    query.set('redirect_uri', registered);
    query.append('client_id', other.id);
    await expectNoRedirect(query.toString());
    query.delete('client_id');
    query.set('client_id', other.id);
    await expectNoRedirect(query.toString());
  });

  it.each([
    'unknown-client',
    '',
    'client1\u0000',
    '\u0000',
    '__proto__',
    'constructor',
    'https://evil.example/client.json',
    'x'.repeat(2_000),
    '\ud800',
  ])('A request with the client %j gets no redirect', async (id) => {
    const query = new URL((await app.begin()).url).searchParams;
    query.set('client_id', id);
    await expectNoRedirect(query.toString());
  });

  it('A redirect_uri in a form that another site posts gets no redirect', async () => {
    const query = new URL((await app.begin({ redirect_uri: 'https://evil.example/' })).url).searchParams;
    const answer = await send(portOf(foyer.url), '/oauth2/authorize', {
      method: 'POST',
      headers: {
        host: new URL(foyer.url).host,
        origin: 'https://evil.example',
        'sec-fetch-site': 'cross-site',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: query.toString(),
    });
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toMatch(/^\/oauth2\/authorize\?/);
    await expectNoRedirect(String(answer.headers.location).split('?')[1] ?? '');
  });

  it('A native app gets no redirect to another loopback name, another path or https', async () => {
    const native = await relyingParty(
      foyer,
      await foyer.addClient({ native: true, redirectUris: ['http://127.0.0.1/callback'] }),
    );
    for (const uri of [
      'http://localhost:5000/callback',
      'http://[::1]:5000/callback',
      'http://127.0.0.2:5000/callback',
      'http://127.1:5000/callback',
      'http://2130706433:5000/callback',
      'http://127.0.0.1:5000/callback/evil',
      'http://127.0.0.1:5000/',
      'https://127.0.0.1:5000/callback',
      'http://127.0.0.1@evil.example/callback',
      'http://127.0.0.1:5000@evil.example/callback',
      'http://127.0.0.1.evil.example:5000/callback',
    ]) {
      await expectNoRedirect(new URL((await native.begin({ redirect_uri: uri })).url).searchParams.toString());
    }
    // Only the port may differ (RFC 8252, section 7.3).
    const own = await foyer.browser().get((await native.begin({ redirect_uri: 'http://127.0.0.1:5000/callback' })).url);
    expect(own.status).toBe(303);
  });
});
