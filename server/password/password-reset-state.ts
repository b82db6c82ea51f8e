import { type CodeCheck, codeMinutes } from '../messages/index.ts';
import type { PasswordFault } from './policy.ts';
import type { ResetRecord } from './reset-records.ts';

/** A reset that waits for its code or its password. Page /reset-password. */
export type OpenReset =
  /** A code was sent; it and a password are missing. */
  | { kind: 'code-sent'; flow: ResetRecord }
  /** The same for a name without an account: no code is right, and the answers are those of `code-sent`. */
  | { kind: 'decoy'; flow: ResetRecord }
  /** The code was right and need not be entered again; only a password is missing. */
  | { kind: 'code-proven'; flow: ResetRecord };

/** The reset of one browser, or of one caller of the JSON API. */
export type PasswordResetState =
  /** No code was requested here, or the reset is over. Page /forgot-password, or its form on /reset-password. */
  | { kind: 'none' }
  | OpenReset
  /** The password is set. Page /reset-password/ways-in if factors were added recently, then the sign-in. */
  | { kind: 'reset' };

export type PasswordResetEvent =
  /** A code is requested for a typed name. */
  | {
      kind: 'account-named';
      account: 'active' | 'disabled' | 'unknown-user';
      uniformAnswers: boolean;
      flow: ResetRecord;
    }
  | { kind: 'code-sent'; nowMs: number }
  /** `incomplete`: fewer than six digits, so it was not checked. */
  | { kind: 'code-checked'; check: CodeCheck | 'incomplete'; nowMs: number }
  /** By the rules for every user, and then by those that compare the user's names. */
  | { kind: 'password-checked'; faults: PasswordFault[] }
  /** The password or the address has changed since the code was requested. */
  | { kind: 'account-changed' }
  | { kind: 'password-set' };

export type ResetRefusal =
  | { kind: 'empty' | 'malformed' }
  /** Never with uniform answers. */
  | { kind: 'unknown-user' | 'disabled' }
  /** Unknown, expired, or started under an earlier password: the user must request a code. */
  | { kind: 'no-flow' }
  /** `invalidated`: the code was used or replaced, has expired, or has had too many attempts. */
  | { kind: 'incomplete' | 'incorrect' | 'invalidated' }
  /** `proven`: the code was right and need not be entered again. */
  | { kind: 'faults'; faults: PasswordFault[]; proven: boolean }
  /** A limit stops an event before it reaches the state. */
  | { kind: 'too-soon' | 'daily-limit' | 'too-many'; retryAfterMs: number };

export interface ResetRefused {
  kind: 'refused';
  refusal: ResetRefusal;
}

export const refuse = (refusal: ResetRefusal): ResetRefused => ({ kind: 'refused', refusal });

export const isOpen = (state: PasswordResetState | ResetRefused): state is OpenReset => 'flow' in state;

/** Reads a stored reset. */
export function toResetState(flow: ResetRecord, nowMs: number): OpenReset {
  if (flow.user === null) return { kind: 'decoy', flow };
  return { kind: nowMs < (flow.provenUntilMs ?? 0) ? 'code-proven' : 'code-sent', flow };
}

type EventOfKind<Kind extends PasswordResetEvent['kind']> = Extract<PasswordResetEvent, { kind: Kind }>;
type AccountNamed = EventOfKind<'account-named'>;

/** The only transition of a reset; a refusal leaves the state as it is. Pure. */
export function transition(state: PasswordResetState, event: AccountNamed): OpenReset | ResetRefused;
export function transition(state: PasswordResetState, event: EventOfKind<'account-changed'>): ResetRefused;
export function transition(state: PasswordResetState, event: PasswordResetEvent): PasswordResetState | ResetRefused;
export function transition(state: PasswordResetState, event: PasswordResetEvent): PasswordResetState | ResetRefused {
  // A new request replaces an earlier one.
  if (event.kind === 'account-named') return startReset(event);
  return isOpen(state) ? continueReset(state, event) : refuse({ kind: 'no-flow' });
}

function startReset({ account, uniformAnswers, flow }: AccountNamed): OpenReset | ResetRefused {
  if (account === 'active') return { kind: 'code-sent', flow };
  return uniformAnswers ? { kind: 'decoy', flow } : refuse({ kind: account });
}

function continueReset(
  state: OpenReset,
  event: Exclude<PasswordResetEvent, AccountNamed>,
): PasswordResetState | ResetRefused {
  const isProven = state.kind === 'code-proven';
  switch (event.kind) {
    case 'code-sent':
      return { ...state, flow: { ...state.flow, sentAtMs: event.nowMs } };
    case 'code-checked':
      if (isProven) return state;
      if (event.check !== 'correct') return refuse({ kind: event.check });
      // A guessed code has no effect without an account.
      if (state.kind === 'decoy') return refuse({ kind: 'incorrect' });
      return { kind: 'code-proven', flow: { ...state.flow, provenUntilMs: event.nowMs + codeMinutes * 60_000 } };
    case 'password-checked':
      return event.faults.length === 0 ? state : refuse({ kind: 'faults', faults: event.faults, proven: isProven });
    case 'account-changed':
      return refuse({ kind: 'no-flow' });
    case 'password-set':
      return isProven ? { kind: 'reset' } : refuse({ kind: 'incorrect' });
  }
}
