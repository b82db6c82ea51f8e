import { createHash, createPublicKey, type webcrypto } from 'node:crypto';
import { importPKCS8 } from 'jose';
import type * as client from 'openid-client';
import { type PrivateKey, readPrivateKey } from '../../../config/private-keys.ts';
import type { OidcProviderConfig } from '../../../config/providers.ts';

/** The public part of a key of Foyer's at one provider, as a JWK (RFC 7517). */
type PublicJwk = Readonly<Record<string, unknown>>;

type KeyTexts = Pick<OidcProviderConfig, 'privateKey' | 'decryptionKey'>;

/** The file was checked when it was read. */
function requireKey(text: string): PrivateKey {
  const key = readPrivateKey(text);
  if (!key) throw new Error('a private key of PROVIDERS_FILE cannot be read any more');
  return key;
}

/** RFC 7638, section 3: the required members in the order of their names. */
function thumbprint({ e, kty, n, crv, x, y }: webcrypto.JsonWebKey): string {
  const members = kty === 'RSA' ? { e, kty, n } : { crv, kty, x, y };
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url');
}

const publicPart = ({ key }: PrivateKey) => createPublicKey(key).export({ format: 'jwk' });
const keyId = (key: PrivateKey): string => key.kid ?? thumbprint(publicPart(key));

/** `alg` only if the key has but one: providers compare it. */
function toPublicJwk(key: PrivateKey, use: 'sig' | 'enc', alg = key.alg): PublicJwk {
  return { ...publicPart(key), kid: keyId(key), use, ...(alg !== undefined && { alg }) };
}

const isRsa = ({ key }: PrivateKey) => key.asymmetricKeyType === 'rsa';

/** @param supported of the provider (`token_endpoint_auth_signing_alg_values_supported`) */
function signatureAlgorithm(key: PrivateKey, supported: readonly string[] | undefined) {
  if (!isRsa(key)) return 'ES256';
  if (key.alg !== undefined) return key.alg === 'PS256' ? 'PS256' : 'RS256';
  return supported?.includes('PS256') && !supported.includes('RS256') ? 'PS256' : 'RS256';
}

/** The key that signs `private_key_jwt` (RFC 7523). */
export async function toSigningKey(text: string, supported: readonly string[] | undefined) {
  const key = requireKey(text);
  const pem = key.key.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { key: await importPKCS8(pem, signatureAlgorithm(key, supported)), kid: keyId(key) };
}

/** The keys that a provider must know; undefined: none. */
export function toPublicKeys({ privateKey, decryptionKey }: KeyTexts): PublicJwk[] | undefined {
  const keys: PublicJwk[] = [];
  if (privateKey !== undefined) {
    const key = requireKey(privateKey);
    keys.push(toPublicJwk(key, 'sig', isRsa(key) ? key.alg : 'ES256'));
  }
  if (decryptionKey !== undefined) {
    const key = requireKey(decryptionKey);
    keys.push(toPublicJwk(key, 'enc', isRsa(key) ? key.alg : 'ECDH-ES'));
  }
  return keys.length === 0 ? undefined : keys;
}

/** RSA 1.5 is left out: its padding tells an attacker too much. */
const decryptionAlgorithms = { rsa: ['RSA-OAEP-256', 'RSA-OAEP'], ec: ['ECDH-ES'] } as const;

/** The key that opens id tokens, once for each algorithm for which it can be used (RFC 7518, section 4). */
export async function toDecryptionKeys(text: string): Promise<client.DecryptionKey[]> {
  const key = requireKey(text);
  const pem = key.key.export({ type: 'pkcs8', format: 'pem' }).toString();
  const names: readonly string[] = decryptionAlgorithms[isRsa(key) ? 'rsa' : 'ec'];
  const usable = names.filter((alg) => key.alg === undefined || alg === key.alg);
  return Promise.all(usable.map(async (alg) => ({ key: await importPKCS8(pem, alg), alg, kid: keyId(key) })));
}
