import { createHash, createHmac } from 'node:crypto';
import { SAML, ValidateInResponseTo } from '@node-saml/node-saml';
import * as oidc from 'openid-client';
import {
  byStandardKind,
  type StandardProvider,
  standardKinds,
  standardProviders,
} from '../../config/standard-providers.ts';
import { formFieldsOf } from '../support/provider-forms.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { sendRequest } from '../support/send-request.ts';

const foyer = 'http://localhost:4999';
const verifier = 'a verifier that has more than forty-three characters';
const challenge = createHash('sha256').update(verifier).digest('base64url');

let providers: TestProviders;
beforeAll(async () => {
  providers = await startProviders();
});
afterAll(() => providers.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  sendRequest(path.startsWith('http') ? path : providers.url + path, { headers, redirect: 'manual' });
const post = (path: string, fields: Record<string, string>) =>
  sendRequest(providers.url + path, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });

const toPath = (address: string) => new URL(address).pathname;
const byEntry = byStandardKind((kind) => {
  const { endpoints, scopes }: StandardProvider = standardProviders[kind];
  return { token: toPath(endpoints.token), profile: toPath(endpoints.profile), scope: scopes.join(' ') };
});
const standard = {
  ...byEntry,
  // The other addresses of the same endpoints.
  google: { ...byEntry.google, token: '/oauth2/v4/token', profile: '/oauth2/v3/userinfo' },
};
type Standard = keyof typeof standard;

function clientOf(kind: Standard) {
  const env = providers.environment();
  const { id, secret } = standardProviders[kind].credentials;
  return { id: env[id.variable] ?? '', secret: env[secret.variable] ?? '' };
}

const redirectUri = (kind: string) => `${foyer}/federation/${kind}/callback`;
const question = (kind: Standard, more: Record<string, string> = {}) =>
  `${new URL(standardProviders[kind].endpoints.authorization).pathname}?${new URLSearchParams({
    response_type: 'code',
    client_id: clientOf(kind).id,
    redirect_uri: redirectUri(kind),
    state: 'st',
    scope: standard[kind].scope,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...more,
  })}`;

const locationOf = (response: Response) => new URL(response.headers.get('location') ?? '');
const codeOf = async (kind: Standard) => locationOf(await get(question(kind))).searchParams.get('code') ?? '';
const redeem = (kind: Standard, code: string, more: Record<string, string> = {}) =>
  post(standard[kind].token, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri(kind),
    code_verifier: verifier,
    client_id: clientOf(kind).id,
    client_secret: clientOf(kind).secret,
    ...more,
  });

describe.each(standardKinds)('%s', (kind) => {
  it('The provider gives a code for the chosen account, a token for the code and a profile for the token', async () => {
    const page = await get(question(kind));
    expect(page.status).toBe(200);
    const html = await page.text();
    expect(html).toContain('Ada Lovelace');
    const chosen = await post('/providers/choose', { ...formFieldsOf(html), person: '0' });
    const back = locationOf(chosen);
    expect(`${back.origin}${back.pathname}`).toBe(redirectUri(kind));
    expect(back.searchParams.get('state')).toBe('st');
    expect(back.hash).toBe(kind === 'facebook' ? '#_=_' : '');
    const answered = await redeem(kind, back.searchParams.get('code') ?? '');
    expect(answered.status).toBe(200);
    const { access_token: token } = (await answered.json()) as { access_token: string };
    const proof = createHmac('sha256', clientOf(kind).secret).update(token).digest('hex');
    const fields = kind === 'facebook' ? `?fields=id,name,email&appsecret_proof=${proof}` : '';
    const profile = await get(standard[kind].profile + fields, { authorization: `Bearer ${token}` });
    expect(await profile.json()).toMatchObject({ email: 'ada@example.com', name: 'Ada Lovelace' });
  });

  it('The provider accepts a code once, with its verifier, its address and the secret', async () => {
    const refused = async (more: Record<string, string>) => {
      providers.answerAs(providers.people[kind].ada);
      return (await redeem(kind, await codeOf(kind), more)).status;
    };
    expect(await refused({ code_verifier: 'another' })).toBe(400);
    expect(await refused({ redirect_uri: `${foyer}/federation/other/callback` })).toBe(400);
    expect(await refused({ code: 'another' })).toBe(400);
    expect(await refused({ client_secret: 'another' })).toBe(kind === 'facebook' ? 400 : 401);
    providers.answerAs(providers.people[kind].ada);
    const code = await codeOf(kind);
    expect((await redeem(kind, code)).status).toBe(200);
    expect((await redeem(kind, code)).status).toBe(400);
  });

  it('The provider refuses with its own error parameters', async () => {
    providers.answerAs('refuse', kind);
    const { searchParams } = locationOf(await get(question(kind)));
    const { errors }: StandardProvider = standardProviders[kind];
    expect(searchParams.get('error')).toBe(errors.cancelled[0] ?? 'access_denied');
    expect(searchParams.get('state')).toBe('st');
    expect(searchParams.has('code')).toBe(false);
    providers.answerAs('error', kind);
    const failed = locationOf(await get(question(kind))).searchParams;
    expect(failed.has(kind === 'facebook' ? 'error_code' : 'error')).toBe(true);
  });

  it('The provider redirects only to the app', async () => {
    for (const address of ['https://evil.example/federation/google/callback', `${foyer}/elsewhere`]) {
      expect((await get(question(kind, { redirect_uri: address }))).status).toBe(400);
    }
    expect((await get(question(kind, { client_id: 'another' }))).status).toBe(400);
  });
});

