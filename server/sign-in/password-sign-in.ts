import {
  checkPassword,
  type GuessLimits,
  type PasswordHasher,
  PasswordQueueFullError,
  type PasswordWork,
} from '../password/index.ts';
import type { NormalisedEmail } from '../shared/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import { findUserByIdentifier, parseIdentifier, rehashPassword, toAccountKey, type User } from '../users/index.ts';
import { type Candidates, type PasswordSignInResult, type PendingSignUp, refuse, transition } from './sign-in-state.ts';

interface Credentials {
  username: string;
  password: string;
}

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

async function findCandidates(settings: Settings, username: string): Promise<Candidates> {
  const identifier = parseIdentifier(username);
  const user = identifier && (await findUserByIdentifier(settings.database.db, identifier));
  const mayBeStarted = identifier && 'email' in identifier && (!user || settings.uniformAnswers);
  const started = mayBeStarted ? await settings.findUnverifiedAccount?.(identifier.email) : undefined;
  return { user, started };
}

/**
 * Checks an e-mail address or phone number with its password. The order of the checks matters: without the right
 * password a caller learns nothing about a user beyond what the configuration allows.
 * @throws {PasswordQueueFullError} if too many checks are already waiting
 */
export async function signInByPassword(
  settings: Settings,
  { username, password }: Credentials,
  from: { ip: string; device(user: User): string | undefined; onRefused(user: User): Promise<void> },
): Promise<PasswordSignInResult> {
  const candidates = await findCandidates(settings, username);
  const { user } = candidates;
  const work = { account: toAccountKey(username), ip: from.ip, device: user && from.device(user) };
  const isConfirmed = (found: User | PendingSignUp) => found === user;
  const guess = { identifier: work.account, userId: user?.id, ip: work.ip, device: work.device, isConfirmed };
  const checked = await checkPassword(settings, guess, () => matchAccount(settings, candidates, { password, work }));
  if (user && (checked.kind !== 'correct' || checked.found !== user)) await from.onRefused(user);
  if (checked.kind === 'too-many') return refuse(checked);
  const { slowed } = checked;
  const owner = checked.kind === 'correct' ? checked.found : undefined;
  if (user && owner === user && !slowed) await rehashOutdated(settings, user, { password, work });
  const { uniformAnswers } = settings;
  return transition({ kind: 'signed-out' }, { kind: 'password-checked', candidates, owner, slowed, uniformAnswers });
}

/**
 * Finds the account with this password. One hash is always checked. A second is checked only with uniform answers and
 * only if a sign-up with the address exists: the visitor who started it must not learn from a sign-in whether the
 * address also belongs to a user.
 */
async function matchAccount(
  { passwords, uniformAnswers }: Settings,
  { user, started }: Candidates,
  { password, work }: { password: string; work: PasswordWork },
): Promise<User | PendingSignUp | undefined> {
  const first = user ?? (uniformAnswers ? undefined : started);
  if (await passwords.verify(first?.passwordHash ?? null, password, work)) return first;
  if (!uniformAnswers || !started) return undefined;
  return (await passwords.verify(started.passwordHash, password, work)) ? started : undefined;
}

/** Replaces an imported hash, or one with another key or cost, now that its password is known. */
async function rehashOutdated(
  { database, passwords }: Settings,
  user: User,
  { password, work }: { password: string; work: PasswordWork },
): Promise<void> {
  const isOutdated = user.passwordHash !== null && passwords.isOutdated?.(user.passwordHash) === true;
  if (user.passwordProfile === null && !isOutdated) return;
  try {
    await rehashPassword(database.db, user, await passwords.hash(password, work));
  } catch (error) {
    // The next sign-in does it. Errors other than a full queue are not ignored.
    if (!(error instanceof PasswordQueueFullError)) throw error;
  }
}
