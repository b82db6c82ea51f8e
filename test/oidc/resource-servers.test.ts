import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { deleteResourceServer, findClient, insertResourceServer, updateClient } from '../../server/oidc/index.ts';
import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { type RelyingParty, relyingParty, signInFor, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

const orders = 'https://orders.example.com/';
const payroll = 'https://payroll.example.com/api';
const gone = 'https://gone.example.com/';

/** `security.md`, rules 5 and 7. */
describe.each(backends)('access tokens for resource servers on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    const { db } = foyer.deps.database;
    await insertResourceServer(db, { identifier: orders, scopes: ['orders:read', 'orders:write'] }, 1);
    await insertResourceServer(db, { identifier: payroll, scopes: ['payroll:read', 'orders:read'] }, 1);
  });
  afterAll(() => foyer?.close());

  const scope = 'openid email orders:read';
  const client = (more: object = {}) => foyer.addClient({ resources: [orders], ...more });
  const app = async (wanted = scope, more: object = {}) => relyingParty(foyer, await client(more), wanted);
  const keys = () => createRemoteJWKSet(new URL(`${foyer.url}/oauth2/jwks`));

  /** Redeems a code for a resource by openid-client with one more parameter. */
  async function tokensAt(
    party: RelyingParty,
    browser = foyer.browser(),
    asked: Record<string, string> = { resource: orders },
    redeemed: Record<string, string> = { resource: orders },
  ) {
    const user = await foyer.addUser();
    const begun = await party.begin(asked);
    const callback = new URL(await signInFor(browser, begun, user));
    const tokens = await oidc.authorizationCodeGrant(
      party.config,
      callback,
      { pkceCodeVerifier: begun.verifier, expectedState: begun.state, expectedNonce: begun.nonce },
      redeemed,
    );
    return { user, tokens, browser };
  }
  const scopesOf = (token: string) =>
    String(decodeJwt(token).scope ?? '')
      .split(' ')
      .filter(Boolean)
      .toSorted();

  it('An access token is a five-minute JWT that the resource server verifies by itself (RFC 9068)', async () => {
    const party = await app();
    const begunAt = Math.floor(foyer.deps.now() / 1000);
    const { user, tokens } = await tokensAt(party);
    expect(tokens.expires_in).toBe(300);
    const { payload, protectedHeader } = await jwtVerify(tokens.access_token, keys(), {
      issuer: foyer.url,
      audience: orders,
      typ: 'at+jwt',
      algorithms: ['ES256'],
    });
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
    expect(payload).toEqual({
      iss: foyer.url,
      aud: orders,
      sub: user.id,
      client_id: party.id,
      scope: 'orders:read',
      jti: expect.any(String),
      iat: expect.any(Number),
      exp: (payload.iat ?? 0) + 300,
      // The token says when and how the user signed in (RFC 9068, section 2.2.1; RFC 9470, section 6.1).
      acr: 'aal1',
      amr: ['pwd'],
      auth_time: expect.any(Number),
    });
    expect(payload.auth_time).toBeGreaterThanOrEqual(begunAt);
    expect(payload.auth_time).toBeLessThanOrEqual(payload.iat ?? 0);
  });

  it('An access token is signed with RS256 if the resource server is registered so (RFC 9068, section 2.1)', async () => {
    const identifier = 'https://older.example.com/';
    await insertResourceServer(foyer.deps.database.db, { identifier, scopes: ['old:read'], alg: 'RS256' }, 1);
    const party = await app('openid old:read', { resources: [identifier] });
    const { user, tokens } = await tokensAt(party, foyer.browser(), { resource: identifier }, { resource: identifier });
    const checks = { issuer: foyer.url, audience: identifier, typ: 'at+jwt', algorithms: ['RS256'] };
    expect((await jwtVerify(tokens.access_token, keys(), checks)).payload.sub).toBe(user.id);
  });

  it('A code that is redeemed without a resource gives an opaque access token', async () => {
    const { user, tokens } = await tokensAt(await app(), foyer.browser(), { resource: orders }, {});
    expect(tokens.access_token).not.toContain('.');
    const info = await sendRequest(`${foyer.url}/oauth2/userInfo`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(await info.json()).toMatchObject({ sub: user.id });
  });

  it('A refresh for a resource never gives more scopes than the sign-in', async () => {
    const party = await app();
    const { tokens } = await tokensAt(party);
    const again = await oidc.refreshTokenGrant(party.config, tokens.refresh_token ?? '', { resource: orders });
    expect(scopesOf(again.access_token)).toEqual(['orders:read']);
    await expect(
      oidc.refreshTokenGrant(party.config, again.refresh_token ?? '', { resource: orders, scope: 'orders:write' }),
    ).rejects.toMatchObject({ error: 'invalid_scope' });
  });

  it('A service gets a JWT for a resource server by client credentials', async () => {
    const { id, secret } = await client({ service: true, redirectUris: [], scopes: [] });
    const { config } = await relyingParty(foyer, { id, secret, redirectUri: '' });
    const tokens = await oidc.clientCredentialsGrant(config, { resource: orders, scope: 'orders:write payroll:read' });
    expect(decodeJwt(tokens.access_token)).toMatchObject({
      aud: orders,
      sub: id,
      client_id: id,
      scope: 'orders:write',
    });
    expect(tokens.expires_in).toBe(300);
  });

  it('A later request adds to the grant, but each token has only the scopes of its own request', async () => {
    const known = await client();
    const [narrow, other] = [
      await relyingParty(foyer, known, 'openid orders:read'),
      await relyingParty(foyer, known, 'openid orders:write'),
    ];
    const { user, browser, tokens: first } = await tokensAt(narrow);
    const begun = await other.begin({ resource: orders });
    const second = await oidc.authorizationCodeGrant(
      other.config,
      new URL(await signInFor(browser, begun, user)),
      { pkceCodeVerifier: begun.verifier, expectedState: begun.state, expectedNonce: begun.nonce },
      { resource: orders },
    );
    expect([scopesOf(first.access_token), scopesOf(second.access_token)]).toEqual([['orders:read'], ['orders:write']]);
    const again = await oidc.refreshTokenGrant(narrow.config, first.refresh_token ?? '', { resource: orders });
    expect(scopesOf(again.access_token)).toEqual(['orders:read']);
  });

  describe('requests for more than is registered', () => {
    it.each([
      ['a resource that the client never registered', { resource: payroll }],
      ['a resource that no operator registered', { resource: 'https://unknown.example/' }],
      ['a resource of the client that no longer exists', { resource: gone }],
      ['the registered resource without its slash', { resource: 'https://orders.example.com' }],
      ['the registered resource in capitals', { resource: 'https://ORDERS.example.com/' }],
      ['the registered resource with a fragment', { resource: `${orders}#x` }],
      ['a text that is no address', { resource: 'orders' }],
    ])('Attack: an authorization request with %s as the resource gets invalid_target', async (_what, parameters) => {
      const party = await app(scope, { resources: [orders, gone] });
      const browser = await foyer.signedIn(await foyer.addUser());
      const begun = await party.begin(parameters);
      const home = new URL(locationOf(await browser.get(begun.url)));
      expect([home.searchParams.get('code'), home.searchParams.get('error')]).toEqual([null, 'invalid_target']);
    });

    it('Attack: a second resource beside an allowed one gets invalid_target', async () => {
      const party = await app();
      const browser = await foyer.signedIn(await foyer.addUser());
      const url = new URL((await party.begin({ resource: orders })).url);
      url.searchParams.append('resource', payroll);
      const home = new URL(locationOf(await browser.get(url.href)));
      expect([home.searchParams.get('code'), home.searchParams.get('error')]).toEqual([null, 'invalid_target']);
    });

    it('Attack: a scope of an unregistered resource beside an allowed scope is not in the token', async () => {
      const { tokens } = await tokensAt(await app('openid orders:read payroll:read'));
      expect(scopesOf(tokens.access_token)).toEqual(['orders:read']);
      expect(tokens.scope).toBe('orders:read');
    });

    it('Attack: a scope of an allowed resource that was not requested is not in the token', async () => {
      const { tokens } = await tokensAt(await app('openid orders:read'));
      expect(scopesOf(tokens.access_token)).toEqual(['orders:read']);
    });

    it('A token for a resource has none of Foyer’s own scopes', async () => {
      const { tokens } = await tokensAt(await app('openid email orders:read'));
      expect(scopesOf(tokens.access_token)).toEqual(['orders:read']);
    });

    it('Attack: a resource other than that of the sign-in is refused at the token endpoint', async () => {
      const party = await app(scope, { resources: [orders, payroll] });
      await expect(tokensAt(party, foyer.browser(), { resource: orders }, { resource: payroll })).rejects.toMatchObject(
        { error: 'invalid_target' },
      );
    });

    it('Attack: a resource that no sign-in requested is refused at the token endpoint', async () => {
      await expect(tokensAt(await app(), foyer.browser(), {}, { resource: orders })).rejects.toMatchObject({
        error: 'invalid_target',
      });
    });

    it('Attack: client credentials give no other client’s resource, no scope of a user and no scope of Foyer', async () => {
      const { id, secret } = await client({ service: true, redirectUris: [], scopes: [] });
      const { config } = await relyingParty(foyer, { id, secret, redirectUri: '' });
      await expect(oidc.clientCredentialsGrant(config, { resource: payroll })).rejects.toMatchObject({
        error: 'invalid_target',
      });
      // The registration names no scope, which the library would treat as any scope.
      for (const foreign of ['users:read', 'openid', 'account']) {
        await expect(oidc.clientCredentialsGrant(config, { scope: foreign })).rejects.toMatchObject({
          error: 'invalid_scope',
        });
      }
      const mixed = await oidc.clientCredentialsGrant(config, { resource: orders, scope: 'orders:read users:write' });
      expect(scopesOf(mixed.access_token)).toEqual(['orders:read']);
    });

    it('A resource that was removed from the client is refused at the next refresh', async () => {
      const party = await app();
      const { tokens } = await tokensAt(party);
      const { db } = foyer.deps.database;
      const known = await findClient(db, toClientId(party.id));
      if (!known) throw new Error('no such client');
      await updateClient(db, { ...known, resources: [] }, { nowMs: 2 });
      await expect(
        oidc.refreshTokenGrant(party.config, tokens.refresh_token ?? '', { resource: orders }),
      ).rejects.toMatchObject({ error: 'invalid_target' });
    });

    it('A resource server that was removed is refused at the next refresh', async () => {
      const { db } = foyer.deps.database;
      await insertResourceServer(db, { identifier: gone, scopes: ['x:read'] }, 1);
      const party = await app('openid x:read', { resources: [gone] });
      const { tokens } = await tokensAt(party, foyer.browser(), { resource: gone }, { resource: gone });
      await deleteResourceServer(db, gone);
      await expect(
        oidc.refreshTokenGrant(party.config, tokens.refresh_token ?? '', { resource: gone }),
      ).rejects.toMatchObject({ error: 'invalid_target' });
    });
  });

  it('The consent page names a third party’s resource scopes, which are given only with consent', async () => {
    const party = await app(scope, { thirdParty: true });
    const browser = await foyer.signedIn(await foyer.addUser());
    const silent = await party.begin({ resource: orders, prompt: 'none' });
    expect(locationOf(await browser.get(silent.url))).toContain('error=consent_required');
    const asked = await (
      await browser.get(locationOf(await browser.get((await party.begin({ resource: orders })).url)))
    ).text();
    expect(asked).toContain('orders:read (https://orders.example.com/)');
    expect(asked).not.toContain('orders:write');
    const { tokens } = await tokensAt(party);
    expect(scopesOf(tokens.access_token)).toEqual(['orders:read']);
  });

  it('A third party with consent but not for the resource asks for consent again', async () => {
    const known = await client({ thirdParty: true });
    const [plain, more] = [
      await relyingParty(foyer, known, 'openid'),
      await relyingParty(foyer, known, 'openid orders:read'),
    ];
    const [user, browser] = [await foyer.addUser(), foyer.browser()];
    await tokensFor(plain, browser, user);
    const silent = await more.begin({ resource: orders, prompt: 'none' });
    expect(locationOf(await browser.get(silent.url))).toContain('error=consent_required');
  });

  describe('a JWT for a resource server at Foyer itself', () => {
    let token: string;
    let party: RelyingParty;
    beforeAll(async () => {
      party = await app('openid email account orders:read', { scopes: ['openid', 'email', 'account'] });
      token = (await tokensAt(party)).tokens.access_token;
      expect(decodeProtectedHeader(token).typ).toBe('at+jwt');
    });

    it.each(['/oauth2/userInfo', '/user/info', '/clients'])('%s refuses a JWT for a resource server', async (path) => {
      const answer = await sendRequest(foyer.url + path, { headers: { authorization: `Bearer ${token}` } });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
    });

    it('Revocation answers that it cannot revoke the JWT', async () => {
      await expect(oidc.tokenRevocation(party.config, token)).rejects.toMatchObject({ status: 400 });
    });

    it('A JWT stays valid after the sign-out until it expires, but its refresh token ends at once', async () => {
      const browser = foyer.browser();
      const { tokens } = await tokensAt(party, browser);
      await browser.post('/logout');
      await jwtVerify(tokens.access_token, keys(), { issuer: foyer.url, audience: orders });
      await expect(
        oidc.refreshTokenGrant(party.config, tokens.refresh_token ?? '', { resource: orders }),
      ).rejects.toMatchObject({ error: 'invalid_grant' });
    });
  });
});
