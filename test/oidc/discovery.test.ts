import { publicMetadataSeconds } from '../../server/oidc/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

const discoveryPaths = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'];

describe.each(backends)('discovery on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const ask = (path: string, init: RequestInit = {}) => sendRequest(foyer.url + path, { redirect: 'manual', ...init });

  it.each(discoveryPaths)('%s lists exactly the features that are enabled', async (path) => {
    const answer = await ask(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await answer.json()).toEqual({
      issuer: foyer.url,
      authorization_endpoint: `${foyer.url}/oauth2/authorize`,
      token_endpoint: `${foyer.url}/oauth2/token`,
      userinfo_endpoint: `${foyer.url}/oauth2/userInfo`,
      jwks_uri: `${foyer.url}/oauth2/jwks`,
      revocation_endpoint: `${foyer.url}/oauth2/revoke`,
      introspection_endpoint: `${foyer.url}/oauth2/introspect`,
      end_session_endpoint: `${foyer.url}/oauth2/logout`,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      pushed_authorization_request_endpoint: `${foyer.url}/oauth2/par`,
      device_authorization_endpoint: `${foyer.url}/oauth2/device_authorization`,
      dpop_signing_alg_values_supported: ['ES256'],
      response_types_supported: ['code', 'id_token'],
      response_modes_supported: ['form_post', 'fragment', 'query', 'query_id_token'],
      grant_types_supported: [
        ...['authorization_code', 'implicit', 'refresh_token', 'client_credentials'],
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
      token_endpoint_auth_signing_alg_values_supported: ['ES256', 'RS256', 'PS256', 'EdDSA', 'Ed25519'],
      id_token_signing_alg_values_supported: ['ES256', 'RS256'],
      subject_types_supported: ['public'],
      scopes_supported: [
        ...[
          'openid',
          'profile',
          'email',
          'phone',
          'address',
          'membership',
          'offline_access',
          'account',
          'aws.cognito.signin.user.admin',
          'account:security',
          'account:payments',
        ],
        ...[
          'clients:read',
          'users:read',
          'users:write',
          'messages:send',
          'messages:read',
          'plans:read',
          'payments:write',
          'visitors:act-for',
        ],
      ],
      claims_supported: [
        ...['sub', 'auth_time', 'amr', 'acr', 'name', 'given_name', 'family_name', 'picture', 'locale', 'updated_at'],
        ...['birthdate', 'gender', 'preferred_username', 'custom:companyName', 'custom:jobTitle', 'zoneinfo'],
        ...[
          'email',
          'email_verified',
          'phone_number',
          'phone_number_verified',
          'address',
          'plan',
          'seats',
          'entitlements',
          'sid',
          'iss',
        ],
      ],
      claim_types_supported: ['normal'],
      authorization_response_iss_parameter_supported: true,
      claims_parameter_supported: true,
      display_values_supported: ['page', 'popup'],
      ui_locales_supported: ['en', 'de', 'fr', 'nl'],
      prompt_values_supported: ['none', 'login', 'consent'],
      op_tos_uri: `${foyer.url}/tos`,
      service_documentation: `${foyer.url}/docs/api`,
      acr_values_supported: ['aal1', 'aal2', 'phr'],
      request_parameter_supported: true,
      request_object_signing_alg_values_supported: ['ES256', 'RS256', 'PS256', 'EdDSA', 'Ed25519'],
      request_uri_parameter_supported: false,
    });
  });

  it('The metadata names the privacy policy and the page for developers where the operator has set them', async () => {
    const [op_policy_uri, service_documentation] = ['https://www.example.com/privacy', 'https://dev.example.com/'];
    const other = await startFoyer(backend, { PRIVACY_URL: op_policy_uri, DEVELOPERS_URL: service_documentation });
    try {
      const answer = await sendRequest(`${other.url}${discoveryPaths[0]}`);
      expect(await answer.json()).toMatchObject({ op_policy_uri, service_documentation });
    } finally {
      await other.close();
    }
  });

  it('The library openid-client configures itself from the metadata', async () => {
    const client = await relyingParty(foyer, await foyer.addClient());
    expect(client.config.serverMetadata().supportsPKCE()).toBe(true);
  });

  it('/oauth2/jwks publishes public keys alone, one that signs per algorithm', async () => {
    const { keys } = (await (await ask('/oauth2/jwks')).json()) as { keys: Record<string, string>[] };
    expect(keys.map(({ alg, use, kty }) => ({ alg, use, kty }))).toEqual([
      { alg: 'ES256', use: 'sig', kty: 'EC' },
      { alg: 'RS256', use: 'sig', kty: 'RSA' },
    ]);
    for (const key of keys) {
      for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) expect(key).not.toHaveProperty(secret);
    }
  });

  it.each([...discoveryPaths, '/oauth2/jwks'])(
    '%s may be cached for a minute and read from every origin',
    async (path) => {
      const answer = await ask(path, { headers: { origin: 'https://anywhere.example' } });
      expect(answer.headers.get('cache-control')).toBe(`public, max-age=${publicMetadataSeconds}`);
      expect(answer.headers.get('access-control-allow-origin')).toBe('https://anywhere.example');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
      expect(answer.headers.getSetCookie()).toEqual([]);
    },
  );

  it.each([
    ['/oauth2/token', 'GET', 'POST, OPTIONS'],
    ['/oauth2/revoke', 'GET', 'POST, OPTIONS'],
    ['/oauth2/introspect', 'PUT', 'POST, OPTIONS'],
    ['/oauth2/par', 'GET', 'POST, OPTIONS'],
    ['/oauth2/device_authorization', 'GET', 'POST, OPTIONS'],
    ['/oauth2/device', 'PUT', 'GET, HEAD, POST'],
    ['/oauth2/device/some-request', 'POST', 'GET, HEAD'],
    ['/oauth2/userInfo', 'DELETE', 'GET, HEAD, POST, OPTIONS'],
    ['/oauth2/jwks', 'POST', 'GET, HEAD, OPTIONS'],
    ['/oauth2/authorize', 'PUT', 'GET, HEAD, POST'],
    ['/oauth2/authorize/', 'PUT', 'GET, HEAD, POST'],
    ['/oauth2/authorize/some-request', 'POST', 'GET, HEAD'],
    ['/oauth2/logout', 'PATCH', 'GET, HEAD, POST'],
    ['/.well-known/openid-configuration', 'POST', 'GET, HEAD, OPTIONS'],
  ])('%s answers %s with 405 and lists its methods in Allow', async (path, method, allow) => {
    const answer = await ask(path, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe(allow);
  });

  it.each([...discoveryPaths, '/oauth2/jwks', '/oauth2/authorize', '/oauth2/userInfo', '/oauth2/logout'])(
    '%s answers HEAD like GET, without a body',
    async (path) => {
      const [head, get] = [await ask(path, { method: 'HEAD' }), await ask(path)];
      expect(head.status).toBe(get.status);
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
      expect(await head.text()).toBe('');
    },
  );

  it.each([
    ...['par/x', 'register', 'device/x/y', 'device_authorization/x', 'challenge', 'backchannel', 'logout/confirm'],
    ...['logout/success', 'AUTHORIZE', 'authorize//', 'userinfo'],
  ])('/oauth2/%s does not exist and answers 404', async (name) => {
    expect((await ask(`/oauth2/${name}`)).status).toBe(404);
  });

  it.each([
    ['an unsigned request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }, 'invalid_request_object'],
    ['a request object by reference', { request_uri: 'https://evil.example/r' }, 'request_uri_not_supported'],
    ['registration on the way', { registration: '{}' }, 'registration_not_supported'],
    ['code and id token at once', { response_type: 'code id_token' }, 'unsupported_response_type'],
    ['an access token at once', { response_type: 'token' }, 'unsupported_response_type'],
    ['a code without PKCE', { code_challenge: '', code_challenge_method: '' }, 'invalid_request'],
    ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['an unknown response mode', { response_mode: 'web_message' }, 'unsupported_response_mode'],
  ])(
    'An authorization request with %s gets an error at the client, with state and iss',
    async (_what, parameters, error) => {
      const client = await relyingParty(foyer, await foyer.addClient());
      const begun = await client.begin(parameters);
      const answer = await ask(new URL(begun.url).pathname + new URL(begun.url).search);
      expect(answer.status).toBe(303);
      const back = new URL(answer.headers.get('location') ?? '');
      expect(back.href.startsWith(client.redirectUri)).toBe(true);
      const told = back.hash === '' ? back.searchParams : new URLSearchParams(back.hash.slice(1));
      expect(told.get('error')).toBe(error);
      expect(told.get('state')).toBe(begun.state);
      expect(told.get('iss')).toBe(foyer.url);
    },
  );

  it('/oauth2/authorize/ answers GET and POST like /oauth2/authorize', async () => {
    const client = await relyingParty(foyer, await foyer.addClient());
    const { search, searchParams } = new URL((await client.begin()).url);
    const answer = await ask(`/oauth2/authorize/${search}`);
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toMatch(/^\/\?client_id=/);
    const posted = await ask('/oauth2/authorize/', {
      method: 'POST',
      body: searchParams,
      headers: { origin: 'https://client.example', 'sec-fetch-site': 'cross-site' },
    });
    expect(posted.status).toBe(303);
    const goesOn = posted.headers.get('location') ?? '';
    expect(goesOn).toMatch(/^\/oauth2\/authorize\?posted=[\w-]+$/);
    const landing = new URL((await ask(goesOn)).headers.get('location') ?? '', foyer.url);
    for (const name of ['client_id', 'redirect_uri', 'state']) {
      expect([name, landing.searchParams.get(name)]).toEqual([name, searchParams.get(name)]);
    }
  });
});