it('Only this machine gets an answer from the providers', async () => {
  for (const path of ['/providers', '/acme-oidc/jwks', '/acme-saml/metadata', '/v23.0/me', question('google')]) {
    expect((await get(path, { 'x-forwarded-for': '203.0.113.9' })).status).toBe(403);
  }
});

it('The former list of the providers leads to the page of Foyer', async () => {
  const answer = await get('/providers');
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sandbox/providers']);
});

it('Each kind of broken answer is broken as its name says', async () => {
  const answerOf = async (broken: Parameters<TestProviders['answerAs']>[0]) => {
    providers.answerAs(broken, 'google');
    return redeem('google', await codeOf('google'));
  };
  expect((await answerOf('token-error')).status).toBe(400);
  expect((await answerOf('token-server-error')).status).toBe(502);
  await expect((await answerOf('token-not-json')).json()).rejects.toThrow();
  expect(await (await answerOf('token-empty')).json()).toEqual({});
  await expect(answerOf('token-drops')).rejects.toThrow();
  expect((await (await answerOf('token-huge')).text()).length).toBeGreaterThan(10_000_000);
  providers.answerAs('wrong-state', 'google');
  expect(locationOf(await get(question('google'))).searchParams.get('state')).not.toBe('st');
});

describe('the OpenID provider', () => {
  const configuration = () =>
    oidc.discovery(new URL(`${providers.url}/acme-oidc`), 'foyer-at-acme', 'secret-of-acme', undefined, {
      execute: [oidc.allowInsecureRequests],
    });
  const signIn = async () => {
    const client = await configuration();
    const address = oidc.buildAuthorizationUrl(client, {
      redirect_uri: redirectUri('acme-oidc'),
      scope: 'openid profile email',
      state: 'st',
      nonce: 'n',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    const back = locationOf(await get(address.href));
    const checks = { pkceCodeVerifier: verifier, expectedState: 'st', expectedNonce: 'n', idTokenExpected: true };
    const tokens = await oidc.authorizationCodeGrant(client, back, checks);
    return oidc.fetchUserInfo(client, tokens.access_token, tokens.claims()?.sub ?? '');
  };

  it('A client that checks everything accepts the OpenID provider', async () => {
    providers.answerAs(providers.people.oidc.grace);
    expect(await signIn()).toMatchObject({ email: 'grace@acme.example', email_verified: false, family_name: 'Hopper' });
  });

  it.each([
    'id-token-missing',
    'id-token-unsigned',
    'id-token-wrong-issuer',
    'id-token-wrong-audience',
    'id-token-wrong-nonce',
    'id-token-expired',
    'other-subject',
    'wrong-iss',
    'wrong-state',
    'wrong-code',
    'profile-empty',
  ] as const)('A client refuses the wrong answer %s of the OpenID provider', async (broken) => {
    providers.answerAs(broken, 'oidc');
    await expect(signIn()).rejects.toThrow();
  });
});

describe('the SAML identity provider', () => {
  const acs = `${foyer}/federation/acme-saml/acs`;
  const saml = (more: object = {}) =>
    new SAML({
      callbackUrl: acs,
      issuer: `${foyer}/federation/acme-saml/metadata`,
      idpCert: providers.samlSigner.certificate,
      entryPoint: `${providers.url}/acme-saml/sso`,
      logoutUrl: `${providers.url}/acme-saml/slo`,
      idpIssuer: providers.saml.entityId,
      wantAssertionsSigned: true,
      wantAuthnResponseSigned: true,
      privateKey: providers.serviceProvider.privateKey,
      signatureAlgorithm: 'sha256' as const,
      decryptionPvk: providers.serviceProvider.privateKey,
      validateInResponseTo: ValidateInResponseTo.always,
      ...more,
    });
  const answered = async (sp: SAML) => {
    const page = await get(await sp.getAuthorizeUrlAsync('relay', undefined, {}));
    const html = await page.text();
    expect(page.status).toBe(200);
    return formFieldsOf(html);
  };

  it('The SAML provider signs a user in, and out again when the app asks', async () => {
    const sp = saml();
    providers.answerAs(providers.people.saml.ada);
    const fields = await answered(sp);
    expect(fields.RelayState).toBe('relay');
    const { profile } = await sp.validatePostResponseAsync({ SAMLResponse: fields.SAMLResponse ?? '' });
    expect(profile).toMatchObject({ mail: 'ada@corp.acme.example', givenName: 'Ada', sn: 'Lovelace' });
    expect(providers.saml.sessions().map(({ index }) => index)).toContain(profile?.sessionIndex);
    if (!profile) throw new Error('the profile is missing');
    const left = await get(await sp.getLogoutUrlAsync(profile, 'relay', {}));
    const back = locationOf(left);
    expect(`${back.origin}${back.pathname}`).toBe(`${foyer}/federation/acme-saml/logout`);
    const answer = Object.fromEntries(back.searchParams);
    expect(await sp.validateRedirectAsync(answer, back.search.slice(1))).toMatchObject({ loggedOut: true });
    expect(providers.saml.sessions().map(({ index }) => index)).not.toContain(profile.sessionIndex);
  });

  it('The SAML provider asks the app to sign a user out', async () => {
    const sp = saml();
    providers.answerAs(providers.people.saml.vera);
    await answered(sp);
    const session = providers.saml.sessions().at(-1);
    const left = await post(`/acme-saml/sign-out/${session?.index}`, {});
    const there = locationOf(left);
    const { profile } = await sp.validateRedirectAsync(Object.fromEntries(there.searchParams), there.search.slice(1));
    expect(profile).toMatchObject({ nameID: session?.nameId, sessionIndex: session?.index });
  });

  it('The SAML provider encrypts the assertion on request', async () => {
    const sp = saml();
    const person = providers.people.saml.ada;
    providers.answerAs({ person, saml: { encryptFor: providers.serviceProvider.certificate } }, 'saml');
    const fields = await answered(sp);
    expect(Buffer.from(fields.SAMLResponse ?? '', 'base64').toString()).not.toContain('ada@');
    const { profile } = await sp.validatePostResponseAsync({ SAMLResponse: fields.SAMLResponse ?? '' });
    expect(profile).toMatchObject({ mail: 'ada@corp.acme.example' });
  });

  it('The SAML provider can name another issuer, which the library does not check', async () => {
    const sp = saml();
    providers.answerAs('wrong-issuer', 'saml');
    const { profile } = await sp.validatePostResponseAsync({ SAMLResponse: (await answered(sp)).SAMLResponse ?? '' });
    expect(profile?.issuer).not.toBe(providers.saml.entityId);
  });

  it.each([
    'status',
    'no-assertion',
    'not-xml',
    'unsigned',
    'other-key',
    'changed',
    'wrong-audience',
    'expired',
    'not-yet',
    'unsolicited',
    'wrong-request',
  ] as const)('The library refuses the wrong answer %s of the SAML provider', async (broken) => {
    const sp = saml();
    providers.answerAs(broken, 'saml');
    const { SAMLResponse = '' } = await answered(sp);
    await expect(sp.validatePostResponseAsync({ SAMLResponse })).rejects.toThrow();
  });
});

it('The function secrets() returns every secret that was given', async () => {
  providers.answerAs(providers.people.google.ada);
  const code = await codeOf('google');
  const tokens = (await (await redeem('google', code)).json()) as Record<string, string>;
  const secrets = providers.secrets();
  for (const secret of [code, tokens.access_token, tokens.id_token, verifier, clientOf('google').secret]) {
    expect(secrets).toContain(secret);
  }
});
