import { type Continuation, type T, toRetrySeconds } from '../http/index.ts';
import type { ResetRefusal } from './password-reset-state.ts';
import type { PasswordFault } from './policy.ts';

/** A path with the continuation and more parameters. */
export function withParams(path: string, { search }: Continuation, more: Record<string, string> = {}): string {
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(more)) query.set(name, value);
  return query.size > 0 ? `${path}?${query}` : path;
}

/** When to try again, in words for this refusal. */
export function retryAfterText(t: T, why: 'too-soon' | 'daily-limit' | 'too-many', ms: number): string {
  if (why === 'too-soon') return t('password.reset.wait', { seconds: toRetrySeconds(ms) });
  if (why === 'daily-limit')
    return t('password.request.tooManyCodes', { hours: Math.max(1, Math.ceil(ms / 3_600_000)) });
  return t('signIn.errors.tooMany', { minutes: Math.max(1, Math.ceil(ms / 60_000)) });
}

const faultKeys = {
  'too-short': 'password.faults.tooShort',
  'no-number-or-symbol': 'password.faults.noNumberOrSymbol',
  'contains-personal-data': 'password.faults.personal',
  malformed: 'password.faults.malformed',
  breached: 'password.faults.breached',
} as const satisfies Record<PasswordFault, string>;

/** The faults of a new password in words, except those that the checklist beside it shows. */
export function passwordErrorText(t: T, faults: readonly PasswordFault[]): string {
  const [first = 'malformed'] = faults;
  return t(faultKeys[first]);
}

const resetTextKeys = {
  empty: 'password.request.empty',
  malformed: 'signIn.errors.validation',
  'unknown-user': 'password.request.unknown',
  disabled: 'signIn.errors.disabled',
  'no-flow': 'password.reset.codeExpired',
  incomplete: 'password.reset.codeIncomplete',
  incorrect: 'password.reset.codeWrong',
  invalidated: 'password.reset.codeExpired',
} as const satisfies Record<Exclude<ResetRefusal['kind'], 'faults' | 'too-soon' | 'daily-limit' | 'too-many'>, string>;

/** The refusal of a reset in words (the specification's sections 5 and 8). */
export function resetRefusalText(t: T, refusal: ResetRefusal): string {
  if (refusal.kind === 'faults') return passwordErrorText(t, refusal.faults);
  if ('retryAfterMs' in refusal) return retryAfterText(t, refusal.kind, refusal.retryAfterMs);
  return t(resetTextKeys[refusal.kind]);
}
