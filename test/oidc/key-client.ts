import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import type { PrivateKey } from 'openid-client';
import type { ClientRequest } from '../../server/oidc/index.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty } from '../support/relying-party.ts';

export type SigningAlgorithm = 'ES256' | 'PS256' | 'RS256' | 'EdDSA';

/** A key pair of a client app: `jwk` is the public key. */
export async function clientKey(alg: SigningAlgorithm = 'ES256', kid = 'k1') {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { key: privateKey, kid, jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig' } };
}

export const secondsFromNow = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

/** The parameters in the address of a request. */
export const parametersOf = (url: string) => Object.fromEntries(new URL(url).searchParams);

export interface KeyClient {
  client: RelyingParty;
  key: PrivateKey & { kid: string };
  /** Signs a JWT from this client app to Foyer; `claims` and `header` replace correct values. */
  sign(claims: JWTPayload, header?: Partial<JWTHeaderParameters>, key?: CryptoKey): Promise<string>;
}

/** A client app that authenticates and signs with a key. */
export async function keyClient(foyer: TestFoyer, request: Partial<ClientRequest> = {}): Promise<KeyClient> {
  const { key, kid, jwk } = await clientKey();
  const registered = await foyer.addClient({ jwks: { keys: [jwk] }, ...request });
  const client = await relyingParty(foyer, { ...registered, key: { key, kid } });
  return {
    client,
    key: { key, kid },
    sign: (claims, header = {}, by = key) =>
      new SignJWT({
        iss: client.id,
        aud: foyer.url,
        iat: secondsFromNow(0),
        nbf: secondsFromNow(0),
        exp: secondsFromNow(300),
        jti: randomUUID(),
        ...claims,
      })
        .setProtectedHeader({ alg: 'ES256', kid, ...header })
        .sign(by),
  };
}
