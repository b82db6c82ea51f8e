import { codeMinutes, normaliseCode } from '../codes/index.ts';
import type { Language } from '../http/index.ts';
import { findUser, type User } from '../users/index.ts';
import type { PasswordRuleDeps } from './deps.ts';
import { forgetGuesses } from './guess-limits.ts';
import { type PasswordFault, passwordFaults } from './policy.ts';
import { replacePassword } from './replace-password.ts';
import { consumeResetLimit } from './reset-limits.ts';
import { isOwnerUnchanged, type ResetRecord } from './reset-records.ts';

export type ResetRefusal =
  /** Unknown, over, or of another password than the present one: a code must be asked for. */
  | { kind: 'no-flow' }
  | { kind: 'too-many'; retryAfterMs: number }
  /** Fewer than six digits: nothing was looked at. */
  | { kind: 'incomplete' }
  | { kind: 'wrong' }
  /** The code is used up, replaced or too old, or was guessed at too often. */
  | { kind: 'void' }
  /** The code was right, and need not be shown again. */
  | { kind: 'faults'; faults: PasswordFault[]; proven: boolean };

export type ResetPasswordResult =
  /** The member as they are now. */
  { kind: 'reset'; user: User } | { kind: 'refused'; refusal: ResetRefusal };

/**
 * Shows that the code of a flow is known. Once it was right, the flow remembers that for as long as a code lives: a password
 * that the policy refuses, or a full queue, does not cost the member the code.
 */
async function verifyResetCode(
  deps: PasswordRuleDeps,
  id: string,
  flow: ResetRecord,
  typed: string,
): Promise<ResetRefusal | undefined> {
  const nowMs = deps.now();
  if (isCodeVerified(flow, nowMs)) return undefined;
  const code = normaliseCode(typed);
  if (code === undefined) return { kind: 'incomplete' };
  const check = await deps.codes.check({ purpose: 'reset-password', flow: id, account: flow.account }, code);
  if (check === 'gone') return { kind: 'void' };
  // A code that went to nobody opens nothing, even when it was guessed.
  if (check === 'wrong' || flow.user === null) return { kind: 'wrong' };
  await deps.flows.update(id, { ...flow, provenUntilMs: nowMs + codeMinutes * 60_000 });
  return undefined;
}

export const isCodeVerified = ({ provenUntilMs = 0 }: ResetRecord, nowMs: number): boolean => nowMs < provenUntilMs;

/**
 * Sets a new password by a code. Nobody is signed in by it, and no second factor is removed. Members without a password (who
 * sign in through a provider) have one afterwards: the address, which would give them one at any sign-up, is proven.
 * @throws {PasswordQueueFull}
 */
export async function resetPassword(
  deps: PasswordRuleDeps,
  id: string,
  { code, password }: { code: string; password: string },
  from: { ip: string; lang: Language },
): Promise<ResetPasswordResult> {
  const { database, kv, limits, flows, codes, policy, log } = deps;
  const refuse = (refusal: ResetRefusal): ResetPasswordResult => ({ kind: 'refused', refusal });
  const flow = await flows.find(id);
  if (!flow) return refuse({ kind: 'no-flow' });
  const decision = await consumeResetLimit(kv, limits, 'guess', { ip: from.ip, device: flow.device });
  if (!decision.allowed) return refuse({ kind: 'too-many', retryAfterMs: decision.retryAfterMs });
  const member = await findUser(database.db, flow.user?.id ?? '');
  if (flow.user !== null && !isOwnerUnchanged(codes, flow, member)) return refuse({ kind: 'no-flow' });
  // What is no password for anybody is refused without a look at the code.
  const always = passwordFaults(password, { email: '' });
  if (always.length > 0) {
    await decision.release();
    return refuse({ kind: 'faults', faults: always, proven: isCodeVerified(flow, deps.now()) });
  }

  // What the rest of the policy says tells something of the member whose names it compares: first the code.
  const unproven = await verifyResetCode(deps, id, flow, code);
  if (unproven) return refuse(unproven);
  if (!member) return refuse({ kind: 'wrong' });
  const faults = await policy.faults(password, member);
  if (faults.length > 0) {
    // Another service was asked: not without end, whoever knows the code.
    if (!faults.includes('breached')) await decision.release();
    return refuse({ kind: 'faults', faults, proven: true });
  }
  // Counted until it is done: one code must not fill the password queue.
  const replaced = await replacePassword(deps, member, {
    ...{ password, emailVerified: true, device: flow.device },
    ...from,
  }).finally(decision.release);
  if (!replaced) return refuse({ kind: 'no-flow' });
  log.info({ act: 'password-reset' }, 'a password was reset');
  await Promise.all([
    flows.delete(id),
    codes.forget({ purpose: 'reset-password', flow: id }),
    forgetGuesses(kv, limits, replaced),
  ]);
  return { kind: 'reset', user: replaced };
}
