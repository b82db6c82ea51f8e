import type { Request, Response } from 'express';
import { calculateJwkThumbprint, EmbeddedJWK, type JWTVerifyResult, jwtVerify } from 'jose';
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import { type ClientId, sha256 } from '../shared/index.ts';
import { createProofNonces } from './proof-nonces.ts';

/**
 * One algorithm suffices: every platform supports it, and browsers can keep its keys inaccessible to scripts (Web
 * Crypto).
 */
export const proofAlgorithms = ['ES256' as const];

/** A used proof is remembered for as long as its nonce can be valid. */
const usedS = 5 * 60;
/** A typical proof has some hundred bytes, including the key. */
const maxProofCharacters = 4_096;
const maxIdCharacters = 256;

/** The verified proof of possession of a call, not yet recorded as used. */
export interface PresentedProof {
  /** Thumbprint of the key that signed it, as in the token's `cnf.jkt`. */
  thumbprint: string;
  /**
   * Records the proof as used.
   * @throws {errors.InvalidToken} if it was used before
   */
  use(clientId: ClientId): Promise<void>;
}

interface ProofCheck {
  /**
   * @param call its address without the query, and its token
   * @returns undefined if there is no proof
   * @throws {errors.InvalidDpopProof}
   * @throws {errors.UseDpopNonce} after having set the DPoP-Nonce header
   */
  view(
    req: Request,
    res: Response,
    call: { address: string; accessToken: string },
  ): Promise<PresentedProof | undefined>;
}

const refused = (why: string) => new errors.InvalidDpopProof(why);

/**
 * Verifies the proofs of JSON calls (RFC 9449, sections 4.3 and 7.1). The provider verifies those of its own endpoints.
 * @param nonceSecret the provider's, so that a nonce from the token endpoint is valid here
 */
export function createProofCheck(
  provider: () => Pick<Provider, 'ReplayDetection'>,
  { nonceSecret }: { nonceSecret: Buffer },
): ProofCheck {
  const nonces = createProofNonces(nonceSecret);
  return {
    async view(req, res, { address, accessToken }) {
      // Node joins two headers with a comma, which a JWT never contains.
      const proof = req.get('DPoP');
      if (proof === undefined || proof === '') return undefined;
      const { payload, protectedHeader } = await verified(proof);
      const id = checkedId(payload);
      if (typeof payload.iat !== 'number') throw refused('DPoP proof must have a iat number property');
      if (payload.htm !== req.method) throw refused('DPoP proof htm mismatch');
      if (withoutQuery(payload.htu) !== new URL(address).href) throw refused('DPoP proof htu mismatch');
      const hash = sha256(accessToken);
      if (payload.ath !== hash) throw refused('DPoP proof ath mismatch');
      checkNonce(payload.nonce, res);
      const thumbprint = await calculateJwkThumbprint(
        protectedHeader.jwk as Parameters<typeof calculateJwkThumbprint>[0],
      );
      return {
        thumbprint,
        async use(clientId) {
          const until = Math.floor(Date.now() / 1_000) + usedS;
          if (!(await provider().ReplayDetection.unique(clientId, id, until)))
            throw new errors.InvalidToken('DPoP proof JWT Replay detected');
        },
      };
    },
  };

  /** Every proof needs a nonce, so its time is not checked (section 11.1). */
  function checkNonce(nonce: unknown, res: Response): void {
    if (nonce !== undefined && typeof nonce !== 'string') throw refused('DPoP proof nonce must be a string');
    const next = nonces.next();
    if (nonce !== next) res.setHeader('DPoP-Nonce', next);
    if (nonce === undefined || nonce === '') throw new errors.UseDpopNonce('nonce is required in the DPoP proof');
    if (!nonces.isGood(nonce)) throw new errors.UseDpopNonce('invalid nonce in DPoP proof');
  }
}

/** Signed by the public key in its own header, with the required type and algorithm. */
async function verified(proof: string): Promise<JWTVerifyResult> {
  if (proof.length > maxProofCharacters) throw refused('the DPoP proof is too long');
  try {
    return await jwtVerify(proof, EmbeddedJWK, { algorithms: proofAlgorithms, typ: 'dpop+jwt' });
  } catch {
    throw refused('invalid DPoP key binding');
  }
}

function checkedId({ jti }: { jti?: unknown }): string {
  if (typeof jti !== 'string' || jti === '' || jti.length > maxIdCharacters)
    throw refused('DPoP proof must have a jti string property');
  return jti;
}

/** Section 4.3: query and fragment are ignored. */
function withoutQuery(htu: unknown): string | undefined {
  const url = typeof htu === 'string' ? URL.parse(htu) : null;
  if (!url) return undefined;
  url.search = '';
  url.hash = '';
  return url.href;
}
