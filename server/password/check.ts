import type { GuessLimit } from '../metrics/index.ts';
import type { LimitStore } from '../rate-limits/index.ts';
import { admitCheck, consumePasswordGuess, type GuessLimits, type PasswordGuess } from './guess-limits.ts';
import type { PasswordWork } from './queue.ts';

export type Checked<Found> =
  /** `slowed`: the limit of all visitors is full, and the answer must not tell a right password from a wrong one. */
  | { kind: 'right'; found: Found; slowed: boolean }
  | { kind: 'wrong'; slowed: boolean }
  | { kind: 'too-many'; limit: GuessLimit; retryAfterMs: number };

/**
 * The one way to a password check. It is counted before the password is looked at: as a guess, which a right password takes
 * back, and as work, which a wrong one takes back. Right passwords cost as much to check as wrong ones.
 *
 * The password of a sign-up that is not confirmed stays a guess and is no work of the account: anyone can begin a sign-up with
 * the address of a member, and must not use up the right passwords of that member.
 * @param guess.isConfirmed whether the password that was found is that of the account itself; by default it is
 * @param look does the work for whom it is told to, and answers whose password it is
 * @throws {PasswordQueueFull}
 */
export async function checkPassword<Found>(
  { kv, limits }: { kv: LimitStore; limits: GuessLimits },
  guess: PasswordGuess & { userId?: string | undefined; isConfirmed?(found: Found): boolean },
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
    // A password that was not looked at was neither guess nor work: a full queue must not lock its member out.
    await Promise.all([attempt.release(), check.release()]);
    throw error;
  });
  const { slowed } = attempt;
  const isConfirmed = found !== undefined && (guess.isConfirmed?.(found) ?? true);
  // A right one stays a guess until the mailbox is proved: which passwords are counted must not tell which are right.
  if (!isConfirmed || slowed) await check.release();
  if (found === undefined) return { kind: 'wrong', slowed };
  if (isConfirmed && !slowed) await attempt.release();
  return { kind: 'right', found, slowed };
}
