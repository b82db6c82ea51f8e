import * as oauth from 'oauth4webapi';
import * as oidc from 'openid-client';
import { type ClientRequest, clientMetadata, InvalidClientRequest } from '../../server/oidc/index.ts';
import { cliOf } from '../support/cli.ts';
import { signInFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { fapi2Client } from './fapi2-client.ts';
import { clientKey, keyClient, parametersOf } from './key-client.ts';
import { discover, insecure } from './oauth4webapi.ts';
import { setUpUser } from './user-and-client.ts';

describe.each(backends)('the FAPI 2.0 Security Profile on $name', (backend) => {
  const context = setUpUser(backend);
  const profile = { profile: 'fapi2', redirectUris: ['https://client.example/callback'] };

  it('openid-client signs a user in with PAR, private_key_jwt, DPoP and PKCE, and refreshes without rotation', async () => {
    const { client } = await keyClient(context.foyer, profile);
    const DPoP = oidc.getDPoPHandle(client.config, await oidc.randomDPoPKeyPair('ES256'));
    const begun = await client.begin();
    const url = await oidc.buildAuthorizationUrlWithPAR(client.config, parametersOf(begun.url), { DPoP });
    const callback = new URL(await signInFor(context.foyer.browser(), { url: url.href }, context.user));
    expect(callback.searchParams.get('iss')).toBe(context.foyer.url);
    const checks = { pkceCodeVerifier: begun.verifier, expectedState: begun.state, expectedNonce: begun.nonce };
    const tokens = await oidc.authorizationCodeGrant(client.config, callback, checks, undefined, { DPoP });
    expect(tokens.token_type).toBe('dpop');
    const person = await oidc.fetchUserInfo(client.config, tokens.access_token, context.user.id, { DPoP });
    expect(person).toMatchObject({ email: context.user.email });
    const again = await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '', undefined, { DPoP });
    expect(again.refresh_token).toBe(tokens.refresh_token);
  });

  it('The library oauth4webapi does the whole flow with the profile', async () => {
    const { client: registered, key } = await keyClient(context.foyer, { ...profile, id: 'whole-flow' });
    const as = await discover(context.foyer.url);
    const client: oauth.Client = { client_id: registered.id };
    const authentication = oauth.PrivateKeyJwt(key);
    const DPoP = oauth.DPoP(client, await oauth.generateKeyPair('ES256'));
    const options = { ...insecure, DPoP };
    const begun = await registered.begin();
    const push = () => oauth.pushedAuthorizationRequest(as, client, authentication, parametersOf(begun.url), options);
    const first = await push();
    const processed = await oauth
      .processPushedAuthorizationResponse(as, client, first)
      .catch(async (error: unknown) => {
        if (!oauth.isDPoPNonceError(error)) throw error;
        return oauth.processPushedAuthorizationResponse(as, client, await push());
      });
    const url = new URL(as.authorization_endpoint ?? '');
    url.search = String(new URLSearchParams({ client_id: registered.id, request_uri: processed.request_uri }));
    const callback = new URL(await signInFor(context.foyer.browser(), { url: url.href }, context.user));
    const parameters = oauth.validateAuthResponse(as, client, callback, begun.state);
    const answer = await oauth.authorizationCodeGrantRequest(
      ...([as, client, authentication, parameters, registered.redirectUri, begun.verifier, options] as const),
    );
    const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer, { expectedNonce: begun.nonce });
    expect(oauth.getValidatedIdTokenClaims(tokens)?.sub).toBe(context.user.id);
  });

  it.each([
    ['the device flow', '/oauth2/device_authorization', { scope: 'openid' }],
    ['client credentials', '/oauth2/token', { grant_type: 'client_credentials', scope: 'users:read' }],
    ['a password', '/oauth2/token', { grant_type: 'password', username: 'a', password: 'b' }],
    [
      'a device code',
      '/oauth2/token',
      { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: 'x' },
    ],
  ])('A client of the profile gets no tokens by %s', async (_what, path, fields) => {
    const app = await fapi2Client(context.foyer);
    const { status, body } = await app.call(path, fields);
    expect(status).toBe(400);
    expect(['invalid_request', 'unauthorized_client', 'unsupported_grant_type']).toContain(body.error);
  });

  it('A signed request of the profile needs nbf, and an algorithm of the profile', async () => {
    const app = await fapi2Client(context.foyer);
    const { parameters } = await app.parameters();
    const pushed = async (claims: Record<string, unknown>) =>
      (await app.push({ request: await app.sign({ ...parameters, ...claims }) })).body;
    expect(await pushed({})).toHaveProperty('request_uri');
    expect((await pushed({ nbf: undefined })).error).toBe('invalid_request_object');
    const rsa = await clientKey('RS256', 'rs');
    const request = await app.sign(parameters, { alg: 'RS256', kid: 'rs' }, rsa.key);
    expect((await app.push({ request })).body.error).toBe('invalid_request_object');
  });

  it('The command foyer client add --profile fapi2 registers all that the profile demands, and an update keeps it', async () => {
    const { jwk } = await clientKey();
    await context.foyer.addClient({ ...profile, id: 'bank', jwks: { keys: [jwk] } });
    const foyer = cliOf(context.foyer);
    const shown = await foyer('client', 'show', 'bank', '--json');
    expect(shown.json()).toMatchObject({
      profile: 'fapi2',
      require_pushed_authorization_requests: true,
      dpop_bound_access_tokens: true,
      token_endpoint_auth_method: 'private_key_jwt',
      id_token_signed_response_alg: 'ES256',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    });
    expect((await foyer('client', 'update', 'bank', '--name', 'Bank')).code).toBe(0);
    const refused = await foyer('client', 'update', 'bank', '--no-dpop');
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('profile fapi2: needs access tokens')]);
    expect((await foyer('client', 'update', 'bank', '--no-profile', '--no-dpop')).code).toBe(0);
  });
});

