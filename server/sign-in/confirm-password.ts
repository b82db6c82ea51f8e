import type { User } from '../account/index.ts';
import { malformedSecret } from '../http/index.ts';
import type { GuessLimit } from '../metrics/index.ts';
import { admitGuess, type GuessLimits, mostPasswordCharacters, type PasswordHasher } from '../password/index.ts';
import type { KeyValueStore } from '../store/index.ts';

export type PasswordConfirmed =
  | { kind: 'right' }
  | { kind: 'empty' }
  | { kind: 'wrong' }
  | { kind: 'too-many'; limit: GuessLimit; retryAfterMs: number };

/**
 * Checks the password of a member who is signed in. Guesses count as those at the sign-in do, so that an open browser is no
 * better place to guess.
 * @throws {PasswordQueueFull}
 */
export async function confirmPassword(
  { kv, limits, passwords }: { kv: KeyValueStore; limits: GuessLimits; passwords: PasswordHasher },
  user: User,
  password: string,
  from: { ip: string; device: string | undefined },
): Promise<PasswordConfirmed> {
  if (password === '') return { kind: 'empty' };
  if (malformedSecret(password, mostPasswordCharacters)) return { kind: 'wrong' };
  const admission = await admitGuess(kv, limits, { identifier: user.email, ...from });
  if (!admission.admitted) return { kind: 'too-many', limit: admission.limit, retryAfterMs: admission.retryAfterMs };
  const right = await passwords.verify(user.passwordHash, password).catch(async (error: unknown) => {
    await admission.uncount();
    throw error;
  });
  if (!right) return { kind: 'wrong' };
  await admission.uncount();
  return { kind: 'right' };
}
