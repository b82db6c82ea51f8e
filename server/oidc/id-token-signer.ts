import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import type Provider from 'oidc-provider';
import type { JWK } from 'oidc-provider';

const signInPool = promisify(sign);

/** Signs the claims of an id token as a JWT. */
type SignIdToken = (claims: object) => Promise<string>;

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

function createSigner({ kid, alg, ...jwk }: JWK): SignIdToken {
  const key: KeyObject = createPrivateKey({ key: jwk, format: 'jwk' });
  const header = encode({ alg, kid });
  return async (claims) => {
    const text = `${header}.${encode(claims)}`;
    const bytes = Buffer.from(text);
    // A signature by ECDSA takes less time than to hand it to another thread; one by RSA takes far more.
    const signature =
      alg === 'ES256'
        ? sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' })
        : await signInPool('sha256', bytes, key);
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
