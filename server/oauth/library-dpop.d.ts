/** The library has its check of proofs here, and no types for it. */
declare module 'oidc-provider/lib/helpers/validate_dpop.js' {
  import type Provider from 'oidc-provider';

  interface Proof {
    /** RFC 7638. */
    thumbprint: string;
    jti: string;
    iat: number;
  }
  /** What the two functions read of the library's context, and what they write. */
  export interface ProofContext {
    method: string;
    get(header: string): string;
    set(header: string, value: string): void;
    assert(condition: unknown, error: Error): void;
    oidc: { provider: Provider; route: string; urlFor(route: string): string };
  }
  /** @returns undefined when there is no proof */
  export default function validateDpop(
    provider: Provider,
    ctx: ProofContext,
    accessToken?: string,
  ): Promise<Proof | undefined>;
  /** @throws an error of the given class when the proof was used already */
  export function checkDpopReplay(
    provider: Provider,
    ctx: ProofContext,
    proof: Proof,
    clientId: string,
    ErrorClass: new (message?: string) => Error,
  ): Promise<void>;
}
