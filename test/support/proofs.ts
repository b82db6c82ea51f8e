import { createHash, randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose';

export interface ProofKey {
  privateKey: CryptoKey;
  publicKey: CryptoKey;
}

export const newKey = (): Promise<ProofKey> => generateKeyPair('ES256', { extractable: true });

/** A DPoP proof (RFC 9449, section 4.2); `claims` and `header` replace correct values. */
export async function proof(
  key: ProofKey,
  { htm, htu, accessToken, nonce }: { htm: string; htu: string; accessToken?: string; nonce?: string | undefined },
  claims: Record<string, unknown> = {},
  header: Partial<JWTHeaderParameters> = {},
): Promise<string> {
  const { kty, crv, x, y } = await exportJWK(key.publicKey);
  const payload = {
    htm,
    htu,
    jti: randomUUID(),
    iat: Math.floor(Date.now() / 1000),
    ...(accessToken !== undefined && { ath: createHash('sha256').update(accessToken).digest('base64url') }),
    ...(nonce !== undefined && { nonce }),
    ...claims,
  };
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: { kty, crv, x, y } as never, ...header })
    .sign(key.privateKey);
}
