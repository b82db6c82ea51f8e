import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import { insertResourceServer } from '../../server/oidc/index.ts';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, type Tokens, tokensFor } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';

const scopes = ['openid', 'profile', 'email', 'phone', 'offline_access'];
const scope = 'openid profile email phone';
const ofProtocol = ['acr', 'amr', 'aud', 'auth_time', 'exp', 'iat', 'iss', 'nonce', 'sub'];

type Registration = Parameters<TestFoyer['addClient']>[0];

describe('claims of id tokens', () => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    user = await foyer.addUser({ phone: '+4915112345678' });
    browser = await foyer.signedIn(user);
  });
  afterAll(() => foyer?.close());

  const register = async (registration: Registration = {}, requested = scope) =>
    relyingParty(foyer, await foyer.addClient({ scopes, ...registration }), requested);
  const names = (tokens: { claims(): oidc.IDToken | undefined }) => Object.keys(tokens.claims() ?? {}).toSorted();
  const info = (client: RelyingParty, tokens: Tokens) =>
    oidc.fetchUserInfo(client.config, tokens.access_token, user.id);

  it('An id token of the code flow has no claims of the scopes, and userinfo has them', async () => {
    const client = await register();
    const tokens = await tokensFor(client, browser, user);
    expect(names(tokens)).toEqual(ofProtocol);
    expect(await info(client, tokens)).toMatchObject({
      name: expect.any(String),
      email: user.email,
      phone_number: user.phone,
    });
    const refreshed = await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '');
    // Core, section 12.2: the nonce is that of the request alone.
    expect(names(refreshed)).toEqual(ofProtocol.filter((name) => name !== 'nonce'));
  });

  it.each([
    ['registered with id token claims', { idTokenClaims: true }],
    ['registered for the older forms', { legacy: true }],
  ])(
    'A client that is %s gets the claims of the scopes in id tokens, also after a refresh',
    async (_what, registration) => {
      const client = await register(registration);
      const tokens = await tokensFor(client, browser, user);
      expect(tokens.claims()).toMatchObject({ email: user.email, phone_number: user.phone });
      const refreshed = await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '');
      expect(refreshed.claims()).toMatchObject({ email: user.email, phone_number: user.phone });
    },
  );

  it('An id token alone has the claims of the scopes, because no access token comes with it', async () => {
    const client = await register({ responseTypes: ['id_token'] });
    const back = locationOf(await browser.get((await client.begin({ response_type: 'id_token' })).url));
    const idToken = new URLSearchParams(new URL(back).hash.slice(1)).get('id_token') ?? '';
    expect(decodeJwt(idToken)).toMatchObject({ email: user.email, phone_number: user.phone });
  });

  it('An id token beside an access token of a resource server has the claims, because that token opens no userinfo', async () => {
    const identifier = 'https://claims.example.com';
    await insertResourceServer(foyer.deps.database.db, { identifier, scopes: ['things:read'], alg: 'ES256' }, 1);
    const client = await register({ resources: [identifier] }, `${scope} things:read`);
    const begun = await client.begin({ resource: identifier });
    const tokens = await oidc.authorizationCodeGrant(
      client.config,
      new URL(locationOf(await browser.get(begun.url))),
      { pkceCodeVerifier: begun.verifier, expectedState: begun.state, expectedNonce: begun.nonce },
      { resource: identifier },
    );
    expect(decodeJwt(tokens.access_token).aud).toBe(identifier);
    expect(tokens.claims()).toMatchObject({ email: user.email });
  });

  it('A claim that is requested for the id token is in it, and others are not', async () => {
    const client = await register();
    const claims = JSON.stringify({ id_token: { email: { essential: true }, name: null } });
    const tokens = await tokensFor(client, browser, user, { claims });
    expect(names(tokens)).toEqual([...ofProtocol, 'email', 'name'].toSorted());
    expect(tokens.claims()).toMatchObject({ email: user.email });
    const refreshed = await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '');
    expect(refreshed.claims()).toMatchObject({ email: user.email });
  });

  it('A claim that is requested for userinfo is not in the id token', async () => {
    const client = await register();
    const claims = JSON.stringify({ userinfo: { name: { essential: true } } });
    const tokens = await tokensFor(client, browser, user, { claims, scope: 'openid profile' });
    expect(names(tokens)).toEqual(ofProtocol);
    expect(await info(client, tokens)).toMatchObject({ name: expect.any(String) });
  });

  it('A requested claim of a scope that the request leaves out is given nowhere', async () => {
    const client = await register();
    const claims = JSON.stringify({ userinfo: { name: { essential: true } }, id_token: { email: null } });
    const tokens = await tokensFor(client, browser, user, { claims, scope: 'openid' });
    expect(names(tokens)).toEqual(ofProtocol);
    expect(await info(client, tokens)).toEqual({ sub: user.id });
  });

  it('A client registered for claims without scope gets the single claims of its own scopes and no others', async () => {
    const client = await register({ claimsWithoutScope: true, scopes: ['openid', 'profile'] });
    const claims = JSON.stringify({
      userinfo: { name: { essential: true }, email: null },
      id_token: { family_name: null },
    });
    const tokens = await tokensFor(client, browser, user, { claims, scope: 'openid' });
    expect(names(tokens)).toEqual([...ofProtocol, 'family_name'].toSorted());
    expect(Object.keys(await info(client, tokens)).toSorted()).toEqual(['name', 'sub']);
  });

  it('Attack: a third party gets no claim by the claims parameter beyond the scopes that the user consents to', async () => {
    const client = await register({ thirdParty: true, idTokenClaims: true });
    const claims = JSON.stringify({
      userinfo: { email: null, phone_number: null },
      id_token: { email: null, name: null },
    });
    const tokens = await tokensFor(client, browser, user, { claims, scope: 'openid profile' });
    expect(tokens.claims()).not.toHaveProperty('email');
    expect(await info(client, tokens)).not.toHaveProperty('email');
    expect(await info(client, tokens)).not.toHaveProperty('phone_number');
    await expect(register({ thirdParty: true, claimsWithoutScope: true })).rejects.toThrow(/claims-without-scope: /);
  });

  it('A pushed request and a silent one give the requested claims like any other', async () => {
    const client = await register();
    const claims = JSON.stringify({ id_token: { email: null } });
    const begun = await client.begin({ prompt: 'none', claims });
    const { href } = await oidc.buildAuthorizationUrlWithPAR(client.config, new URL(begun.url).searchParams);
    const tokens = await client.redeem(locationOf(await browser.get(href)), begun);
    expect(tokens.claims()).toMatchObject({ email: user.email });
  });
});
