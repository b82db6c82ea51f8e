import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type Begun, type RelyingParty, relyingParty, signInFor, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

/** Native apps (RFC 8252): any app can claim a scheme or a loopback port, so the user is asked each time. */
describe.each(backends)('native client on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
    browser = await foyer.signedIn(user);
  });
  afterAll(() => foyer?.close());

  const native = async (...redirectUris: string[]): Promise<RelyingParty> =>
    relyingParty(foyer, await foyer.addClient({ native: true, redirectUris }));
  const lead = async (begun: Begun) => locationOf(await browser.get(begun.url, { from: 'cross-site' }));

  it('A native client gets its code at its own scheme', async () => {
    const client = await native('com.example.app:/callback');
    const begun = await client.begin();
    const callback = await signInFor(browser, begun, user);
    expect(callback).toMatch(/^com\.example\.app:\/callback\?/);
    expect((await client.redeem(callback, begun)).claims()?.sub).toBe(user.id);
  });

  it('The consent page shows the scheme of a native client, which has no host', async () => {
    const client = await native('com.example.shown:/callback');
    const page = await (await browser.get(await lead(await client.begin()))).text();
    expect(page).toContain('com.example.shown');
  });

  it('A native client asks for consent each time, although it is first party and consent was given', async () => {
    const client = await native('com.example.again:/callback');
    await tokensFor(client, browser, user);
    expect(new URL(await lead(await client.begin())).pathname).toBe('/consent');
    const none = await client.begin({ prompt: 'none' });
    expect(new URL(await lead(none)).searchParams.get('error')).toBe('interaction_required');
  });

  it.each(['http://127.0.0.1:51234/callback', 'http://[::1]:8/callback'])(
    'A native client gets its code on any loopback port: %s',
    async (redirectUri) => {
      const client = await native('http://127.0.0.1/callback', 'http://[::1]/callback');
      const opened: RelyingParty = await relyingParty(foyer, { id: client.id, secret: null, redirectUri });
      const begun = await opened.begin();
      const callback = await signInFor(browser, begun, user);
      expect(callback.startsWith(`${redirectUri}?`)).toBe(true);
      expect((await opened.redeem(callback, begun)).claims()?.sub).toBe(user.id);
    },
  );

  it.each([
    ['another path', 'http://127.0.0.1:51234/other'],
    ['another host of the loopback network', 'http://127.0.0.2:51234/callback'],
    ['a host that begins alike', 'http://127.0.0.1.evil.example:51234/callback'],
    ['a user before the host', 'http://127.0.0.1:51234@evil.example/callback'],
    ['https', 'https://127.0.0.1:51234/callback'],
    ['a query', 'http://127.0.0.1:51234/callback?next=x'],
  ])(
    'A native client’s address with %s is not the registered loopback address and gets no redirect',
    async (_what, redirectUri) => {
      const client = await native('http://127.0.0.1/callback');
      const begun = await client.begin({ redirect_uri: redirectUri });
      const answer = await browser.get(begun.url, { from: 'cross-site' });
      expect(answer.status).toBe(400);
      expect(answer.headers.get('location')).toBeNull();
    },
  );

  it('A web client on loopback gets a code only at its registered port', async () => {
    const client = await relyingParty(foyer, await foyer.addClient({ redirectUris: ['http://127.0.0.1:9/web'] }));
    const begun = await client.begin({ redirect_uri: 'http://127.0.0.1:10/web' });
    expect((await browser.get(begun.url)).status).toBe(400);
  });
});
