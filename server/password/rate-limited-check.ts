import type { GuessLimit } from '../metrics/index.ts';
import type { LimitStore } from '../rate-limits/index.ts';
import type { UserId } from '../shared/index.ts';
import { admitCheck, consumePasswordGuess, type GuessLimits, type PasswordGuess } from './guess-limits.ts';
import type { PasswordWork } from './queue.ts';

export type Checked<Found> =
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
