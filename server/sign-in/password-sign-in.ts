import {
  accountOf,
  findUserByIdentifier,
  identifierOf,
  mostIdentifierCharacters,
  rehashPassword,
  type User,
} from '../account/index.ts';
import { malformed, malformedSecret } from '../http/index.ts';
import type { GuessLimit } from '../metrics/index.ts';
import {
  awaitsPassword,
  checkPassword,
  type GuessLimits,
  mostPasswordCharacters,
  type PasswordHasher,
  PasswordQueueFull,
  type PasswordWork,
} from '../password/index.ts';
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
  | { kind: 'disabled' };

/** Whose password was right, but whose address is not confirmed: an account that was begun, or a member. */
export type NotConfirmed = { kind: 'sign-up'; id: string } | { kind: 'user'; id: string };

export type Outcome =
  | { kind: 'signed-in'; user: User }
  | { kind: 'not-confirmed'; whom: NotConfirmed }
  /** A member who came from another service without a password: to everybody else, a wrong password. */
  | { kind: 'first-password'; user: User }
  /**
   * The limit of all visitors is full: a code by mail is next, whatever the password was.
   * @property user whom to mail it to; undefined: nobody
   */
  | { kind: 'code-due'; user: User | undefined }
  | { kind: 'refused'; refusal: Refusal };

interface Settings {
  database: Database;
  kv: KeyValueStore;
  passwords: PasswordHasher;
  limits: GuessLimits;
  /** One answer for unknown members and wrong passwords. */
  uniformAnswers: boolean;
  /** Injected: the account that was begun last with an address and is not confirmed (sign-up/). */
  begunWith?(email: string): Promise<Begun | undefined>;
}

type Begun = { id: string; passwordHash: string };

/**
 * Checks an e-mail address or phone number with its password. The order of the checks is the rule: nothing is told about
 * a member to somebody who does not know the password, beyond what the configuration allows.
 * @throws {PasswordQueueFull} when too many are being checked already
 */
export async function signInByPassword(
  settings: Settings,
  { username, password }: Credentials,
  from: { ip: string; device(user: User): string | undefined },
): Promise<Outcome> {
  const { database, uniformAnswers } = settings;
  const refuse = (refusal: Refusal): Outcome => ({ kind: 'refused', refusal });
  const typed = username.trim();
  if (typed === '' || password === '')
    return refuse({ kind: 'empty', username: typed === '', password: password === '' });
  if (malformed(typed, mostIdentifierCharacters) || malformedSecret(password, mostPasswordCharacters)) {
    return refuse({ kind: 'malformed' });
  }
  const identifier = identifierOf(typed);
  const user = identifier && (await findUserByIdentifier(database.db, identifier));
  const device = user && from.device(user);
  const isConfirmed = (found: User | Begun) => found === user;
  const guess = { identifier: accountOf(typed), userId: user?.id, ip: from.ip, device, isConfirmed };
  const mayBeBegun = identifier && 'email' in identifier && (!user || uniformAnswers);
  const begun = mayBeBegun ? await settings.begunWith?.(identifier.email) : undefined;
  const checked = await checkPassword(settings, guess, (work) => whoseIs(settings, { password, work }, user, begun));
  if (checked.kind === 'too-many') return refuse(checked);
  const whose = checked.kind === 'right' ? checked.found : undefined;
  if (checked.slowed) {
    const may = user !== undefined && whose === user && user.disabledAt === null && user.emailVerified;
    return { kind: 'code-due', user: may ? user : undefined };
  }
  if (whose === undefined && !user && !begun)
    return refuse({ kind: uniformAnswers ? 'wrong-password' : 'unknown-user' });
  if (whose === undefined && user && awaitsPassword(user)) return { kind: 'first-password', user };
  if (whose === undefined) return refuse({ kind: 'wrong-password' });
  if (whose !== user) return { kind: 'not-confirmed', whom: { kind: 'sign-up', id: whose.id } };
  const isOutdated = user.passwordHash !== null && settings.passwords.isOutdated?.(user.passwordHash) === true;
  if (user.passwordProfile !== null || isOutdated) {
    await rehash(settings, user, { password, work: { account: guess.identifier, ip: from.ip, device } });
  }
  if (user.disabledAt !== null) return refuse({ kind: 'disabled' });
  if (!user.emailVerified) return { kind: 'not-confirmed', whom: { kind: 'user', id: user.id } };
  return { kind: 'signed-in', user };
}

/**
 * Whose password it is. One is checked, whatever there is. Only with uniform answers, and only where an account was begun
 * with the address, a second: whoever began it must not learn from a sign-in whether the address is a member's too.
 */
async function whoseIs(
  { passwords, uniformAnswers }: Settings,
  { password, work }: { password: string; work: PasswordWork },
  user: User | undefined,
  begun: Begun | undefined,
): Promise<User | Begun | undefined> {
  const first = user ?? (uniformAnswers ? undefined : begun);
  if (await passwords.verify(first?.passwordHash ?? null, password, work)) return first;
  if (!uniformAnswers || !begun) return undefined;
  return (await passwords.verify(begun.passwordHash, password, work)) ? begun : undefined;
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
    if (!(error instanceof PasswordQueueFull)) throw error;
  }
}
