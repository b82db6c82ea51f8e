import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, refreshOf, relyingParty, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

const site = 'https://shop.example';
const bye = `${site}/bye`;

/** The sign-out of Foyer's specification. `security.md`, rule 12, says when a link may sign out without a question. */
describe.each(backends)('/logout on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  let client: RelyingParty;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
    client = await relyingParty(
      foyer,
      await foyer.addClient({ redirectUris: [`${site}/callback`], logoutUris: [bye, `${site}/bye2?x=1`] }),
    );
  });
  beforeEach(async () => {
    browser = await foyer.signedIn(user);
  });
  afterAll(() => foyer?.close());

  const isSignedIn = async () => (await browser.get('/')).status === 303;
  const link = (parameters: Record<string, string> = {}) =>
    `/logout?${new URLSearchParams({ client_id: client.id, logout_uri: bye, ...parameters })}`;
  const fromShop = { from: 'cross-site', headers: { referer: `${site}/account` } };

  describe('POST /logout', () => {
    it('POST /logout signs out, redirects to the start page and revokes every token of the session', async () => {
      const tokens = await tokensFor(client, browser, user);
      const answer = await browser.post('/logout');
      expect([answer.status, locationOf(answer)]).toEqual([303, `${foyer.url}/`]);
      expect(await isSignedIn()).toBe(false);
      const silent = await client.begin({ prompt: 'none' });
      expect(new URL(locationOf(await browser.get(silent.url))).searchParams.get('error')).toBe('login_required');
      await expect(oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '')).rejects.toMatchObject({
        error: 'invalid_grant',
      });
    });

    it('POST /logout clears the session cookies', async () => {
      await browser.post('/logout');
      expect(Object.keys(await browser.cookies()).toSorted()).toEqual(['foyer_device', 'foyer_returning']);
    });

    it('POST /logout redirects to the start page when it is sent twice or without a session', async () => {
      await browser.post('/logout');
      expect(locationOf(await browser.post('/logout'))).toBe(`${foyer.url}/`);
      expect(locationOf(await foyer.browser().post('/logout'))).toBe(`${foyer.url}/`);
    });

    it('Attack: POST /logout from a page of another site signs no one out', async () => {
      for (const from of ['cross-site', 'same-site']) {
        const headers = { origin: 'https://evil.example', 'sec-fetch-site': from };
        expect((await browser.post('/logout', {}, headers)).status).toBe(403);
      }
      expect(await isSignedIn()).toBe(true);
    });

    it('POST /logout leads to a registered logout address through a page, because forms may not lead elsewhere', async () => {
      const fields = { client_id: client.id, logout_uri: `${site}/bye2?x=1`, state: 'a&b' };
      const answer = await browser.post('/logout', fields);
      expect(answer.status).toBe(200);
      expect(refreshOf(await answer.text())).toBe(`${site}/bye2?x=1&state=a%26b`);
      expect(await isSignedIn()).toBe(false);
    });
  });

  describe('GET /logout', () => {
    it('A link on the client’s own page signs out at once and redirects to its logout address', async () => {
      const answer = await browser.get(link({ state: 's' }), fromShop);
      expect([answer.status, locationOf(answer)]).toEqual([303, `${bye}?state=s`]);
      expect(await isSignedIn()).toBe(false);
    });

    it('A link on a page of Foyer signs out at once', async () => {
      const answer = await browser.get('/logout', { from: 'same-origin', headers: { referer: `${foyer.url}/` } });
      expect(locationOf(answer)).toBe(`${foyer.url}/`);
      expect(await isSignedIn()).toBe(false);
    });

    it.each([
      ['typed or from a mail', { from: 'none', headers: {} }],
      ['from an unknown site', { from: 'cross-site', headers: { referer: 'https://evil.example/' } }],
      ['from a sibling site', { from: 'same-site', headers: { referer: 'http://localhost:1/' } }],
      ['from a page that hides where it is', { from: 'cross-site', headers: {} }],
      ['from a look-alike origin', { from: 'cross-site', headers: { referer: `${site}.evil.example/` } }],
      ['from its origin on another port', { from: 'cross-site', headers: { referer: `${site}:8443/` } }],
      ['from its origin without TLS', { from: 'cross-site', headers: { referer: 'http://shop.example/' } }],
      ['from an opaque origin', { from: 'cross-site', headers: { referer: 'null' } }],
      ['that a browser loads ahead', { ...fromShop, headers: { ...fromShop.headers, 'sec-purpose': 'prefetch' } }],
    ])('A logout link %s shows one button before it signs out', async (_what, how: Parameters<Browser['get']>[1]) => {
      const answer = await browser.get(link(), how);
      expect(answer.status).toBe(200);
      const html = await answer.text();
      expect(html).toContain(`name="logout_uri" value="${bye}"`);
      expect(html.match(/<form[^>]+action="\/logout"/g)).toHaveLength(1);
      expect(await isSignedIn()).toBe(true);
      const fields = { client_id: client.id, logout_uri: bye };
      expect(refreshOf(await (await browser.post('/logout', fields)).text())).toBe(bye);
    });

    it('Attack: a link on one client’s page that names another client shows the button', async () => {
      const others = 'https://other.example/bye';
      const other = await foyer.addClient({ redirectUris: ['https://other.example/cb'], logoutUris: [others] });
      const asked = await browser.get(link({ client_id: other.id, logout_uri: others }), fromShop);
      expect(asked.status).toBe(200);
      expect(await isSignedIn()).toBe(true);
    });

    it('A link without a session redirects to the logout address', async () => {
      expect(locationOf(await foyer.browser().get(link(), { from: 'cross-site' }))).toBe(bye);
    });
  });

  it.each([
    ['another path', `${site}/bye3`],
    ['a longer path', `${bye}/more`],
    ['a slash at the end', `${bye}/`],
    ['a query', `${bye}?next=//evil.example`],
    ['a fragment', `${bye}#x`],
    ['another case of the path', `${site}/BYE`],
    ['another case of the host', 'https://SHOP.example/bye'],
    ['another port', 'https://shop.example:8443/bye'],
    ['the default port in the address', 'https://shop.example:443/bye'],
    ['no TLS', 'http://shop.example/bye'],
    ['a user before the host', 'https://shop.example@evil.example/bye'],
    ['a backslash', 'https://evil.example\\@shop.example/bye'],
    ['a path that climbs', `${site}/x/../bye`],
    ['an encoded letter', `${site}/%62ye`],
    ['no scheme', '//shop.example/bye'],
    ['a script', 'javascript:alert(1)//shop.example/bye'],
    ['a redirect address in place of a logout address', `${site}/callback`],
    ['an empty address', ''],
  ])('Attack: a look-alike logout address (%s) ends at the start page', async (_what, uri) => {
    const linked = await browser.get(link({ logout_uri: uri }), fromShop);
    expect([linked.status, locationOf(linked)]).toEqual([303, `${foyer.url}/`]);
    const posted = await browser.post('/logout', { client_id: client.id, logout_uri: uri });
    expect([posted.status, locationOf(posted)]).toEqual([303, `${foyer.url}/`]);
  });

  it.each([
    ['no client', { client_id: '' }],
    ['an unknown client', { client_id: 'unknown-client' }],
    ['a client without logout addresses', { client_id: 'OTHER' }],
  ])('A request with %s has no logout address and ends at the start page', async (_what, parameters) => {
    const id = parameters.client_id === 'OTHER' ? (await foyer.addClient()).id : parameters.client_id;
    const answer = await browser.post('/logout', { client_id: id, logout_uri: bye });
    expect(locationOf(answer)).toBe(`${foyer.url}/`);
  });
});
