import { SignJWT } from 'jose';
import { type OpenIdStandIn, startOpenIdStandIn, writeProvidersFile } from '../federation/openid-stand-in.ts';
import { begin, finish, providersBy, refusal, settingsOf } from '../federation/strategies.ts';

const common = 'https://login.microsoftonline.com/common/v2.0';
const tenant = '8a1e0f5c-2f0b-4c5e-9d0a-3b1f6f7c9e21';
const other = '11111111-2f0b-4c5e-9d0a-3b1f6f7c9e21';
const issuerOf = (id: string) => `https://login.microsoftonline.com/${id}/v2.0`;

/** Microsoft's address for all tenants: its issuer has `{tenantid}` in place of the tenant of each token. */
describe('the address of Microsoft for all tenants', () => {
  const { fetch } = globalThis;
  let standIn: OpenIdStandIn;
  beforeAll(async () => {
    standIn = await startOpenIdStandIn();
    standIn.traits.metadata = {
      issuer: issuerOf('{tenantid}'),
      authorization_response_iss_parameter_supported: false,
    };
    // The requests for Microsoft go to the stand-in, whose document names its own addresses.
    globalThis.fetch = async (input, init) => {
      const url = String(input);
      const answer = await fetch(url.replace(common, standIn.issuer), init);
      const text = (await answer.text()).replaceAll(`${standIn.issuer}/`, `${common}/`);
      return new Response(text, { status: answer.status, headers: { 'content-type': 'application/json' } });
    };
  });
  afterAll(async () => {
    globalThis.fetch = fetch;
    await standIn?.close();
  });

  const provider = () => {
    const file = writeProvidersFile(standIn, { issuer: common, domains: ['acme.example'] });
    return providersBy(settingsOf({ PROVIDERS_FILE: file }))('acme-oidc');
  };
  async function signIn(claims: Record<string, unknown>) {
    standIn.traits.claims = claims;
    const acme = provider();
    const begun = await begin(acme);
    const back = standIn.answer(begun);
    back.searchParams.delete('iss');
    return finish(acme, begun, back);
  }

  it('A person of any tenant signs in under the issuer of the tenant, and the address is not believed', async () => {
    expect(await signIn({ iss: issuerOf(tenant), tid: tenant })).toMatchObject({
      issuer: issuerOf(tenant),
      emailVerified: false,
    });
  });

  it.each<[string, Record<string, unknown>]>([
    ['of another tenant than its tid', { iss: issuerOf(tenant), tid: other }],
    ['without a tid', { iss: issuerOf(tenant) }],
    ['of the address for all', { iss: common, tid: tenant }],
  ])('Attack: an id token %s is refused', async (_what, claims) => {
    expect(await refusal(signIn(claims))).toMatchObject({
      kind: 'invalid',
      detail: 'OAUTH_JWT_CLAIM_COMPARISON_FAILED: iss',
    });
  });

  describe('a key of which Microsoft names the issuer', () => {
    const personal = '9188040d-6c67-4c5b-b112-36a304b66dad';
    const publish = (...issuers: (string | undefined)[]) => {
      standIn.traits.keys = issuers.map((issuer, index) => ({
        ...standIn.traits.key.publicJwk,
        ...(index > 0 && { kid: `other-${index}` }),
        ...(issuer !== undefined && { issuer }),
      }));
    };
    afterEach(() => publish(undefined));

    it.each([issuerOf('{tenantid}'), issuerOf(tenant)])('A token of its issuer is accepted: %s', async (issuer) => {
      publish(issuer, issuerOf(personal));
      expect(await signIn({ iss: issuerOf(tenant), tid: tenant })).toMatchObject({ issuer: issuerOf(tenant) });
      const read = provider().oidc?.read(await logoutToken({ iss: issuerOf(tenant), tid: tenant }));
      expect(await read).toMatchObject({ subject: 'ada' });
    });

    it('Attack: a token of a company that the key for personal accounts has signed is refused', async () => {
      publish(issuerOf(personal), issuerOf('{tenantid}'));
      const foreign = { kind: 'invalid', detail: 'signed by the key of another issuer' };
      expect(await refusal(signIn({ iss: issuerOf(tenant), tid: tenant }))).toMatchObject(foreign);
      const read = provider().oidc?.read(await logoutToken({ iss: issuerOf(tenant), tid: tenant }));
      expect(await refusal(read ?? Promise.resolve())).toMatchObject(foreign);
    });

    it('Attack: a tid with the signs of a replacement names no other issuer', async () => {
      publish(issuerOf('{tenantid}'));
      for (const tid of ['$&', '$`', "$'", '$$']) {
        const iss = issuerOf('{tenantid}').replace('{tenantid}', tid);
        const read = provider().oidc?.read(await logoutToken({ iss, tid }));
        expect(await refusal(read ?? Promise.resolve())).toMatchObject({ kind: 'invalid' });
      }
    });
  });

  const nowS = Math.floor(Date.now() / 1_000);
  const logoutToken = (claims: Record<string, unknown>) =>
    new SignJWT({
      aud: 'foyer-at-acme',
      iat: nowS,
      exp: nowS + 120,
      jti: 'one',
      sub: 'ada',
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      ...claims,
    })
      .setProtectedHeader({ alg: standIn.traits.key.alg, kid: String(standIn.traits.key.kid), typ: 'logout+jwt' })
      .sign(standIn.traits.key.privateKey);

  it('A logout token of any tenant is read under the issuer of the tenant', async () => {
    const read = provider().oidc?.read(await logoutToken({ iss: issuerOf(tenant), tid: tenant }));
    expect(await read).toMatchObject({ issuer: issuerOf(tenant), subject: 'ada' });
  });

  it('Attack: keys at an address without TLS verify no logout token, and are not fetched', async () => {
    const { metadata } = standIn.traits;
    standIn.traits.metadata = { ...metadata, jwks_uri: 'http://login.microsoftonline.com/keys' };
    const before = standIn.requests.length;
    const read = provider().oidc?.read(await logoutToken({ iss: issuerOf(tenant), tid: tenant }));
    expect(await refusal(read ?? Promise.resolve())).toMatchObject({
      kind: 'invalid',
      detail: 'logout token: the keys of the provider have no address by TLS',
    });
    expect(standIn.requests.slice(before).map(({ path }) => path)).toEqual(['/.well-known/openid-configuration']);
    standIn.traits.metadata = metadata;
  });

  it.each<[string, Record<string, unknown>]>([
    ['of another tenant than its tid', { iss: issuerOf(tenant), tid: other }],
    ['without a tid', { iss: issuerOf(tenant) }],
    ['whose tid is a list', { iss: issuerOf(tenant), tid: [tenant] }],
    ['of another issuer', { iss: 'https://else.example', tid: tenant }],
  ])('Attack: a logout token %s is refused', async (_what, claims) => {
    const read = provider().oidc?.read(await logoutToken(claims));
    expect(await refusal(read ?? Promise.resolve())).toMatchObject({
      kind: 'invalid',
      detail: 'logout token: ERR_JWT_CLAIM_VALIDATION_FAILED iss',
    });
  });
});
