import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import type Provider from 'oidc-provider';
import type { JWK } from 'oidc-provider';

const signInPool = promisify(sign);

/** Signs the claims of an id token as a JWT. */
type SignIdToken = (claims: object) => Promise<string>;

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

const integerBytes = 32;

/**
 * The two integers of a signature with P-256, one behind the other, as JWS has them (RFC 7518, section 3.4). Node can
 * do this itself (`dsaEncoding`), but takes twice as long for the signature then.
 * @param der a sequence of two integers; each has a zero in front if its first bit is set, and no other one
 */
export function joinIntegers(der: Buffer): Buffer {
  const joined = Buffer.alloc(2 * integerBytes);
  const secondAt = 4 + der.readUInt8(3);
  const integers = [der.subarray(4, secondAt), der.subarray(secondAt + 2)];
  for (const [index, integer] of integers.entries()) {
    const digits = integer.subarray(-integerBytes);
    digits.copy(joined, (index + 1) * integerBytes - digits.length);
  }
  return joined;
}

function createSigner({ kid, alg, ...jwk }: JWK): SignIdToken {
  const key: KeyObject = createPrivateKey({ key: jwk, format: 'jwk' });
  const header = encode({ alg, kid });
  return async (claims) => {
    const text = `${header}.${encode(claims)}`;
    const bytes = Buffer.from(text);
    // A signature by ECDSA takes less time than to hand it to another thread; one by RSA takes far more.
    const signature =
      alg === 'ES256' ? joinIntegers(sign('sha256', bytes, key)) : await signInPool('sha256', bytes, key);
    return `${text}.${signature.toString('base64url')}`;
  };
}

const keysByProvider = new WeakMap<Provider, { keys: readonly JWK[]; signers: Map<string, SignIdToken> }>();

/** Keeps the signing keys of a provider for the id tokens that the library does not issue. */
export function keepSigningKeys(provider: Provider, keys: readonly JWK[]): void {
  keysByProvider.set(provider, { keys, signers: new Map() });
}

/**
 * The signer of the provider's present key: the first one of the algorithm, as the library chooses it.
 * @returns undefined if there is no such key
 */
export function findSigner(provider: Provider, alg: 'ES256' | 'RS256'): SignIdToken | undefined {
  const ring = keysByProvider.get(provider);
  const known = ring?.signers.get(alg);
  if (!ring || known) return known;
  const jwk = ring.keys.find((key) => key.alg === alg && key.use === 'sig');
  const signer = jwk && createSigner(jwk);
  if (signer) ring.signers.set(alg, signer);
  return signer;
}
