import { normaliseCode } from '../codes/index.ts';
import type { ContactDeps } from './deps.ts';
import { consumeContactGuess } from './limits.ts';
import type { PendingContactChange } from './pending-contact-changes.ts';

/** No code is sent, for now: `wait`: one was sent a moment ago; `daily-cap`: there were too many today. */
export type CodeThrottled = { kind: 'too-many' | 'wait' | 'daily-cap'; retryAfterMs: number };

export type ResendCodeResult =
  | { kind: 'sent' }
  /** Nothing was asked for here, or it is over. */
  | { kind: 'gone' }
  | { kind: 'refused'; refusal: CodeThrottled };

export type CodeRejection =
  /** Fewer than six digits: nothing was looked at. */
  | { kind: 'incomplete' }
  | { kind: 'wrong' }
  /** The code is used up, replaced or too old, or was guessed at too often. */
  | { kind: 'void' }
  | { kind: 'too-many'; retryAfterMs: number }
  /** Another member has it; whoever is told so has just shown that it reaches them. */
  | { kind: 'taken' }
  /** Nothing was asked for here, it is too long ago, or the password has changed since. */
  | { kind: 'gone' };

/** Judges a typed code of a flow; the right one is used up. @returns undefined when it is right */
export async function verifyContactCode(
  { kv, codes }: Pick<ContactDeps, 'kv' | 'codes'>,
  { id, flow }: { id: string; flow: PendingContactChange },
  typed: string,
  ip: string,
): Promise<CodeRejection | undefined> {
  const code = normaliseCode(typed);
  if (code === undefined) return { kind: 'incomplete' };
  const { kind, userId, to } = flow;
  const decision = await consumeContactGuess(kv, kind, { userId, ip });
  if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
  const check = await codes.check({ purpose: `change-${kind}`, flow: id, account: to }, code);
  if (check !== 'right') return { kind: check === 'wrong' ? 'wrong' : 'void' };
  // Its code went to nobody; one that was guessed opens nothing either.
  if (flow.decoy) return { kind: 'wrong' };
  await decision.release();
  return undefined;
}
