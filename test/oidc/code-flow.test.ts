import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
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
    { kind: 'a confidential client', registration: {} },
    { kind: 'a public client', registration: { public: true } },
  ])('$kind', ({ registration }) => {
    it('brings a member back with tokens that say who it is', async () => {
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

    it('gets an id token that holds against the published keys, nonce, audience and clock', async () => {
      const user = await foyer.addUser();
      const client = await relyingParty(foyer, await foyer.addClient(registration));
      const begun = await client.begin();
      const tokens = await client.redeem(await signInFor(foyer.browser(), begun, user), begun);
      const { payload, protectedHeader } = await verify(tokens.id_token, client.id);
      const nowSeconds = Date.now() / 1000;
      expect(protectedHeader.alg).toBe('ES256');
      expect(payload).toMatchObject({
        ...{ iss: foyer.url, aud: client.id, sub: user.id, nonce: begun.nonce, amr: ['pwd'] },
        ...{ email: user.email, email_verified: true },
      });
      expect(Math.abs((payload.iat ?? 0) - nowSeconds)).toBeLessThan(5);
      expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(hourSeconds);
    });

    it('cannot redeem the code with another verifier', async () => {
      const client = await relyingParty(foyer, await foyer.addClient(registration));
      const begun = await client.begin();
      const callback = await signInFor(foyer.browser(), begun, await foyer.addUser());
      const guessed = { ...begun, verifier: oidc.randomPKCECodeVerifier() };
      await expect(client.redeem(callback, guessed)).rejects.toMatchObject({ status: 400, error: 'invalid_grant' });
    });
  });

  it('says in auth_time when the member signed in, not when the client asked', async () => {
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

  it('signs with RS256 for a client that is registered so', async () => {
    const user = await foyer.addUser();
    const client = await relyingParty(foyer, await foyer.addClient({ idTokenAlg: 'RS256' }));
    const tokens = await tokensFor(client, foyer.browser(), user);
    const { protectedHeader, payload } = await verify(tokens.id_token, client.id);
    expect(protectedHeader.alg).toBe('RS256');
    expect(payload.sub).toBe(user.id);
    const refreshed = await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '');
    expect(decodeProtectedHeader(refreshed.id_token ?? '').alg).toBe('RS256');
  });

  describe('at the token endpoint', () => {
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

    it('takes the secret in the body too', async () => {
      const answer = await redeemRaw({ client_id: client.id, client_secret: secret });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    });

    it('refuses a wrong secret with 401, and the code is still good for the client itself', async () => {
      const wrong = await redeemRaw({}, basic(client.id, `${secret}x`));
      expect(wrong.status).toBe(401);
      expect(wrong.headers.get('www-authenticate')).toMatch(/^Basic /);
      expect(await wrong.json()).toMatchObject({ error: 'invalid_client' });
      expect((await client.redeem(callback, begun)).access_token).toBeTruthy();
    });

    it('refuses the stored hash in place of the secret', async () => {
      const row = await foyer.stores.database.db
        .selectFrom('clients')
        .select('secret_hash')
        .where('id', '=', client.id)
        .executeTakeFirstOrThrow();
      expect((await redeemRaw({}, basic(client.id, row.secret_hash ?? ''))).status).toBe(401);
    });

    it('refuses a confidential client that shows no secret', async () => {
      const answer = await redeemRaw({ client_id: client.id });
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({ error: 'invalid_client' });
    });

    it("refuses another client's code", async () => {
      await expect(other.redeem(callback, begun)).rejects.toMatchObject({ error: 'invalid_grant' });
    });

    it('refuses another redirect address than the one that the code was sent to', async () => {
      const answer = await redeemRaw({ redirect_uri: other.redirectUri }, basic(client.id, secret));
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: 'invalid_grant' });
    });

    it('gives a client nothing of its own that is not registered for it', async () => {
      const answer = await redeemRaw({ grant_type: 'client_credentials' }, basic(client.id, secret));
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: 'invalid_request' });
    });

    it.each(['password', 'urn:openid:params:grant-type:ciba'])('does not know the grant type %s', async (grantType) => {
      const answer = await redeemRaw({ grant_type: grantType }, basic(client.id, secret));
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: 'unsupported_grant_type' });
    });
  });
});
