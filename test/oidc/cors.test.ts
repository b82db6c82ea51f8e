import type { User } from '../../server/users/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type Begun, type RelyingParty, relyingParty, signInFor, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

const own = 'http://127.0.0.1:9';
const foreign = 'https://evil.example';

/** A script may read an answer only if the answer names the origin of the script (Fetch standard). */
const readableBy = (answer: Response, origin: string) => answer.headers.get('access-control-allow-origin') === origin;

describe.each(backends)('calls from a script on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let client: RelyingParty;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
    client = await relyingParty(foyer, await foyer.addClient({ public: true }));
  });
  afterAll(() => foyer?.close());

  const call = (path: string, origin: string, fields: Record<string, string>) =>
    sendRequest(foyer.url + path, {
      method: 'POST',
      headers: { origin, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' },
      body: new URLSearchParams({ client_id: client.id, ...fields }),
    });
  const redemption = (callback: string, begun: Begun) => ({
    grant_type: 'authorization_code',
    code: new URL(callback).searchParams.get('code') ?? '',
    redirect_uri: client.redirectUri,
    code_verifier: begun.verifier,
  });
  const userInfo = (origin: string, accessToken: string) =>
    sendRequest(`${foyer.url}/oauth2/userInfo`, { headers: { origin, authorization: `Bearer ${accessToken}` } });

  it('A page of a public client redeems and refreshes tokens, reads userinfo and revokes', async () => {
    const begun = await client.begin();
    const redeemed = await call('/oauth2/token', own, redemption(await signInFor(foyer.browser(), begun, user), begun));
    expect([redeemed.status, readableBy(redeemed, own)]).toEqual([200, true]);
    const tokens = (await redeemed.json()) as { access_token: string; refresh_token: string };
    const refreshed = await call('/oauth2/token', own, {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
    });
    expect([refreshed.status, readableBy(refreshed, own)]).toEqual([200, true]);
    const info = await userInfo(own, tokens.access_token);
    expect([info.status, readableBy(info, own)]).toEqual([200, true]);
    const revoked = await call('/oauth2/revoke', own, { token: tokens.access_token });
    expect([revoked.status, readableBy(revoked, own)]).toEqual([200, true]);
    for (const answer of [redeemed, refreshed, info, revoked]) {
      // A script that sends credentials may read the answer, too: keycloak-js does.
      expect(answer.headers.get('access-control-allow-credentials')).toBe('true');
      expect(answer.headers.get('vary')).toMatch(/Origin/);
    }
  });

  it.each([foreign, 'null', 'http://127.0.0.1:10', 'https://127.0.0.1:9', 'http://127.0.0.1:9.evil.example'])(
    'A page at %s gets no tokens, and the code stays valid',
    async (origin) => {
      const begun = await client.begin();
      const fields = redemption(await signInFor(foyer.browser(), begun, user), begun);
      const stolen = await call('/oauth2/token', origin, fields);
      expect([stolen.status, readableBy(stolen, origin)]).toEqual([400, false]);
      expect(stolen.headers.get('access-control-allow-credentials')).toBeNull();
      expect(await stolen.json()).toMatchObject({ error: 'invalid_request' });
      expect((await call('/oauth2/token', own, fields)).status).toBe(200);
    },
  );

  it('A page of another origin cannot read userinfo, even with a token', async () => {
    const tokens = await tokensFor(client, foyer.browser(), user);
    const answer = await userInfo(foreign, tokens.access_token);
    expect([answer.status, readableBy(answer, foreign)]).toEqual([400, false]);
    expect(await answer.text()).not.toContain(user.email);
  });

  it('A page with the origin null does not count as the page of an app without a web origin', async () => {
    const registered = await foyer.addClient({ native: true, redirectUris: ['com.example.cors:/callback'] });
    const native = await relyingParty(foyer, registered);
    const tokens = await tokensFor(native, foyer.browser(), user);
    expect((await userInfo('null', tokens.access_token)).status).toBe(400);
  });

  it('A call with an Origin for a confidential client is answered without CORS headers, so no page reads it', async () => {
    const registered = await foyer.addClient({ redirectUris: [`${own}/confidential`] });
    const confidential = await relyingParty(foyer, registered);
    const tokens = await tokensFor(confidential, foyer.browser(), user);
    const answer = await userInfo(own, tokens.access_token);
    expect([answer.status, readableBy(answer, own)]).toEqual([200, false]);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    const fields = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' };
    for (const origin of [own, foreign, 'null']) {
      const refreshed = await call('/oauth2/token', origin, {
        ...fields,
        client_id: registered.id,
        client_secret: registered.secret ?? '',
      });
      expect([refreshed.status, refreshed.headers.get('access-control-allow-origin')]).toEqual([200, null]);
    }
  });

  it.each(
    ['token', 'userInfo', 'revoke', 'introspect', 'par', 'device_authorization'].map((name) => `/oauth2/${name}`),
  )('The preflight request is answered at %s', async (path) => {
    const answer = await sendRequest(foyer.url + path, {
      method: 'OPTIONS',
      headers: {
        origin: own,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    });
    expect([answer.status, readableBy(answer, own)]).toEqual([204, true]);
    expect(answer.headers.get('access-control-allow-methods')).toContain('POST');
    expect(answer.headers.get('access-control-allow-headers')).toBe('authorization');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('Attack: an error before the client is known, or of another client, allows no credentials', async () => {
    const other = await foyer.addClient({ public: true, redirectUris: ['https://other.example/callback'] });
    const confidential = await foyer.addClient({ redirectUris: [`${own}/confidential`] });
    const refused: Record<string, string>[] = [
      { client_id: 'unknown', grant_type: 'refresh_token' },
      { client_id: other.id, grant_type: 'refresh_token', refresh_token: 'x' },
      { client_id: confidential.id, client_secret: 'wrong', grant_type: 'client_credentials' },
    ];
    for (const fields of refused) {
      const answer = await call('/oauth2/token', own, fields);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  it('Attack: the cookies of a signed-in user change no answer of an endpoint that allows credentials', async () => {
    const browser = await foyer.signedIn(user);
    const { access_token: token } = await tokensFor(client, foyer.browser(), await foyer.addUser());
    const cookies = (await browser.cookies()) as Record<string, string>;
    const cookie = Object.entries(cookies)
      .map((pair) => pair.join('='))
      .join('; ');
    const ask = (headers: Record<string, string>) =>
      sendRequest(`${foyer.url}/oauth2/userInfo`, { headers: { origin: own, ...headers } });
    const bare = await ask({ cookie });
    expect([bare.status, bare.headers.get('set-cookie')]).toEqual([401, null]);
    const [without, withCookie] = [
      await ask({ authorization: `Bearer ${token}` }),
      await ask({ authorization: `Bearer ${token}`, cookie }),
    ];
    expect(await withCookie.json()).toEqual(await without.json());
    expect(withCookie.headers.get('set-cookie')).toBeNull();
  });

  it.each([
    '/',
    '/verify-user',
    '/storage',
    '/consent',
    '/logout',
    '/oauth2/authorize',
    '/oauth2/device',
    '/oauth2/logout',
  ])('%s, which a cookie authenticates, is not readable by another origin', async (path) => {
    const answer = await (await foyer.signedIn(user)).get(path, { from: 'cross-site', headers: { origin: own } });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });
});
