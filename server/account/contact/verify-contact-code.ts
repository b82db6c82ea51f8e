import { normaliseCode, type Origin } from '../../messages/index.ts';
import type { FlowId } from '../../shared/index.ts';
import type { ContactDeps } from './contact-deps.ts';
import { consumeContactGuess } from './contact-limits.ts';
import type { PendingContactChange } from './pending-contact-changes.ts';

/** No code is sent for now: `wait`: one was sent a moment ago; `daily-cap`: the daily limit is reached. */
export type CodeThrottled = { kind: 'too-many' | 'too-soon' | 'daily-limit'; retryAfterMs: number };

export type ResendCodeResult =
  | { kind: 'sent' }
  /** No change was started here, or it is over. */
  | { kind: 'not-found' }
  | { kind: 'refused'; refusal: CodeThrottled };

export type CodeRejection =
  /** Fewer than six digits: not checked. */
  | { kind: 'incomplete' }
  | { kind: 'incorrect' }
  /** The code was used or replaced, has expired, or has had too many attempts. */
  | { kind: 'invalidated' }
  | { kind: 'too-many'; retryAfterMs: number }
  /** Another user has it; the reader of this error has just proven access to it. */
  | { kind: 'already-in-use' }
  /** No change was started here, it has expired, or the password has changed since. */
  | { kind: 'not-found' };

/** A typed code of a flow. */
export interface ContactCode {
  id: FlowId;
  typed: string;
  from: Origin;
}

/** Checks a typed code of a flow; the right one is used up. @returns undefined if it is right */
export async function verifyContactCode(
  { kv, codes }: Pick<ContactDeps, 'kv' | 'codes'>,
  { id, flow }: { id: FlowId; flow: PendingContactChange },
  { typed, ip }: { typed: string; ip: string },
): Promise<CodeRejection | undefined> {
  const code = normaliseCode(typed);
  if (code === undefined) return { kind: 'incomplete' };
  const { kind, userId, to } = flow;
  const decision = await consumeContactGuess(kv, kind, { userId, ip });
  if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
  const check = await codes.check({ purpose: `change-${kind}`, flow: id, account: to }, code);
  if (check !== 'correct') return { kind: check === 'incorrect' ? 'incorrect' : 'invalidated' };
  // It has no recipient, so a guessed code has no effect either.
  if (flow.decoy) return { kind: 'incorrect' };
  await decision.release();
  return undefined;
}
