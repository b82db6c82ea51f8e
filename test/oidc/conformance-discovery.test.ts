import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, signInFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';

/** Requirements of OpenID Connect Discovery 1.0 and RFC 9207 in docs/conformance.md that no other test shows. */
describe('the provider’s metadata', () => {
  let foyer: TestFoyer;
  let metadata: Record<string, unknown>;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    metadata = await (await sendRequest(`${foyer.url}/.well-known/openid-configuration`)).json();
  });
  afterAll(() => foyer?.close());

  it('The metadata has every required value and no empty list (OpenID Connect Discovery 1.0, sections 3 and 4.2)', () => {
    for (const name of ['issuer', 'authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'])
      expect(metadata[name]).toEqual(expect.any(String));
    expect(metadata.response_types_supported).toEqual(expect.arrayContaining(['code', 'id_token']));
    expect(metadata.subject_types_supported).toEqual(['public']);
    expect(metadata.id_token_signing_alg_values_supported).toContain('RS256');
    expect(metadata.id_token_signing_alg_values_supported).not.toContain('none');
    expect(metadata.scopes_supported).toContain('openid');
    for (const value of Object.values(metadata)) expect(value).not.toEqual([]);
  });

  it('The issuer equals the address of the metadata request, character by character (section 4.3)', () => {
    expect(metadata.issuer).toBe(foyer.url);
    expect(new URL(String(metadata.issuer)).search + new URL(String(metadata.issuer)).hash).toBe('');
  });

  it('Every endpoint in the metadata exists and is on this host', async () => {
    const endpoints = Object.entries(metadata).filter(([name]) => /_endpoint$|_uri$/.test(name));
    expect(endpoints.length).toBeGreaterThan(7);
    for (const [, url] of endpoints) {
      expect(String(url).startsWith(`${foyer.url}/`)).toBe(true);
      expect((await sendRequest(String(url), { redirect: 'manual' })).status).not.toBe(404);
    }
  });

  describe('the parameter iss (RFC 9207, sections 2 and 2.3)', () => {
    it('The answer with a code and the answer with an error have the issuer as iss', async () => {
      const client = await relyingParty(foyer, await foyer.addClient());
      const browser = foyer.browser();
      const refused = new URL(locationOf(await browser.get((await client.begin({ prompt: 'none' })).url)));
      const home = new URL(await signInFor(browser, await client.begin(), await foyer.addUser()));
      expect(home.searchParams.has('code')).toBe(true);
      expect(refused.searchParams.get('error')).toBe('login_required');
      for (const { searchParams } of [home, refused]) expect(searchParams.getAll('iss')).toEqual([metadata.issuer]);
      expect(metadata.authorization_response_iss_parameter_supported).toBe(true);
    });

    it('The answer with an id token and the error in its place have the issuer as iss', async () => {
      const registered = await foyer.addClient({ responseTypes: ['id_token'] });
      const client = await relyingParty(foyer, registered, 'openid');
      const browser = foyer.browser();
      const asked = { response_type: 'id_token' };
      const refused = new URL(locationOf(await browser.get((await client.begin({ ...asked, prompt: 'none' })).url)));
      const home = new URL(await signInFor(browser, await client.begin(asked), await foyer.addUser()));
      for (const { hash } of [home, refused])
        expect(new URLSearchParams(hash.slice(1)).getAll('iss')).toEqual([metadata.issuer]);
      expect(new URLSearchParams(home.hash.slice(1)).has('id_token')).toBe(true);
    });
  });
});
