import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { deleteResourceServer, findClient, insertResourceServer, updateClient } from '../../server/oidc/index.ts';
import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
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

  /** Redeems a code for a resource, as openid-client does it with a parameter more. */
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

  it('are JWTs of five minutes that the resource server checks by itself (RFC 9068)', async () => {
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
      // When and how the member signed in (RFC 9068, section 2.2.1; RFC 9470, section 6.1).
      acr: 'aal1',
      amr: ['pwd'],
      auth_time: expect.any(Number),
    });
    expect(payload.auth_time).toBeGreaterThanOrEqual(begunAt);
    expect(payload.auth_time).toBeLessThanOrEqual(payload.iat ?? 0);
  });

  it('are signed with RS256 for a resource server that is registered so (RFC 9068, section 2.1)', async () => {
    const identifier = 'https://older.example.com/';
    await insertResourceServer(foyer.deps.database.db, { identifier, scopes: ['old:read'], alg: 'RS256' }, 1);
    const party = await app('openid old:read', { resources: [identifier] });
    const { user, tokens } = await tokensAt(party, foyer.browser(), { resource: identifier }, { resource: identifier });
    const checks = { issuer: foyer.url, audience: identifier, typ: 'at+jwt', algorithms: ['RS256'] };
    expect((await jwtVerify(tokens.access_token, keys(), checks)).payload.sub).toBe(user.id);
  });

  it('the same code gives an opaque one when no resource is named with it', async () => {
    const { user, tokens } = await tokensAt(await app(), foyer.browser(), { resource: orders }, {});
    expect(tokens.access_token).not.toContain('.');
    const info = await sendRequest(`${foyer.url}/oauth2/userInfo`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(await info.json()).toMatchObject({ sub: user.id });
  });

  it('refreshing gives either kind, and never more than the sign-in', async () => {
    const party = await app();
    const { tokens } = await tokensAt(party);
    const again = await oidc.refreshTokenGrant(party.config, tokens.refresh_token ?? '', { resource: orders });
    expect(scopesOf(again.access_token)).toEqual(['orders:read']);
    await expect(
      oidc.refreshTokenGrant(party.config, again.refresh_token ?? '', { resource: orders, scope: 'orders:write' }),
    ).rejects.toMatchObject({ error: 'invalid_scope' });
  });

  it('a service gets one for itself', async () => {
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

  it('a later request adds to the grant, and each token holds what its own request asked for', async () => {
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

  describe('attack: more than was registered', () => {
    it.each([
      ['a resource that the client never registered', { resource: payroll }],
      ['one that nobody registered', { resource: 'https://unknown.example/' }],
      ['one that is registered for the client and not there', { resource: gone }],
      ['the same one written otherwise', { resource: 'https://orders.example.com' }],
      ['the same one in capitals', { resource: 'https://ORDERS.example.com/' }],
      ['one with a fragment', { resource: `${orders}#x` }],
      ['no address at all', { resource: 'orders' }],
    ])('at the sign-in: %s', async (_what, parameters) => {
      const party = await app(scope, { resources: [orders, gone] });
      const browser = await foyer.signedIn(await foyer.addUser());
      const begun = await party.begin(parameters);
      const home = new URL(locationOf(await browser.get(begun.url)));
      expect([home.searchParams.get('code'), home.searchParams.get('error')]).toEqual([null, 'invalid_target']);
    });

    it('a second resource in one request, smuggled in beside an allowed one', async () => {
      const party = await app();
      const browser = await foyer.signedIn(await foyer.addUser());
      const url = new URL((await party.begin({ resource: orders })).url);
      url.searchParams.append('resource', payroll);
      const home = new URL(locationOf(await browser.get(url.href)));
      expect([home.searchParams.get('code'), home.searchParams.get('error')]).toEqual([null, 'invalid_target']);
    });

    it('a scope of a resource that the client never registered, asked for beside an allowed one', async () => {
      const { tokens } = await tokensAt(await app('openid orders:read payroll:read'));
      expect(scopesOf(tokens.access_token)).toEqual(['orders:read']);
      expect(tokens.scope).toBe('orders:read');
    });

    it('a scope of an allowed resource that was not asked for', async () => {
      const { tokens } = await tokensAt(await app('openid orders:read'));
      expect(scopesOf(tokens.access_token)).toEqual(['orders:read']);
    });

    it('Foyer’s own scopes are none of a resource’s', async () => {
      const { tokens } = await tokensAt(await app('openid email orders:read'));
      expect(scopesOf(tokens.access_token)).toEqual(['orders:read']);
    });

    it('another resource at the token endpoint than at the sign-in', async () => {
      const party = await app(scope, { resources: [orders, payroll] });
      await expect(tokensAt(party, foyer.browser(), { resource: orders }, { resource: payroll })).rejects.toMatchObject(
        { error: 'invalid_target' },
      );
    });

    it('a resource at the token endpoint that no sign-in asked for', async () => {
      await expect(tokensAt(await app(), foyer.browser(), {}, { resource: orders })).rejects.toMatchObject({
        error: 'invalid_target',
      });
    });

    it('by client credentials: a resource of another client, a member’s scope, one of Foyer’s', async () => {
      const { id, secret } = await client({ service: true, redirectUris: [], scopes: [] });
      const { config } = await relyingParty(foyer, { id, secret, redirectUri: '' });
      await expect(oidc.clientCredentialsGrant(config, { resource: payroll })).rejects.toMatchObject({
        error: 'invalid_target',
      });
      // Its registration names no scope at all, which the library takes for "anything".
      for (const foreign of ['users:read', 'openid', 'account']) {
        await expect(oidc.clientCredentialsGrant(config, { scope: foreign })).rejects.toMatchObject({
          error: 'invalid_scope',
        });
      }
      const mixed = await oidc.clientCredentialsGrant(config, { resource: orders, scope: 'orders:read users:write' });
      expect(scopesOf(mixed.access_token)).toEqual(['orders:read']);
    });

    it('what was taken away since: the next refresh refuses', async () => {
      const party = await app();
      const { tokens } = await tokensAt(party);
      const { db } = foyer.deps.database;
      const known = await findClient(db, party.id);
      if (!known) throw new Error('no such client');
      await updateClient(db, { ...known, resources: [] }, {}, 2);
      await expect(
        oidc.refreshTokenGrant(party.config, tokens.refresh_token ?? '', { resource: orders }),
      ).rejects.toMatchObject({ error: 'invalid_target' });
    });

    it('of a resource server that is removed', async () => {
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

  it('a third party’s are named to the member, and given only by their word', async () => {
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

  it('a third party that was allowed without the resource asks again for it', async () => {
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

  describe('a JWT opens nothing of Foyer’s own', () => {
    let token: string;
    let party: RelyingParty;
    beforeAll(async () => {
      party = await app('openid email account orders:read', { scopes: ['openid', 'email', 'account'] });
      token = (await tokensAt(party)).tokens.access_token;
      expect(decodeProtectedHeader(token).typ).toBe('at+jwt');
    });

    it.each(['/oauth2/userInfo', '/user/info', '/clients'])('%s refuses it', async (path) => {
      const answer = await sendRequest(foyer.url + path, { headers: { authorization: `Bearer ${token}` } });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
    });

    it('introspection says that it is not active, revocation that it cannot revoke it', async () => {
      expect(await oidc.tokenIntrospection(party.config, token)).toEqual({ active: false });
      await expect(oidc.tokenRevocation(party.config, token)).rejects.toMatchObject({ status: 400 });
    });

    it('it outlives a sign-out, which is why it is short: the refresh token beside it does not', async () => {
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
