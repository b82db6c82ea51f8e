import { consumeLimits, type LimitStore, type RateLimits, type RequestContext } from '../http/index.ts';
import { checkPasskey, type PasskeyDeps, type PasskeyRefusal } from '../passkeys/index.ts';
import type { GuessLimit, UserId } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import type { SignInDeps } from './deps.ts';

export type PasskeySignInRefusal =
  | { kind: PasskeyRefusal | 'disabled' }
  | { kind: 'too-many'; limit: GuessLimit; retryAfterMs: number };

type PasskeySignInResult =
  | { kind: 'signed-in'; user: User; amr: string[] }
  | { kind: 'not-confirmed'; user: User }
  /** `userId`: of the passkey. */
  | { kind: 'refused'; refusal: PasskeySignInRefusal; userId?: UserId | undefined };

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
  if (check.kind === 'refused') return { kind: 'refused', refusal: { kind: check.why }, userId: check.passkey?.userId };
  await decision.release();
  const { user, amr } = check;
  if (user.disabledAt !== null) return { kind: 'refused', refusal: { kind: 'disabled' }, userId: user.id };
  return user.emailVerified ? { kind: 'signed-in', user, amr } : { kind: 'not-confirmed', user };
}

type RefusedPasskey = Extract<PasskeySignInResult, { kind: 'refused' }>;

/** For the audit trail: refusals of a known user's passkeys. */
export async function reportRefusedPasskey(
  r: RequestContext,
  { hooks }: Pick<SignInDeps, 'hooks'>,
  { refusal, userId }: RefusedPasskey,
): Promise<void> {
  if (userId === undefined) return;
  await hooks.onSignInRefused({ userId, method: 'passkey', reason: refusal.kind, ip: r.ip });
}
