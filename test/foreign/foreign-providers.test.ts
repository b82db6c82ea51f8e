import { generateKeyPairSync } from 'node:crypto';
import { refusal } from '../federation/strategies.ts';
import { type Claims, type ForeignProvider, type Setup, startForeignProvider } from './foreign-providers.ts';

/** The rows of the table of providers, by oidc-provider with its own settings. */
describe('sign-in by oidc-provider', () => {
  let provider: ForeignProvider | undefined;
  afterEach(async () => {
    await provider?.close();
    provider = undefined;
  });
  const start = async (setup: Setup) => {
    provider = await startForeignProvider(setup);
    return provider;
  };
  const person: Claims = {
    email: 'ada@acme.example',
    email_verified: true,
    given_name: 'Ada',
    family_name: 'Lovelace',
  };
  const ada = { email: 'ada@acme.example', emailVerified: true, givenName: 'Ada', familyName: 'Lovelace' };
  const pem = (type: 'rsa' | 'ec') => {
    const pair =
      type === 'rsa'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  };

  it.each(['RS256', 'ES256', 'ES384', 'PS256', 'RS512', 'EdDSA'] as const)(
    'An id token signed with %s signs in',
    async (alg) => {
      const { signIn } = await start({ claims: person, client: { id_token_signed_response_alg: alg } });
      expect(await signIn()).toMatchObject({ subject: 'ada', ...ada });
    },
  );

  it.each<[string, Setup]>([
    ['client_secret_basic', { client: { token_endpoint_auth_method: 'client_secret_basic' } }],
    ['client_secret_post, found by trial', { client: { token_endpoint_auth_method: 'client_secret_post' } }],
    [
      'client_secret_post by the setting',
      { client: { token_endpoint_auth_method: 'client_secret_post' }, foyer: { clientAuthentication: 'post' } },
    ],
    ['no secret', { client: { token_endpoint_auth_method: 'none' }, foyer: { clientSecret: undefined } }],
    ...(['rsa', 'ec'] as const).map((type): [string, Setup] => [
      `private_key_jwt with a key of ${type}`,
      {
        client: {
          token_endpoint_auth_method: 'private_key_jwt',
          token_endpoint_auth_signing_alg: type === 'rsa' ? 'RS256' : 'ES256',
        },
        foyer: { privateKey: pem(type), clientSecret: undefined },
      },
    ]),
    [
      'pushed requests that discovery demands',
      {
        provider: {
          features: { pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: true } },
        },
      },
    ],
    [
      'pushed requests that it demands of this client',
      {
        client: { require_pushed_authorization_requests: true },
        provider: { features: { pushedAuthorizationRequests: { enabled: true } } },
        foyer: { pushedRequests: true },
      },
    ],
    ...[
      ['rsa', 'RSA-OAEP-256', 'A256GCM'] as const,
      ['rsa', 'RSA-OAEP', 'A128CBC-HS256'] as const,
      ['ec', 'ECDH-ES', 'A128GCM'] as const,
    ].map(([type, alg, enc]): [string, Setup] => [
      `an id token encrypted with ${alg} and ${enc}`,
      {
        client: { id_token_encrypted_response_alg: alg, id_token_encrypted_response_enc: enc },
        provider: { features: { encryption: { enabled: true } } },
        foyer: { decryptionKey: pem(type) },
      },
    ]),
    [
      'signed userinfo',
      { client: { userinfo_signed_response_alg: 'RS256' }, provider: { features: { jwtUserinfo: { enabled: true } } } },
    ],
    ['no userinfo endpoint', { provider: { conformIdTokenClaims: false, features: { userinfo: { enabled: false } } } }],
    ['no demand of PKCE', { provider: { pkce: { required: () => false } } }],
  ])('A provider with %s signs in', async (_what, setup) => {
    const { signIn } = await start({ claims: person, ...setup });
    expect(await signIn()).toMatchObject({ subject: 'ada', ...ada });
  });

  it('Pairwise subjects and subjects of 250 characters sign in', async () => {
    const pairwise = {
      client: { subject_type: 'pairwise' as const },
      provider: { subjectTypes: ['pairwise' as const], pairwiseIdentifier: async () => 'pairwise-ada' },
    };
    const { signIn } = await start({ claims: person, ...pairwise });
    expect(await signIn()).toMatchObject({ subject: 'pairwise-ada' });
    await provider?.close();
    const subject = 's'.repeat(250);
    expect(await (await start({ claims: person, subject })).signIn()).toMatchObject({ subject });
  });

  it.each<[string, Claims, object]>([
    ['an upper-case address', { ...person, email: 'ADA@ACME.example' }, ada],
    [
      'no name',
      { ...person, given_name: undefined, family_name: undefined },
      { ...ada, givenName: '', familyName: '' },
    ],
    [
      'a name outside ASCII',
      { ...person, given_name: 'Žofie', family_name: '王' },
      { ...ada, givenName: 'Žofie', familyName: '王' },
    ],
    ['no address', { given_name: 'Ada' }, { email: undefined, emailVerified: false }],
    ['an address that is not verified', { ...person, email_verified: false }, { ...ada, emailVerified: false }],
    ['no word on the address', { ...person, email_verified: undefined }, { ...ada, emailVerified: false }],
    ['an address that is verified by a text', { ...person, email_verified: 'true' }, ada],
  ])('A person with %s signs in with what counts', async (_what, claims, expected) => {
    expect(await (await start({ claims })).signIn()).toMatchObject(expected);
  });

  it('An address without a word of the provider counts as confirmed in trusted domains', async () => {
    const setup = { claims: { ...person, email_verified: undefined }, foyer: { verifiedEmails: 'trusted-domains' } };
    expect(await (await start(setup)).signIn()).toMatchObject(ada);
  });

  it.each<[string, Setup, RegExp]>([
    [
      'client_secret_jwt',
      { client: { token_endpoint_auth_method: 'client_secret_jwt' } },
      /^token endpoint: invalid_client$/,
    ],
    [
      'HS256',
      { client: { id_token_signed_response_alg: 'HS256' } },
      /^the token is signed with HS256, which is not supported$/,
    ],
    [
      'encrypted id tokens, without a key of Foyer’s',
      {
        client: {
          id_token_encrypted_response_alg: 'dir',
          id_token_encrypted_response_enc: 'A128CBC-HS256',
        },
        provider: { features: { encryption: { enabled: true } } },
      },
      /^the id token is encrypted, and there is no decryptionKey$/,
    ],
  ])('A provider with %s is refused as not set up', async (_what, setup, detail) => {
    const { signIn } = await start({ claims: person, ...setup });
    expect(await refusal(signIn())).toMatchObject({ kind: 'not-set-up', detail: expect.stringMatching(detail) });
  });

  it('A provider that replaces its keys, or is away for a while, signs in again', async () => {
    let nowMs = Date.now();
    const { signIn, changeKeys, setAway } = await start({ claims: person, settings: { now: () => nowMs } });
    expect(await signIn()).toMatchObject(ada);
    changeKeys();
    nowMs += 5_000;
    expect(await signIn()).toMatchObject(ada);
    setAway(true);
    nowMs += 5_000;
    await expect(signIn()).rejects.toThrow();
    setAway(false);
    nowMs += 5_000;
    expect(await signIn()).toMatchObject(ada);
  });
});
