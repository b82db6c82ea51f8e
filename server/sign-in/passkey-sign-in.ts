import { consumeLimits, type LimitStore, type RateLimits } from '../http/index.ts';
import { checkPasskey, type PasskeyDeps, type PasskeyRefusal } from '../passkeys/index.ts';
import type { GuessLimit } from '../shared/index.ts';
import type { User } from '../users/index.ts';

export type PasskeySignInRefusal =
  | { kind: PasskeyRefusal | 'disabled' }
  | { kind: 'too-many'; limit: GuessLimit; retryAfterMs: number };

type PasskeySignInResult =
  | { kind: 'signed-in'; user: User; amr: string[] }
  | { kind: 'not-confirmed'; user: User }
  | { kind: 'refused'; refusal: PasskeySignInRefusal };

/**
 * Checks a browser's answer to the options of the page. A passkey cannot be guessed; the limit per network bounds the
 * work for invalid answers.
 */
export async function signInByPasskey(
  { passkeys, kv, limits }: { passkeys: PasskeyDeps; kv: LimitStore; limits: Pick<RateLimits, 'passkeySignIn'> },
  credential: string,
  ip: string,
): Promise<PasskeySignInResult> {
  const decision = await consumeLimits(kv, limits.passkeySignIn, { address: ip });
  if (!decision.allowed) {
    const { limit, retryAfterMs } = decision;
    return { kind: 'refused', refusal: { kind: 'too-many', limit, retryAfterMs } };
  }
  const check = await checkPasskey(passkeys, credential);
  if (check.kind === 'refused') return { kind: 'refused', refusal: { kind: check.why } };
  await decision.release();
  const { user, amr } = check;
  if (user.disabledAt !== null) return { kind: 'refused', refusal: { kind: 'disabled' } };
  return user.emailVerified ? { kind: 'signed-in', user, amr } : { kind: 'not-confirmed', user };
}
