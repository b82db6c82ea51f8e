import { generateKeyPairSync } from 'node:crypto';
import { checkFederation } from '../../server/cli/doctor/providers.ts';
import { readSetup } from '../../server/cli/doctor/setup.ts';
import { checkProviders } from '../../server/federation/index.ts';
import { type OpenIdStandIn, startOpenIdStandIn, writeProvidersFile } from './openid-stand-in.ts';
import { settingsOf } from './strategies.ts';

const clientSecret = 'secret-of-acme';

describe('the check of an OpenID provider', () => {
  let standIn: OpenIdStandIn;
  beforeEach(async () => {
    standIn = await startOpenIdStandIn();
  });
  afterEach(() => standIn?.close());

  /** The check's report, which the doctor must repeat. */
  async function check(config: Record<string, unknown> = { clientSecret }) {
    const file = writeProvidersFile(standIn, config);
    const [report] = await checkProviders(settingsOf({ PROVIDERS_FILE: file }));
    const env = { NODE_ENV: 'test', SECRET_KEY: 's'.repeat(40), PROVIDERS_FILE: file };
    const found = await checkFederation(readSetup(env, Date.now));
    const { faults = [], warnings = [], unseen = [] } = report ?? {};
    const seen = found.filter(({ level }) => level !== 'ok').map((one) => `${one.level}: ${one.seen}`);
    expect(seen).toEqual([
      ...faults.map((text) => `fault: acme-oidc: ${text}.`),
      ...warnings.map((text) => `warning: acme-oidc: ${text}.`),
    ]);
    return { faults, warnings, unseen };
  }
  const withoutUserinfo = 'it has no userinfo_endpoint: only id tokens are read';
  const fine = { faults: [], warnings: [withoutUserinfo], unseen: [] };
  const refuseUnless = (takes: (secret: string | null, authorization: string) => boolean, word = 'invalid_client') => {
    standIn.traits.refuse = ({ form, authorization }) =>
      takes(form.get('client_secret'), authorization ?? '') ? undefined : word;
  };

  it('A provider that takes the configured credentials has no fault', async () => {
    refuseUnless((_, authorization) => authorization.startsWith('Basic '));
    expect(await check()).toEqual(fine);
  });

  it('A provider that signs id tokens with HS256 only has a fault that names its algorithms', async () => {
    standIn.traits.metadata = { id_token_signing_alg_values_supported: ['HS256', 'none'] };
    expect(await check()).toMatchObject({
      faults: [expect.stringMatching(/^it signs id tokens with HS256, none only \(/)],
    });
  });

  it('A provider that also signs with HS256 may do so for this client, which cannot be seen from here', async () => {
    standIn.traits.metadata = { id_token_signing_alg_values_supported: ['RS256', 'HS256'] };
    expect(await check()).toEqual({ ...fine, unseen: [expect.stringContaining('HS256')] });
  });

  it.each(['private_key_jwt', 'client_secret_jwt'])(
    'A provider that takes %s only has a fault that names its methods',
    async (method) => {
      standIn.traits.metadata = { token_endpoint_auth_methods_supported: [method] };
      refuseUnless(() => false);
      const { faults } = await check();
      expect(faults).toEqual([
        `it does not take clientId and clientSecret by basic, basic-raw or post (clientAuthentication); it takes ${method} (token_endpoint_auth_methods_supported)`,
      ]);
    },
  );

  it('A provider that takes a secret only by another way than the configured one has a fault that names the way', async () => {
    const raw = `Basic ${Buffer.from(`foyer-at-acme:${clientSecret}`).toString('base64')}`;
    refuseUnless((_, authorization) => authorization === raw, 'unauthorized_client');
    const says = 'it takes clientId and clientSecret by basic-raw, not by basic: set clientAuthentication to basic-raw';
    expect(await check({ clientSecret, clientAuthentication: 'basic' })).toMatchObject({ faults: [says] });
    // Without the setting sign-ins find the way themselves.
    expect(await check()).toEqual({ ...fine, warnings: [withoutUserinfo, says] });
    refuseUnless((secret) => secret === clientSecret);
    const { faults } = await check({ clientSecret, clientAuthentication: 'basic-raw' });
    expect(faults).toEqual([expect.stringMatching(/ by post, not by basic-raw: set clientAuthentication to post$/)]);
  });

  it('A provider that does not know the key of private_key_jwt has a fault that says what to register', async () => {
    const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
    refuseUnless(() => false);
    expect(await check({ privateKey: standIn.write('client.key', pem.toString()) })).toMatchObject({
      faults: ['it does not take private_key_jwt: register http://localhost:3000/federation/acme-oidc/jwks there'],
    });
  });

  it('A provider that needs a secret where none is configured has a fault', async () => {
    refuseUnless(() => false);
    expect(await check({})).toMatchObject({ faults: ['it does not take clientId without a secret'] });
  });

  it('A provider with an error word of its own gets a warning that quotes it, not a fault', async () => {
    standIn.traits.refusalStatus = 400;
    standIn.traits.refuse = () => 'invalid_code';
    expect(await check()).toEqual({
      ...fine,
      warnings: [withoutUserinfo, expect.stringMatching(/^its token endpoint answers invalid_code to an unknown code/)],
    });
  });

  it('A provider that takes pushed requests or encrypts may demand so of this client, which cannot be seen from here', async () => {
    const par = { pushed_authorization_request_endpoint: `${standIn.issuer}/par` };
    standIn.traits.metadata = { ...par, id_token_encryption_alg_values_supported: ['RSA-OAEP'] };
    const unseen = [expect.stringContaining('pushedRequests'), expect.stringContaining('decryptionKey')];
    expect(await check()).toEqual({ ...fine, unseen });
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const decryptionKey = standIn.write('decryption.key', pem);
    expect(await check({ clientSecret, pushedRequests: true, decryptionKey })).toEqual(fine);
  });

  it('A provider that demands pushed requests and names no address for them has a fault', async () => {
    const fault = expect.stringMatching(/^its discovery document has no pushed_authorization_request_endpoint/);
    expect(await check({ clientSecret, pushedRequests: true })).toMatchObject({ faults: [fault] });
    standIn.traits.metadata = { require_pushed_authorization_requests: true };
    expect(await check()).toMatchObject({ faults: [fault] });
  });

  it('A provider that refuses the code flow has a fault', async () => {
    standIn.traits.refusalStatus = 400;
    standIn.traits.refuse = () => 'unsupported_grant_type';
    expect(await check()).toMatchObject({ faults: [expect.stringContaining('unsupported_grant_type')] });
  });
});
