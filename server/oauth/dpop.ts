import type { Request, Response } from 'express';
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import validateDpop, { checkDpopReplay, type ProofContext } from 'oidc-provider/lib/helpers/validate_dpop.js';

/** One algorithm is enough: every platform has it, and browsers keep its keys out of scripts' reach (Web Crypto). */
export const proofAlgorithms = ['ES256' as const];

/** The proof of possession that came with a call, checked, but not yet counted as used. */
export interface ShownProof {
  /** Of the key that signed it, as tokens name it in `cnf.jkt`. */
  thumbprint: string;
  /**
   * Uses the proof up.
   * @throws {errors.InvalidToken} when it was used before
   */
  use(clientId: string): Promise<void>;
}

/**
 * Checks the proof of a call of the JSON API (RFC 9449, section 7.1) by the library's own rules, which it has for its
 * own endpoints alone: signature, algorithm, `htm`, `htu`, `ath`, `iat` or nonce. The nonces are the library's too, so
 * that one from the token endpoint is good here: clients keep one for each origin.
 * @param address of the call, without its query
 * @returns undefined when there is none
 * @throws {errors.InvalidDpopProof}
 * @throws {errors.UseDpopNonce} after having set the DPoP-Nonce header
 */
export async function shownProof(
  provider: Provider,
  req: Request,
  res: Response,
  address: string,
  accessToken: string,
): Promise<ShownProof | undefined> {
  const ctx: ProofContext = {
    method: req.method,
    get: (header) => req.get(header) ?? '',
    set: (header, value) => {
      res.setHeader(header, value);
    },
    assert(condition, error) {
      if (!condition) throw error;
    },
    oidc: { provider, route: 'api', urlFor: () => address },
  };
  const proof = await validateDpop(provider, ctx, accessToken);
  return (
    proof && {
      thumbprint: proof.thumbprint,
      use: (clientId) => checkDpopReplay(provider, ctx, proof, clientId, errors.InvalidToken),
    }
  );
}
