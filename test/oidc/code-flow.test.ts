import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { type Begun, type RelyingParty, relyingParty, signInFor, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

const hourSeconds = 60 * 60;

describe.each(backends)('code with PKCE on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const verify = (idToken: string | undefined, audience: string) =>
    jwtVerify(idToken ?? '', createRemoteJWKSet(new URL('/oauth2/jwks', foyer.url)), { issuer: foyer.url, audience });

  describe.each([
    { kind: 'a confidential client', registration: {}, alg: 'RS256' },
    { kind: 'a public client', registration: { public: true }, alg: 'ES256' },
  ])('$kind', ({ registration, alg }) => {
    it('A code sign-in gives tokens that name the user at userinfo and after a refresh', async () => {
      const user = await foyer.addUser({ givenName: 'Ada', familyName: 'Lovelace' });
      const client = await relyingParty(foyer, await foyer.addClient(registration));
      const tokens = await tokensFor(client, foyer.browser(), user);
      expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: hourSeconds });
      expect(tokens.scope?.split(' ').toSorted()).toEqual(['email', 'openid', 'phone', 'profile']);
      const info = await oidc.fetchUserInfo(client.config, tokens.access_token, user.id);
      expect(info).toMatchObject({ sub: user.id, email: user.email, email_verified: true, name: 'Ada Lovelace' });
      const refreshed = await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '');
      expect(refreshed.claims()?.sub).toBe(user.id);
    });

    it('An id token verifies against the published keys and has the right nonce, audience and times', async () => {
      const user = await foyer.addUser();
      const client = await relyingParty(foyer, await foyer.addClient(registration));
      const begun = await client.begin();
      const tokens = await client.redeem(await signInFor(foyer.browser(), begun, user), begun);
      const { payload, protectedHeader } = await verify(tokens.id_token, client.id);
      const nowSeconds = Date.now() / 1000;
      expect(protectedHeader.alg).toBe(alg);
      expect(payload).toMatchObject({
        iss: foyer.url,
        aud: client.id,
        sub: user.id,
        nonce: begun.nonce,
        amr: ['pwd'],
      });
      // The claims of the scopes are at the userinfo endpoint (OpenID Connect Core 1.0, section 5.4).
      expect(payload).not.toHaveProperty('email');
      expect(Math.abs((payload.iat ?? 0) - nowSeconds)).toBeLessThan(5);
      expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(hourSeconds);
    });

    it('A code is not redeemed with another PKCE verifier', async () => {
      const client = await relyingParty(foyer, await foyer.addClient(registration));
      const begun = await client.begin();
      const callback = await signInFor(foyer.browser(), begun, await foyer.addUser());
      const guessed = { ...begun, verifier: oidc.randomPKCECodeVerifier() };
      await expect(client.redeem(callback, guessed)).rejects.toMatchObject({ status: 400, error: 'invalid_grant' });
    });
  });

  it('auth_time is the time of the sign-in, not of the client’s request', async () => {
    const user = await foyer.addUser();
    const client = await relyingParty(foyer, await foyer.addClient());
    foyer.passTime(-600_000);
    const browser = await foyer.signedIn(user);
    const signedInSeconds = foyer.deps.now() / 1000;
    foyer.passTime(600_000);
    const silent = await tokensFor(client, browser, user);
    const authTime = Number(silent.claims()?.auth_time);
    expect(Math.abs(authTime - signedInSeconds)).toBeLessThan(5);
    expect(Math.abs(Number(silent.claims()?.iat) - signedInSeconds)).toBeGreaterThan(590);
    const refreshed = await oidc.refreshTokenGrant(client.config, silent.refresh_token ?? '');
    expect(refreshed.claims()?.auth_time).toBe(authTime);
  });

  it.each([
    ['registered with RS256', { idTokenAlg: 'RS256' }, 'RS256'],
    ['registered with ES256', { idTokenAlg: 'ES256' }, 'ES256'],
    ['confidential', {}, 'RS256'],
    ['public', { public: true }, 'ES256'],
  ])('A client that is %s gets id tokens signed with its algorithm', async (_what, registration, alg) => {
    const user = await foyer.addUser();
    const client = await relyingParty(foyer, await foyer.addClient(registration));
    const tokens = await tokensFor(client, foyer.browser(), user);
    const { protectedHeader, payload } = await verify(tokens.id_token, client.id);
    expect(protectedHeader.alg).toBe(alg);
    expect(payload.sub).toBe(user.id);
    const refreshed = await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '');
    expect(decodeProtectedHeader(refreshed.id_token ?? '').alg).toBe(alg);
  });

  describe('the token endpoint', () => {
    let client: RelyingParty;
    let other: RelyingParty;
    let secret: string;
    let begun: Begun;
    let callback: string;
    beforeEach(async () => {
      const registered = await foyer.addClient();
      secret = registered.secret ?? '';
      client = await relyingParty(foyer, registered);
      other = await relyingParty(foyer, await foyer.addClient());
      begun = await client.begin();
      callback = await signInFor(foyer.browser(), begun, await foyer.addUser());
    });

    const redeemRaw = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
      sendRequest(`${foyer.url}/oauth2/token`, {
        method: 'POST',
        headers,
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          code: new URL(callback).searchParams.get('code') ?? '',
          redirect_uri: client.redirectUri,
          code_verifier: begun.verifier,
          ...fields,
        }),
      });
    const basic = (id: string, password: string) => ({ authorization: `Basic ${btoa(`${id}:${password}`)}` });

    it('The token endpoint accepts the client secret in the body', async () => {
      const answer = await redeemRaw({ client_id: client.id, client_secret: secret });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    });

    it('A wrong secret gets 401, and the code stays valid for its client', async () => {
      const wrong = await redeemRaw({}, basic(client.id, `${secret}x`));
      expect(wrong.status).toBe(401);
      expect(wrong.headers.get('www-authenticate')).toMatch(/^Basic /);
      expect(await wrong.json()).toMatchObject({ error: 'invalid_client' });
      expect((await client.redeem(callback, begun)).access_token).toBeTruthy();
    });

    it('The stored hash of the secret is refused as a secret', async () => {
      const row = await foyer.stores.database.db
        .selectFrom('clients')
        .select('secretHash')
        .where('id', '=', toClientId(client.id))
        .executeTakeFirstOrThrow();
      expect((await redeemRaw({}, basic(client.id, row.secretHash ?? ''))).status).toBe(401);
    });

    it('A confidential client without a secret is refused with invalid_client', async () => {
      const answer = await redeemRaw({ client_id: client.id });
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({ error: 'invalid_client' });
    });

    it('A code of another client is refused with invalid_grant', async () => {
      await expect(other.redeem(callback, begun)).rejects.toMatchObject({ error: 'invalid_grant' });
    });

    it('A redirect address other than the one of the code is refused with invalid_grant', async () => {
      const answer = await redeemRaw({ redirect_uri: other.redirectUri }, basic(client.id, secret));
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: 'invalid_grant' });
    });

    it('A client without the client_credentials grant gets no token of its own', async () => {
      const answer = await redeemRaw({ grant_type: 'client_credentials' }, basic(client.id, secret));
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: 'invalid_request' });
    });

    it.each(['password', 'urn:openid:params:grant-type:ciba'])(
      'The grant type %s is refused with unsupported_grant_type',
      async (grantType) => {
        const answer = await redeemRaw({ grant_type: grantType }, basic(client.id, secret));
        expect(answer.status).toBe(400);
        expect(await answer.json()).toMatchObject({ error: 'unsupported_grant_type' });
      },
    );
  });
});
