import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT } from 'jose';
import * as oidc from 'openid-client';
import { findClient, insertResourceServer, updateClient } from '../../server/oidc/index.ts';
import type { User } from '../../server/users/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { type RelyingParty, relyingParty, type Tokens, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('introspection on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let client: RelyingParty;
  let publicClient: RelyingParty;
  let tokens: Tokens;
  let publicTokens: Tokens;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
    client = await relyingParty(foyer, await foyer.addClient());
    publicClient = await relyingParty(foyer, await foyer.addClient({ public: true }));
    tokens = await tokensFor(client, foyer.browser(), user);
    publicTokens = await tokensFor(publicClient, foyer.browser(), user);
  });
  afterAll(() => foyer?.close());

  it('A client introspects its own access token', async () => {
    const told = await oidc.tokenIntrospection(client.config, tokens.access_token);
    expect(told).toMatchObject({
      active: true,
      client_id: client.id,
      sub: user.id,
      iss: foyer.url,
      token_type: 'Bearer',
      scope: 'openid profile email phone',
    });
    expect((told.exp ?? 0) - (told.iat ?? 0)).toBe(3600);
    expect(told).not.toHaveProperty('email');
  });

  it.each(['refresh_token', 'access_token', 'nonsense'])(
    'A client introspects its own refresh token with the hint %s',
    async (hint) => {
      const told = await oidc.tokenIntrospection(client.config, tokens.refresh_token ?? '', { token_type_hint: hint });
      expect(told).toMatchObject({ active: true, client_id: client.id, sub: user.id });
    },
  );

  it('A public client introspects its own tokens', async () => {
    expect(await oidc.tokenIntrospection(publicClient.config, publicTokens.access_token)).toMatchObject({
      active: true,
      client_id: publicClient.id,
    });
  });

  it('Attack: the tokens of another client are reported as inactive', async () => {
    for (const token of [publicTokens.access_token, publicTokens.refresh_token ?? '']) {
      expect(await oidc.tokenIntrospection(client.config, token)).toEqual({ active: false });
    }
    for (const token of [tokens.access_token, tokens.refresh_token ?? '']) {
      expect(await oidc.tokenIntrospection(publicClient.config, token)).toEqual({ active: false });
    }
  });

  it('An unknown token and an id token are reported as inactive', async () => {
    for (const token of ['unknown', 'ä']) {
      expect(await oidc.tokenIntrospection(client.config, token)).toEqual({ active: false });
    }
    const answer = await sendRequest(`${foyer.url}/oauth2/introspect`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: publicClient.id, token: publicTokens.id_token ?? '' }),
    });
    // RFC 7662, section 2.2. The reader of a signed token verifies it with the published keys.
    expect([answer.status, await answer.json()]).toEqual([200, { active: false }]);
    const unauthenticated = await sendRequest(`${foyer.url}/oauth2/introspect`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: client.id, token: publicTokens.id_token ?? '' }),
    });
    expect(unauthenticated.status).toBe(401);
  });

  it('A confidential client without its secret gets 401', async () => {
    const answer = await sendRequest(`${foyer.url}/oauth2/introspect`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: client.id, token: tokens.access_token }),
    });
    expect(answer.status).toBe(401);
  });

  it('A used refresh token of a public client is inactive, but its access token stays active', async () => {
    // Only refresh tokens of public clients are rotated.
    const open = await relyingParty(foyer, await foyer.addClient({ public: true }));
    const own = await tokensFor(open, foyer.browser(), user);
    await oidc.refreshTokenGrant(open.config, own.refresh_token ?? '');
    expect(await oidc.tokenIntrospection(open.config, own.refresh_token ?? '')).toEqual({ active: false });
    expect((await oidc.tokenIntrospection(open.config, own.access_token)).active).toBe(true);
  });

  describe('a JWT for a resource server', () => {
    const orders = 'https://orders.example.com/';
    let token: string;
    let owner: RelyingParty;
    beforeAll(async () => {
      await insertResourceServer(foyer.deps.database.db, { identifier: orders, scopes: ['orders:read'] }, 1);
      owner = await newOwner();
      token = await jwtFor(owner, user);
    });
    const newOwner = async () =>
      relyingParty(foyer, await foyer.addClient({ resources: [orders] }), 'openid email orders:read');
    const jwtFor = async (by: RelyingParty, member: User) => {
      const { refresh_token: refresh = '' } = await tokensFor(by, foyer.browser(), member, { resource: orders });
      return (await oidc.refreshTokenGrant(by.config, refresh, { resource: orders })).access_token;
    };

    it('A client introspects its own JWT until it expires or the resource is taken away', async () => {
      const by = await newOwner();
      const own = await jwtFor(by, user);
      const told = await oidc.tokenIntrospection(by.config, own);
      expect(told).toEqual({ ...decodeJwt(own), active: true, token_type: 'Bearer' });
      expect(told).toMatchObject({ sub: user.id, client_id: by.id, aud: orders, scope: 'orders:read' });
      foyer.passTime(301_000);
      expect(await oidc.tokenIntrospection(by.config, own)).toEqual({ active: false });
      foyer.passTime(-301_000);
      const { db } = foyer.deps.database;
      const found = await findClient(db, toClientId(by.id));
      if (!found) throw new Error('the client is gone');
      await updateClient(db, { ...found, resources: [] }, { nowMs: 2 });
      expect(await oidc.tokenIntrospection(by.config, own)).toEqual({ active: false });
    });

    it('The JWT of a disabled user is reported as inactive', async () => {
      const member = await foyer.addUser();
      const own = await jwtFor(owner, member);
      expect(await oidc.tokenIntrospection(owner.config, own)).toMatchObject({ active: true });
      await foyer.deps.database.db.updateTable('users').set({ disabledAt: 1 }).where('id', '=', member.id).execute();
      expect(await oidc.tokenIntrospection(owner.config, own)).toEqual({ active: false });
    });

    it('Attack: the JWT of another client, a changed or re-signed one, an id token and “a.b.c” are inactive', async () => {
      const [header = '', , signature = ''] = token.split('.');
      const claims = { ...decodeJwt(token), scope: 'orders:read orders:write' };
      const changed = Buffer.from(JSON.stringify(claims)).toString('base64url');
      const { privateKey } = await generateKeyPair('ES256');
      const protectedHeader = { alg: 'ES256', typ: 'at+jwt', kid: decodeProtectedHeader(token).kid ?? '' };
      const forged = await new SignJWT(claims).setProtectedHeader(protectedHeader).sign(privateKey);
      const unsigned = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
      const { id_token: idToken = '' } = await tokensFor(owner, foyer.browser(), user);
      expect(await oidc.tokenIntrospection(client.config, token)).toEqual({ active: false });
      for (const one of [`${header}.${changed}.${signature}`, forged, `${unsigned}.${changed}.`, idToken, 'a.b.c'])
        expect(await oidc.tokenIntrospection(owner.config, one)).toEqual({ active: false });
      expect(await oidc.tokenIntrospection(owner.config, token)).toMatchObject({ active: true });
    });
  });
});
