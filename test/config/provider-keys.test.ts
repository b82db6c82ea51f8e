import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProvidersFileError, parseProviders } from '../../config/providers.ts';

const folder = mkdtempSync(join(tmpdir(), 'foyer-provider-keys-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const oidc = { kind: 'oidc', id: 'acme', name: 'Acme', issuer: 'https://id.acme.example', clientId: 'foyer' };
const write = (name: string, content: string) => {
  writeFileSync(join(folder, name), content);
  return name;
};
const keyFile = (name: string, key: KeyObject, form: 'pem' | 'jwk' = 'pem') =>
  write(
    name,
    form === 'jwk'
      ? JSON.stringify(key.export({ format: 'jwk' }))
      : key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  );

function faultsOf(json: object): readonly string[] {
  try {
    parseProviders(JSON.stringify(json), join(folder, 'providers.json'), {});
    return [];
  } catch (error) {
    if (!(error instanceof ProvidersFileError)) throw error;
    return error.faults;
  }
}
const one = (change: object) => faultsOf({ providers: [{ ...oidc, ...change }] });

describe('keys and ways to authenticate in the file of providers', () => {
  it('A key for a provider is an RSA or P-256 key in a PEM or JWK file, and each provider has its own', () => {
    const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).privateKey;
    const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;
    for (const privateKey of [keyFile('rsa.pem', rsa(2048)), keyFile('ec.jwk', ec('P-256'), 'jwk')])
      expect(one({ privateKey, clientAuthentication: 'private_key_jwt' })).toEqual([]);
    const noKey = [expect.stringMatching(/^providers\.0\.privateKey: \S+ is no private key in PEM or JWK format/)];
    for (const privateKey of [
      keyFile('short.pem', rsa(1024)),
      keyFile('p384.pem', ec('P-384')),
      write('logo.svg', '<svg/>'),
      write('no.jwk', '{}'),
    ])
      expect(one({ privateKey })).toEqual(noKey);
    const other = { ...oidc, id: 'other', issuer: 'https://other.example', privateKey: 'rsa.pem' };
    expect(faultsOf({ providers: [{ ...oidc, privateKey: 'rsa.pem' }, other] })).toEqual([
      'providers: privateKey rsa.pem stands there twice',
    ]);
  });

  it('A way to authenticate at a provider needs what it sends', () => {
    const at = 'providers.0.clientAuthentication: ';
    expect(one({ clientAuthentication: 'private_key_jwt', clientSecret: 's' })).toEqual([
      `${at}private_key_jwt needs privateKey`,
    ]);
    for (const clientAuthentication of ['basic', 'basic-raw', 'post']) {
      expect(one({ clientAuthentication })).toEqual([`${at}needs clientSecret or clientSecretVariable`]);
      expect(one({ clientAuthentication, clientSecret: 's' })).toEqual([]);
    }
    expect(one({ clientAuthentication: 'client_secret_jwt', clientSecret: 's' })).toEqual([
      `${at}write basic, basic-raw, post, private_key_jwt, or nothing`,
    ]);
  });
});
