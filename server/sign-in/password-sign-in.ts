import { isMalformed, malformedSecret } from '../http/index.ts';
import type { GuessLimit } from '../metrics/index.ts';
import {
  checkPassword,
  type GuessLimits,
  maxPasswordLength,
  needsInitialPassword,
  type PasswordHasher,
  PasswordQueueFullError,
  type PasswordWork,
} from '../password/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import {
  findUserByIdentifier,
  maxIdentifierLength,
  parseIdentifier,
  rehashPassword,
  toAccountKey,
  type User,
} from '../users/index.ts';

export interface Credentials {
  username: string;
  password: string;
}

/** Why a sign-in was refused; each has its text in the catalogue of the specification's section 8. */
export type PasswordRefusal =
  | { kind: 'empty'; username: boolean; password: boolean }
  | { kind: 'malformed' }
  | { kind: 'too-many'; limit: GuessLimit; retryAfterMs: number }
  | { kind: 'unknown-user' }
  | { kind: 'wrong-password' }
  | { kind: 'disabled' };

/** Whose password was right, but whose address is not confirmed: an account that was begun, or a member. */
export type UnverifiedAccount = { kind: 'sign-up'; id: string } | { kind: 'user'; id: string };

export type PasswordSignInResult =
  | { kind: 'signed-in'; user: User }
  | { kind: 'not-confirmed'; account: UnverifiedAccount }
  /** A member who came from another service without a password: to everybody else, a wrong password. */
  | { kind: 'first-password'; user: User }
  /**
   * The limit of all visitors is full: a code by mail is next, whatever the password was.
   * @property user whom to mail it to; undefined: nobody
   */
  | { kind: 'code-due'; user: User | undefined }
  | { kind: 'refused'; refusal: PasswordRefusal };

interface Settings {
  database: Database;
  kv: KeyValueStore;
  passwords: PasswordHasher;
  limits: GuessLimits;
  /** One answer for unknown members and wrong passwords. */
  uniformAnswers: boolean;
  /** Injected: the account that was begun last with an address and is not confirmed (sign-up/). */
  findUnverifiedAccount?(email: string): Promise<PendingSignUp | undefined>;
}

type PendingSignUp = { id: string; passwordHash: string };

/**
 * Checks an e-mail address or phone number with its password. The order of the checks is the rule: nothing is told about
 * a member to somebody who does not know the password, beyond what the configuration allows.
 * @throws {PasswordQueueFullError} when too many are being checked already
 */
export async function signInByPassword(
  settings: Settings,
  { username, password }: Credentials,
  from: { ip: string; device(user: User): string | undefined },
): Promise<PasswordSignInResult> {
  const { database, uniformAnswers } = settings;
  const refuse = (refusal: PasswordRefusal): PasswordSignInResult => ({ kind: 'refused', refusal });
  const typed = username.trim();
  if (typed === '' || password === '')
    return refuse({ kind: 'empty', username: typed === '', password: password === '' });
  if (isMalformed(typed, maxIdentifierLength) || malformedSecret(password, maxPasswordLength)) {
    return refuse({ kind: 'malformed' });
  }
  const identifier = parseIdentifier(typed);
  const user = identifier && (await findUserByIdentifier(database.db, identifier));
  const device = user && from.device(user);
  const isConfirmed = (found: User | PendingSignUp) => found === user;
  const guess = { identifier: toAccountKey(typed), userId: user?.id, ip: from.ip, device, isConfirmed };
  const mayBeBegun = identifier && 'email' in identifier && (!user || uniformAnswers);
  const started = mayBeBegun ? await settings.findUnverifiedAccount?.(identifier.email) : undefined;
  const checked = await checkPassword(settings, guess, (work) =>
    matchAccount(settings, { password, work }, user, started),
  );
  if (checked.kind === 'too-many') return refuse(checked);
  const owner = checked.kind === 'right' ? checked.found : undefined;
  if (checked.slowed) {
    const may = user !== undefined && owner === user && user.disabledAt === null && user.emailVerified;
    return { kind: 'code-due', user: may ? user : undefined };
  }
  if (owner === undefined && !user && !started)
    return refuse({ kind: uniformAnswers ? 'wrong-password' : 'unknown-user' });
  if (owner === undefined && user && needsInitialPassword(user)) return { kind: 'first-password', user };
  if (owner === undefined) return refuse({ kind: 'wrong-password' });
  if (owner !== user) return { kind: 'not-confirmed', account: { kind: 'sign-up', id: owner.id } };
  const isOutdated = user.passwordHash !== null && settings.passwords.isOutdated?.(user.passwordHash) === true;
  if (user.passwordProfile !== null || isOutdated) {
    await rehash(settings, user, { password, work: { account: guess.identifier, ip: from.ip, device } });
  }
  if (user.disabledAt !== null) return refuse({ kind: 'disabled' });
  if (!user.emailVerified) return { kind: 'not-confirmed', account: { kind: 'user', id: user.id } };
  return { kind: 'signed-in', user };
}

/**
 * Whose password it is. One is checked, whatever there is. Only with uniform answers, and only where an account was begun
 * with the address, a second: whoever began it must not learn from a sign-in whether the address is a member's too.
 */
async function matchAccount(
  { passwords, uniformAnswers }: Settings,
  { password, work }: { password: string; work: PasswordWork },
  user: User | undefined,
  started: PendingSignUp | undefined,
): Promise<User | PendingSignUp | undefined> {
  const first = user ?? (uniformAnswers ? undefined : started);
  if (await passwords.verify(first?.passwordHash ?? null, password, work)) return first;
  if (!uniformAnswers || !started) return undefined;
  return (await passwords.verify(started.passwordHash, password, work)) ? started : undefined;
}

/** A hash that was made elsewhere, with another key or at another cost gives way to a new one, now that its password is known. */
async function rehash(
  { database, passwords }: Settings,
  user: User,
  { password, work }: { password: string; work: PasswordWork },
): Promise<void> {
  try {
    await rehashPassword(database.db, user, await passwords.hash(password, work));
  } catch (error) {
    // The next sign-in does it. What is more than a full queue is not passed over.
    if (!(error instanceof PasswordQueueFullError)) throw error;
  }
}
