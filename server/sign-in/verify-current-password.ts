import { malformedSecret } from '../http/index.ts';
import { checkPassword, type GuessLimits, maxPasswordLength, type PasswordHasher } from '../password/index.ts';
import type { GuessLimit } from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import type { User } from '../users/index.ts';

export type VerifyPasswordResult =
  | { kind: 'correct' }
  | { kind: 'empty' }
  | { kind: 'incorrect' }
  | { kind: 'too-many'; limit: GuessLimit; retryAfterMs: number };

/**
 * Checks the password of a signed-in user. Attempts count like those of the sign-in, so that an open browser is no
 * better place to guess.
 * @throws {PasswordQueueFullError} if too many checks are already waiting
 */
export async function verifyCurrentPassword(
  deps: { kv: KeyValueStore; limits: GuessLimits; passwords: PasswordHasher },
  user: User,
  { password, from }: { password: string; from: { ip: string; device: string | undefined } },
): Promise<VerifyPasswordResult> {
  if (password === '') return { kind: 'empty' };
  if (malformedSecret(password, maxPasswordLength)) return { kind: 'incorrect' };
  const checked = await checkPassword(deps, { identifier: user.email, userId: user.id, ...from }, async (work) =>
    (await deps.passwords.verify(user.passwordHash, password, work)) ? user : undefined,
  );
  return checked.kind === 'too-many' ? checked : { kind: checked.kind };
}
