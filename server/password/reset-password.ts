import type { Language } from '../http/index.ts';
import { codeMinutes, normaliseCode } from '../messages/index.ts';
import { type FlowId, toUserId } from '../shared/index.ts';
import { findUser, type User } from '../users/index.ts';
import type { PasswordRuleDeps } from './deps.ts';
import { forgetGuesses } from './guess-limits.ts';
import { type PasswordFault, passwordFaults } from './policy.ts';
import { replacePassword } from './replace-password.ts';
import { consumeResetLimit } from './reset-limits.ts';
import { isOwnerUnchanged, type ResetRecord } from './reset-records.ts';

export type ResetRefusal =
  /** Unknown, expired, or started under an earlier password: the user must request a code. */
  | { kind: 'no-flow' }
  | { kind: 'too-many'; retryAfterMs: number }
  /** Fewer than six digits: not checked. */
  | { kind: 'incomplete' }
  | { kind: 'incorrect' }
  /** The code was used or replaced, has expired, or has had too many attempts. */
  | { kind: 'invalidated' }
  /** The code was right and need not be entered again. */
  | { kind: 'faults'; faults: PasswordFault[]; proven: boolean };

export type ResetPasswordResult =
  /** The updated user. */
  { kind: 'reset'; user: User } | { kind: 'refused'; refusal: ResetRefusal };

/**
 * Checks the code of a flow. The flow remembers a right code for the lifetime of a code, so that a password that the
 * policy refuses, or a full queue, does not cost the user the code.
 */
async function verifyResetCode(
  deps: PasswordRuleDeps,
  { id, flow }: { id: FlowId; flow: ResetRecord },
  typed: string,
): Promise<ResetRefusal | undefined> {
  const nowMs = deps.now();
  if (isCodeVerified(flow, nowMs)) return undefined;
  const code = normaliseCode(typed);
  if (code === undefined) return { kind: 'incomplete' };
  const check = await deps.codes.check({ purpose: 'reset-password', flow: id, account: flow.account }, code);
  if (check === 'invalidated') return { kind: 'invalidated' };
  // A flow without a user never succeeds, even with a guessed code.
  if (check === 'incorrect' || flow.user === null) return { kind: 'incorrect' };
  await deps.flows.update(id, { ...flow, provenUntilMs: nowMs + codeMinutes * 60_000 });
  return undefined;
}

export const isCodeVerified = ({ provenUntilMs = 0 }: ResetRecord, nowMs: number): boolean => nowMs < provenUntilMs;

/**
 * Sets a new password with a code. It does not sign in and does not remove a second factor. Users without a password
 * (who sign in with a provider) have one afterwards: the code proves the address, which would be enough for a new
 * account too.
 * @throws {PasswordQueueFullError}
 */
export async function resetPassword(
  deps: PasswordRuleDeps,
  id: FlowId,
  { code, password, from }: { code: string; password: string; from: { ip: string; lang: Language } },
): Promise<ResetPasswordResult> {
  const { database, flows, codes, policy, log } = deps;
  const refuse = (refusal: ResetRefusal): ResetPasswordResult => ({ kind: 'refused', refusal });
  const flow = await flows.find(id);
  if (!flow) return refuse({ kind: 'no-flow' });
  const decision = await consumeResetLimit(deps, 'guess', { ip: from.ip, device: flow.device });
  if (!decision.allowed) return refuse({ kind: 'too-many', retryAfterMs: decision.retryAfterMs });
  const member = await findUser(database.db, flow.user?.id ?? toUserId(''));
  if (flow.user !== null && !isOwnerUnchanged(codes, flow, member)) return refuse({ kind: 'no-flow' });
  // A password that is unacceptable for every user is refused before the code is checked.
  const always = passwordFaults(password, { email: '' });
  if (always.length > 0) {
    await decision.release();
    return refuse({ kind: 'faults', faults: always, proven: isCodeVerified(flow, deps.now()) });
  }

  // The other rules compare the user's names, so their result reveals something about the user: the code is checked
  // first.
  const unproven = await verifyResetCode(deps, { id, flow }, code);
  if (unproven) return refuse(unproven);
  if (!member) return refuse({ kind: 'incorrect' });
  const faults = await policy.faults(password, member);
  if (faults.length > 0) {
    // An external service was asked; this limits the requests even of a user who knows the code.
    if (!faults.includes('breached')) await decision.release();
    return refuse({ kind: 'faults', faults, proven: true });
  }
  // Counted until it is done: one code must not fill the password queue.
  const replaced = await replacePassword(deps, member, {
    password,
    emailVerified: true,
    device: flow.device,
    ...from,
  }).finally(decision.release);
  if (!replaced) return refuse({ kind: 'no-flow' });
  log.info({ act: 'password-reset' }, 'password reset');
  await Promise.all([
    flows.delete(id),
    codes.forget({ purpose: 'reset-password', flow: id }),
    forgetGuesses(deps, replaced),
  ]);
  return { kind: 'reset', user: replaced };
}
