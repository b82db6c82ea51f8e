import { createPrivateKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';

/** A private key of PROVIDERS_FILE, from PEM (RFC 7468) or from a JWK (RFC 7517). */
export interface PrivateKey {
  key: KeyObject;
  /** Of the JWK. */
  kid?: string | undefined;
  /** Of the JWK: the only algorithm of this key. */
  alg?: string | undefined;
}

const jwk = z.looseObject({
  kty: z.string(),
  d: z.string(),
  kid: z.string().min(1).max(200).optional(),
  alg: z.string().optional(),
});

const minRsaBits = 2048;

/** RS256, PS256, RSA-OAEP; ES256, ECDH-ES. */
function isUsable({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean {
  if (type === 'rsa') return (details?.modulusLength ?? 0) >= minRsaBits;
  return type === 'ec' && details?.namedCurve === 'prime256v1';
}

function parse(text: string): PrivateKey {
  if (!text.startsWith('{')) return { key: createPrivateKey(text) };
  const { kid, alg, ...members } = jwk.parse(JSON.parse(text));
  return { key: createPrivateKey({ key: members, format: 'jwk' }), kid, alg };
}

/** @returns undefined: it is no private key, or none of RSA (2048 bits or more) or P-256 */
export function readPrivateKey(text: string): PrivateKey | undefined {
  try {
    const read = parse(text.trim());
    return isUsable(read.key) ? read : undefined;
  } catch {
    return undefined;
  }
}
