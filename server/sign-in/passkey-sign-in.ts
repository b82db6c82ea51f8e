import type { RequestContext } from '../http/index.ts';
import type { GuessLimit } from '../metrics/index.ts';
import { checkPasskey, type PasskeyDeps, type PasskeyRefusal } from '../passkeys/index.ts';
import { consumeLimits, type LimitStore, type RateLimits } from '../rate-limits/index.ts';
import type { User } from '../users/index.ts';

export type PasskeySignInResult =
  | { kind: 'signed-in'; user: User; amr: string[] }
  | { kind: 'not-confirmed'; user: User }
  | {
      kind: 'refused';
      refusal: { kind: PasskeyRefusal | 'disabled' } | { kind: 'too-many'; limit: GuessLimit; retryAfterMs: number };
    };

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

type PasskeyRefusalText = Extract<PasskeySignInResult, { kind: 'refused' }>['refusal'];

/** The text and status for a refused passkey; sets Retry-After if there is one. */
export function passkeyErrorText(r: RequestContext, refusal: PasskeyRefusalText): { status: number; text: string } {
  const { t } = r;
  switch (refusal.kind) {
    case 'too-many': {
      r.setRetryAfter(refusal.retryAfterMs);
      const minutes = Math.max(1, Math.ceil(refusal.retryAfterMs / 60_000));
      return { status: 429, text: t('signIn.errors.tooMany', { minutes }) };
    }
    case 'disabled':
      return { status: 403, text: t('signIn.errors.disabled') };
    default:
      return { status: 400, text: t(`passkeys.signIn.errors.${refusal.kind}`) };
  }
}
