import { calculateJwkThumbprint, exportJWK } from 'jose';
import * as oauth from 'oauth4webapi';
import * as oidc from 'openid-client';
import { insertResourceServer } from '../../server/oidc/index.ts';
import { relyingParty, signInFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { discover, insecure } from './oauth4webapi.ts';
import { setUpUser } from './user-and-client.ts';

describe.each(backends)('DPoP on $name', (backend) => {
  const context = setUpUser(backend);

  describe.each([
    { kind: 'a confidential client', registration: {} },
    { kind: 'a public client', registration: { public: true } },
    { kind: 'a client that is registered for bound tokens alone', registration: { dpopBound: true } },
  ])('$kind', ({ registration }) => {
    it('DPoP-bound tokens are issued, refreshed and accepted at userinfo and the JSON API', async () => {
      const registered = await context.foyer.addClient({ ...registration, scopes: ['openid', 'email', 'account'] });
      const client = await relyingParty(context.foyer, registered, 'openid email account');
      const keyPair = await oidc.randomDPoPKeyPair('ES256');
      const DPoP = oidc.getDPoPHandle(client.config, keyPair);
      const begun = await client.begin();
      const callback = new URL(await signInFor(context.foyer.browser(), begun, context.user));
      const checks = { pkceCodeVerifier: begun.verifier, expectedState: begun.state, expectedNonce: begun.nonce };
      const tokens = await oidc.authorizationCodeGrant(client.config, callback, checks, undefined, { DPoP });
      expect(tokens.token_type).toBe('dpop');
      expect(await oidc.fetchUserInfo(client.config, tokens.access_token, context.user.id, { DPoP })).toMatchObject({
        email: context.user.email,
      });
      const api = new URL('/user/info', context.foyer.url);
      const called = await oidc.fetchProtectedResource(
        ...([client.config, tokens.access_token, api, 'GET', undefined, undefined, { DPoP }] as const),
      );
      expect([called.status, await called.json()]).toEqual([200, expect.objectContaining({ sub: context.user.id })]);
      const refreshed = await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '', undefined, { DPoP });
      expect(refreshed.token_type).toBe('dpop');
      const jkt = await calculateJwkThumbprint(await exportJWK(keyPair.publicKey));
      expect(await oidc.tokenIntrospection(client.config, refreshed.access_token)).toMatchObject({
        active: true,
        token_type: 'DPoP',
        cnf: { jkt },
      });
    });
  });

  it('A client credentials token is bound to its key and refused as a bearer token', async () => {
    const registered = await context.foyer.addClient({ service: true, redirectUris: [], scopes: ['clients:read'] });
    const { config } = await relyingParty(context.foyer, registered);
    const DPoP = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair('ES256'));
    const { access_token: token } = await oidc.clientCredentialsGrant(config, { scope: 'clients:read' }, { DPoP });
    const api = new URL('/clients', context.foyer.url);
    const called = await oidc.fetchProtectedResource(config, token, api, 'GET', undefined, undefined, { DPoP });
    expect(called.status).toBe(200);
    const bearer = await sendRequest(api, { headers: { authorization: `Bearer ${token}` } });
    expect([bearer.status, bearer.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^DPoP .*error="invalid_token".*algs="ES256"$/),
    ]);
  });

  it('A JWT for a resource server names the key in cnf, and oauth4webapi verifies it there', async () => {
    const identifier = 'https://orders.example/';
    await insertResourceServer(context.foyer.deps.database.db, { identifier, scopes: ['orders:read'] }, 1);
    const scopes = ['clients:read'];
    const client = await context.foyer.addClient({ service: true, redirectUris: [], scopes, resources: [identifier] });
    const { config } = await relyingParty(context.foyer, client);
    const keys = await oidc.randomDPoPKeyPair('ES256');
    const DPoP = oidc.getDPoPHandle(config, keys);
    const asked = { scope: 'orders:read', resource: identifier };
    const { access_token: token } = await oidc.clientCredentialsGrant(config, asked, { DPoP });
    const as = await discover(context.foyer.url);
    const proofs = oauth.DPoP({}, keys);
    let request: Request | undefined;
    await oauth.protectedResourceRequest(token, 'GET', new URL('http://127.0.0.1:9/orders'), undefined, undefined, {
      DPoP: proofs,
      ...insecure,
      [oauth.customFetch]: async (url: string, { method, headers }: { method: string; headers: HeadersInit }) => {
        request = new Request(url, { method, headers });
        return new Response('{}');
      },
    });
    const claims = await oauth.validateJwtAccessToken(as, request as Request, identifier, insecure);
    expect(claims.cnf?.jkt).toBe(await calculateJwkThumbprint(await exportJWK(keys.publicKey)));
  });

  it('With oauth4webapi a code is bound to the key by dpop_jkt, and the nonce comes with the first refusal', async () => {
    const registered = await context.foyer.addClient({ public: true });
    const as = await discover(context.foyer.url);
    const client = { client_id: registered.id };
    const keys = await oauth.generateKeyPair('ES256');
    const DPoP = oauth.DPoP({}, keys);
    const party = await relyingParty(context.foyer, registered);
    const begun = await party.begin({ dpop_jkt: await DPoP.calculateThumbprint() });
    const callback = new URL(await signInFor(context.foyer.browser(), begun, context.user));
    const parameters = oauth.validateAuthResponse(as, client, callback, begun.state);
    const redeem = () =>
      oauth.authorizationCodeGrantRequest(
        ...([as, client, oauth.None(), parameters, registered.redirectUri, begun.verifier] as const),
        { DPoP, ...insecure },
      );
    const process = async () =>
      oauth.processAuthorizationCodeResponse(as, client, await redeem(), { expectedNonce: begun.nonce });
    const first = await process().catch((error: unknown) => error);
    expect(oauth.isDPoPNonceError(first)).toBe(true);
    const tokens = await process();
    expect(tokens.token_type).toBe('dpop');
    const answer = await oauth.userInfoRequest(as, client, tokens.access_token, { DPoP, ...insecure });
    expect((await oauth.processUserInfoResponse(as, client, context.user.id, answer)).sub).toBe(context.user.id);
  });

  it('A script of a public client’s page may send a proof and read the nonce', async () => {
    const client = await context.foyer.addClient({ public: true });
    const origin = new URL(client.redirectUri).origin;
    const answer = await sendRequest(`${context.foyer.url}/oauth2/token`, {
      method: 'POST',
      headers: { origin },
      body: new URLSearchParams({ client_id: client.id, grant_type: 'refresh_token', refresh_token: 'x' }),
    });
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('access-control-expose-headers')).toContain('DPoP-Nonce');
    const asked = await sendRequest(`${context.foyer.url}/oauth2/token`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'dpop' },
    });
    expect([asked.status, asked.headers.get('access-control-allow-headers')]).toEqual([204, 'dpop']);
  });
});