describe('the registration of a client with the FAPI 2.0 Security Profile', () => {
  const smallKey = { kty: 'RSA', n: 'A'.repeat(171), e: 'AQAB' };
  const good = async (): Promise<ClientRequest> => ({
    id: 'bank',
    name: 'Bank',
    profile: 'fapi2',
    redirectUris: ['https://bank.example/callback'],
    jwks: { keys: [(await clientKey()).jwk] },
  });
  const faultsOf = (request: ClientRequest): readonly string[] => {
    try {
      clientMetadata(request, { development: true });
      return [];
    } catch (error) {
      if (error instanceof InvalidClientRequest) return error.faults;
      throw error;
    }
  };

  it('A registration with keys and https addresses is accepted', async () => {
    expect(faultsOf(await good())).toEqual([]);
  });

  it.each<[what: string, change: Partial<ClientRequest>, fault: string]>([
    ['an unknown profile', { profile: 'fapi1' }, 'profile fapi1: write fapi2'],
    ['a plain address of this machine', { redirectUris: ['http://localhost:3000/cb'] }, 'http://localhost:3000/cb'],
    ['the response type id_token', { responseTypes: ['code', 'id_token'] }, 'only the response type code'],
    ['the short forms', { legacy: true }, 'no short forms'],
    ['client credentials', { service: true }, 'no client credentials'],
    ['the device flow', { device: true }, 'no sign-in on another device'],
    ['an app on a device', { native: true }, 'the client must keep a secret'],
    ['a public client', { public: true }, 'the client must keep a secret'],
    ['requests by the browser', { requirePushedRequests: false }, 'needs pushed requests'],
    ['bearer tokens', { dpopBound: false }, 'needs access tokens that are bound to a key'],
    ['unsigned request objects', { unsignedRequestObjects: true }, 'no unsigned request objects'],
    ['id tokens with RS256', { idTokenAlg: 'RS256' }, 'no id tokens with RS256'],
    ['a short RSA key', { jwks: { keys: [smallKey] } }, 'an RSA key below 2048 bits'],
    ['a key for RS256', { jwks: { keys: [{ ...smallKey, alg: 'RS256' }] } }, 'a key of alg RS256'],
    ['a key on another curve', { jwks: { keys: [{ kty: 'EC', crv: 'P-384', x: 'a', y: 'b' }] } }, 'crv P-384'],
  ])('A registration with the profile and %s is refused', async (_what, change, fault) => {
    expect(faultsOf({ ...(await good()), ...change }).join('\n')).toContain(fault);
  });

  it('A registration with the profile and without keys is refused', async () => {
    const { jwks: _, ...request } = await good();
    expect(faultsOf(request).join('\n')).toContain('profile fapi2: needs keys');
    expect(faultsOf({ ...request, jwksUri: 'http://localhost:3000/jwks' }).join('\n')).toContain('https://');
  });

  it('A client that must sign its requests needs keys, and cannot send unsigned ones too', () => {
    const request = { id: 'a', name: 'A', redirectUris: ['https://a.example/cb'], requireSignedRequests: true };
    expect(faultsOf(request).join()).toContain('require-signed-request: needs the keys');
    expect(faultsOf({ ...request, unsignedRequestObjects: true }).join()).toContain('unsigned-request-objects');
  });
});
