import { consumeLimits, type LimitDecision, type LimitStore, type RateLimits, toCounterKey } from '../http/index.ts';
import type { GuessLimit, KeyedDigest, UserId } from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import type { User } from '../users/index.ts';
import type { PasswordWork } from './queue.ts';

/** Limits of password attempts, checks and resets. */
export interface GuessLimits
  extends Pick<
    RateLimits,
    | 'passwordGuess'
    | 'knownDevicePasswordGuess'
    | 'passwordCheck'
    | 'knownDevicePasswordCheck'
    | 'resetCode'
    | 'knownDeviceResetCode'
    | 'resetCodeGuess'
    | 'knownDeviceResetCodeGuess'
  > {
  /** The name under which an account is counted: addresses and numbers could be found from plain hashes. */
  digest: KeyedDigest;
}

interface PasswordGuess {
  /** The typed identifier, normalized: counted whether or not the user exists, so that the count reveals nothing. */
  identifier: string;
  ip: string;
  /** The known device's id, if this browser has signed in to this account before. */
  device?: string | undefined;
}

type GuessDecision = LimitDecision<'address' | 'account' | 'device' | 'overall'>;

/**
 * Counts a password attempt. A known device is counted separately: whatever strangers do elsewhere, users can still
 * sign in from their own browsers. Parallel sign-ins with the right password leave no count behind.
 */
function consumePasswordGuess(
  kv: LimitStore,
  limits: GuessLimits,
  { identifier, ip, device }: PasswordGuess,
): Promise<GuessDecision> {
  const account = limits.digest(identifier);
  return device === undefined
    ? consumeLimits(kv, limits.passwordGuess, { address: ip, account })
    : consumeLimits(kv, limits.knownDevicePasswordGuess, { device: `${device}:${account}` });
}

/**
 * Counts a request for a code, or an attempt with one, in addition to the limits of `codes` per flow and account. A
 * known device is counted separately, as at the sign-in.
 */
export function consumeResetLimit(
  { kv, limits }: { kv: LimitStore; limits: GuessLimits },
  what: 'ask' | 'guess',
  { ip, device }: { ip: string; device?: string | undefined },
): Promise<GuessDecision> {
  if (device !== undefined) {
    return consumeLimits(kv, what === 'ask' ? limits.knownDeviceResetCode : limits.knownDeviceResetCodeGuess, {
      device,
    });
  }
  return consumeLimits(kv, what === 'ask' ? limits.resetCode : limits.resetCodeGuess, { address: ip });
}

/**
 * Deletes the counts of attempts and of right passwords of a user, who has proven the mailbox and has a new password
 * that no one has tried yet. The earlier right passwords may have been a thief's.
 */
export async function forgetGuesses(
  { kv, limits }: { kv: Pick<KeyValueStore, 'delete'>; limits: GuessLimits },
  { id, email, phone }: Pick<User, 'id' | 'email' | 'phone'>,
): Promise<void> {
  const ofAccount = ({ counters }: GuessLimits['passwordGuess' | 'passwordCheck'], account: string) =>
    counters.filter(({ by }) => by === 'account').map((counter) => toCounterKey(counter, limits.digest(account)));
  const identifiers = [email, ...(phone === null ? [] : [phone])];
  const guesses = identifiers.flatMap((identifier) => ofAccount(limits.passwordGuess, identifier));
  await kv.delete(...guesses, ...ofAccount(limits.passwordCheck, id));
}

/**
 * Counts a password check as work, before it is done; a wrong password counts only as an attempt. Only callers who know
 * the password fill these counters, so they reveal nothing to a stranger.
 */
function admitCheck(
  kv: LimitStore,
  limits: GuessLimits,
  { identifier, userId, device }: PasswordGuess & { userId?: UserId | undefined },
): Promise<GuessDecision> {
  const account = limits.digest(userId ?? identifier);
  return device === undefined
    ? consumeLimits(kv, limits.passwordCheck, { account })
    : consumeLimits(kv, limits.knownDevicePasswordCheck, { device: `${device}:${account}`, account });
}

type Checked<Found> =
  /**
   * `slowed`: the limit for all visitors is used up, and the answer must not distinguish a right password from a wrong
   * one.
   */
  | { kind: 'correct'; found: Found; slowed: boolean }
  | { kind: 'incorrect'; slowed: boolean }
  | { kind: 'too-many'; limit: GuessLimit; retryAfterMs: number };

/**
 * The only way to check a password. It is counted before the check: as an attempt, which a right password releases, and
 * as work, which a wrong one releases. Right passwords cost as much to check as wrong ones.
 * The password of an unconfirmed sign-up stays an attempt and is no work of the account: anyone can start a sign-up
 * with the address of a user, and must not use up that user's limit of right passwords.
 * @param guess.isConfirmed tests whether the found password is that of the account itself; by default it is
 * @param look compares the password (`PasswordHasher.verify`) for the given account and device, and returns its account
 * @throws {PasswordQueueFullError}
 */
export async function checkPassword<Found>(
  { kv, limits }: { kv: LimitStore; limits: GuessLimits },
  guess: PasswordGuess & { userId?: UserId | undefined; isConfirmed?(found: Found): boolean },
  look: (work: PasswordWork) => Promise<Found | undefined>,
): Promise<Checked<Found>> {
  const attempt = await consumePasswordGuess(kv, limits, guess);
  if (!attempt.allowed) return { kind: 'too-many', limit: attempt.limit, retryAfterMs: attempt.retryAfterMs };
  const check = await admitCheck(kv, limits, guess);
  if (!check.allowed) {
    await attempt.release();
    return { kind: 'too-many', limit: check.limit, retryAfterMs: check.retryAfterMs };
  }
  const { identifier: account, ip, device } = guess;
  const found = await look({ account, ip, device }).catch(async (error: unknown) => {
    // A password that was not checked is neither attempt nor work: a full queue must not lock its user out.
    await Promise.all([attempt.release(), check.release()]);
    throw error;
  });
  const { slowed } = attempt;
  const isConfirmed = found !== undefined && (guess.isConfirmed?.(found) ?? true);
  // A right one stays an attempt until the mailbox is proven: the counts must not reveal which passwords are right.
  if (!isConfirmed || slowed) await check.release();
  if (found === undefined) return { kind: 'incorrect', slowed };
  if (isConfirmed && !slowed) await attempt.release();
  return { kind: 'correct', found, slowed };
}
