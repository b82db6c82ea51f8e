import type { Language } from '../http/index.ts';
import { normaliseCode } from '../messages/index.ts';
import { type FlowId, toUserId } from '../shared/index.ts';
import { findUser, type User } from '../users/index.ts';
import type { PasswordRuleDeps } from './deps.ts';
import { consumeResetLimit, forgetGuesses } from './guess-limits.ts';
import {
  type OpenReset,
  type PasswordResetState,
  type ResetRefused,
  refuse,
  toResetState,
  transition,
} from './password-reset-state.ts';
import { passwordFaults } from './policy.ts';
import { replacePassword } from './replace-password.ts';
import { storeReset } from './request-reset.ts';
import { isOwnerUnchanged } from './reset-records.ts';

type ResetPasswordResult =
  /** The updated user. */
  { kind: 'reset'; user: User } | ResetRefused;

/**
 * Checks the code of a flow. The flow remembers a right code for the lifetime of a code, so that a password that the
 * policy refuses, or a full queue, does not cost the user the code.
 */
async function verifyResetCode(
  deps: PasswordRuleDeps,
  { id, state }: { id: FlowId; state: OpenReset },
  typed: string,
): Promise<PasswordResetState | ResetRefused> {
  if (state.kind === 'code-proven') return state;
  const nowMs = deps.now();
  const code = normaliseCode(typed);
  const owner = { purpose: 'reset-password', flow: id, account: state.flow.account } as const;
  const check = code === undefined ? 'incomplete' : await deps.codes.check(owner, code);
  const next = transition(state, { kind: 'code-checked', check, nowMs });
  await storeReset(deps, id, next);
  return next;
}

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
  const flow = await flows.find(id);
  if (!flow) return refuse({ kind: 'no-flow' });
  const decision = await consumeResetLimit(deps, 'guess', { ip: from.ip, device: flow.device });
  if (!decision.allowed) return refuse({ kind: 'too-many', retryAfterMs: decision.retryAfterMs });
  const state = toResetState(flow, deps.now());
  const member = await findUser(database.db, flow.user?.id ?? toUserId(''));
  if (flow.user !== null && !isOwnerUnchanged(codes, flow, member))
    return transition(state, { kind: 'account-changed' });
  // A password that is unacceptable for every user is refused before the code is checked.
  const usual = transition(state, { kind: 'password-checked', faults: passwordFaults(password, { email: '' }) });
  if (usual.kind === 'refused') {
    await decision.release();
    return usual;
  }

  // The other rules compare the user's names, so their result reveals something about the user: the code is checked
  // first.
  const proven = await verifyResetCode(deps, { id, state }, code);
  if (proven.kind === 'refused') return proven;
  // A decoy is refused by now.
  if (!member) return refuse({ kind: 'incorrect' });
  const faults = await policy.faults(password, member);
  const acceptable = transition(proven, { kind: 'password-checked', faults });
  if (acceptable.kind === 'refused') {
    // An external service was asked; this limits the requests even of a user who knows the code.
    if (!faults.includes('breached')) await decision.release();
    return acceptable;
  }
  // Counted until it is done: one code must not fill the password queue.
  const replaced = await replacePassword(deps, member, {
    password,
    emailVerified: true,
    device: flow.device,
    ...from,
  }).finally(decision.release);
  if (!replaced) return transition(acceptable, { kind: 'account-changed' });
  log.info({ act: 'password-reset' }, 'password reset');
  await Promise.all([
    storeReset(deps, id, transition(acceptable, { kind: 'password-set' })),
    codes.forget({ purpose: 'reset-password', flow: id }),
    forgetGuesses(deps, replaced),
  ]);
  return { kind: 'reset', user: replaced };
}
