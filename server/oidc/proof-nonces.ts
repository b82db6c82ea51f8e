import { hkdfSync, timingSafeEqual } from 'node:crypto';

/** The nonce changes each minute. */
const stepS = 60;
/** A nonce is accepted for two minutes before and after its own. */
const around = [-2, -1, 0, 1, 2];

interface ProofNonces {
  /** The nonce that a client should use next. */
  next(): string;
  isGood(nonce: string): boolean;
}

/**
 * Nonces for DPoP proofs (RFC 9449, section 8): computed from the time and a secret that all processes share, so
 * nothing is stored. They equal those of the provider's own endpoints, because a client keeps one nonce for each origin
 * (section 8.2).
 * @param secret 32 bytes
 */
export function createProofNonces(secret: Buffer): ProofNonces {
  const compute = (step: number): string => {
    const salt = Buffer.alloc(8);
    salt.writeBigInt64BE(BigInt(step));
    return Buffer.from(hkdfSync('sha256', secret, salt, 'DPoP', 32)).toString('base64url');
  };
  const known = new Map<number, string>();
  /** Each is computed once. */
  const of = (step: number): string => {
    const nonce = known.get(step) ?? compute(step);
    known.set(step, nonce);
    for (const old of known.keys()) if (old < step - 2 * around.length) known.delete(old);
    return nonce;
  };
  /** The machine's clock, as the provider's own endpoints use it. */
  const step = () => Math.floor(Date.now() / 1_000 / stepS);
  return {
    next: () => of(step() + 1),
    isGood(nonce) {
      const input = Buffer.from(nonce);
      return around
        .map((offset) => Buffer.from(of(step() + offset)))
        .some((good) => good.length === input.length && timingSafeEqual(good, input));
    },
  };
}
