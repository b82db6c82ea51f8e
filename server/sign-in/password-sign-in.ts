import { findUserByIdentifier, identifierOf, type User } from '../account/index.ts';
import { malformed } from '../http/index.ts';
import type { GuessLimit } from '../metrics/index.ts';
import { admitGuess, type GuessLimits, mostPasswordCharacters, type PasswordHasher } from '../password/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';

export interface Credentials {
  username: string;
  password: string;
}

/** Why a sign-in was refused; each has its text in the catalogue of the specification's section 8. */
export type Refusal =
  | { kind: 'empty'; username: boolean; password: boolean }
  | { kind: 'malformed' }
  | { kind: 'too-many'; limit: GuessLimit; retryAfterMs: number }
  | { kind: 'unknown-user' }
  | { kind: 'wrong-password' }
  | { kind: 'disabled' }
  | { kind: 'not-confirmed' };

export type Outcome = { kind: 'signed-in'; user: User } | { kind: 'refused'; refusal: Refusal };

/** Longer than any address (254) or number. */
const mostUsernameCharacters = 254;

interface Settings {
  database: Database;
  kv: KeyValueStore;
  passwords: PasswordHasher;
  limits: GuessLimits;
  /** One answer for unknown members and wrong passwords. */
  uniformAnswers: boolean;
}

/**
 * Checks an e-mail address or phone number with its password. The order of the checks is the rule: nothing is told about
 * a member to somebody who does not know the password, beyond what the configuration allows.
 * @throws {PasswordQueueFull} when too many are being checked already
 */
export async function signInByPassword(
  { database, kv, passwords, limits, uniformAnswers }: Settings,
  { username, password }: Credentials,
  from: { ip: string; device(user: User): string | undefined },
): Promise<Outcome> {
  const refuse = (refusal: Refusal): Outcome => ({ kind: 'refused', refusal });
  const typed = username.trim();
  if (typed === '' || password === '')
    return refuse({ kind: 'empty', username: typed === '', password: password === '' });
  if (malformed(typed, mostUsernameCharacters) || malformed(password, mostPasswordCharacters)) {
    return refuse({ kind: 'malformed' });
  }
  const identifier = identifierOf(typed);
  const user = identifier && (await findUserByIdentifier(database.db, identifier));
  const admission = await admitGuess(kv, limits, {
    identifier: identifier ? Object.values(identifier).join() : typed.toLowerCase(),
    ip: from.ip,
    device: user && from.device(user),
  });
  if (!admission.admitted) {
    const { limit, retryAfterMs } = admission;
    return refuse({ kind: 'too-many', limit, retryAfterMs });
  }

  const right = await passwords.verify(user?.passwordHash ?? null, password).catch(async (error: unknown) => {
    // A password that nobody looked at was no guess: who waits out a full queue must not be locked out for it.
    await admission.uncount();
    throw error;
  });
  if (!user) return refuse({ kind: uniformAnswers ? 'wrong-password' : 'unknown-user' });
  if (!right) return refuse({ kind: 'wrong-password' });
  await admission.uncount();
  if (user.disabledAt !== null) return refuse({ kind: 'disabled' });
  if (!user.emailVerified) return refuse({ kind: 'not-confirmed' });
  return { kind: 'signed-in', user };
}
