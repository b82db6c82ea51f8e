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
import type { NormalisedEmail } from '../shared/index.ts';
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

/** The reason of a refused sign-in; the specification's section 8 has a text for each. */
export type PasswordRefusal =
  | { kind: 'empty'; username: boolean; password: boolean }
  | { kind: 'malformed' }
  | { kind: 'too-many'; limit: GuessLimit; retryAfterMs: number }
  | { kind: 'unknown-user' }
  | { kind: 'wrong-password' }
  | { kind: 'disabled' };

/** The password was right, but the address is unconfirmed: a sign-up or a user. */
export type UnverifiedAccount = { kind: 'sign-up'; id: string } | { kind: 'user'; id: string };

export type PasswordSignInResult =
  | { kind: 'signed-in'; user: User }
  | { kind: 'not-confirmed'; account: UnverifiedAccount }
  /** An imported user without a password; everyone else sees a wrong password. */
  | { kind: 'first-password'; user: User }
  /**
   * The limit for all visitors is used up: a code by mail is next, whatever the password was.
   * @property user the recipient of the mail; undefined: none
   */
  | { kind: 'code-due'; user: User | undefined }
  | { kind: 'refused'; refusal: PasswordRefusal };

interface Settings {
  database: Database;
  kv: KeyValueStore;
  passwords: PasswordHasher;
  limits: GuessLimits;
  /** One answer for unknown users and wrong passwords. */
  uniformAnswers: boolean;
  /** Injected: the newest unconfirmed account with an address (sign-up/). */
  findUnverifiedAccount?(email: NormalisedEmail): Promise<PendingSignUp | undefined>;
}

type PendingSignUp = { id: string; passwordHash: string };

/**
 * Checks an e-mail address or phone number with its password. The order of the checks matters: without the right
 * password a caller learns nothing about a user beyond what the configuration allows.
 * @throws {PasswordQueueFullError} if too many checks are already waiting
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
  const owner = checked.kind === 'correct' ? checked.found : undefined;
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
 * Finds the account with this password. One hash is always checked. A second is checked only with uniform answers and
 * only if a sign-up with the address exists: the visitor who started it must not learn from a sign-in whether the
 * address also belongs to a user.
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

/** Replaces an imported hash, or one with another key or cost, now that its password is known. */
async function rehash(
  { database, passwords }: Settings,
  user: User,
  { password, work }: { password: string; work: PasswordWork },
): Promise<void> {
  try {
    await rehashPassword(database.db, user, await passwords.hash(password, work));
  } catch (error) {
    // The next sign-in does it. Errors other than a full queue are not ignored.
    if (!(error instanceof PasswordQueueFullError)) throw error;
  }
}
