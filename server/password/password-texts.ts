import { z } from 'zod';
import { type PersonalData, passwordStrength } from '../../views/parts/password-strength.ts';
import {
  type Continuation,
  defineAction,
  expiredCode,
  formField,
  type RefusalRule,
  type RefusalRules,
  type T,
  toRetrySeconds,
  usernameControl,
  wrongCode,
  wrongInput,
} from '../http/index.ts';
import type { ChangePasswordRefusal } from './change-password.ts';
import type { ResetRefusal } from './password-reset-state.ts';
import type { PasswordFault } from './policy.ts';
import { requestReset } from './request-reset.ts';

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

/**
 * The fault of a new password that the checklist beside it shows too: for a form that is refused for another reason.
 * undefined: none, or nothing was typed.
 */
export function strengthErrorText(t: T, password: string, personal: PersonalData): string | undefined {
  if (password === '') return undefined;
  const met = passwordStrength(password, personal);
  if (!met.length) return t(faultKeys['too-short']);
  if (!met.numberOrSymbol) return t(faultKeys['no-number-or-symbol']);
  return met.notPersonal ? undefined : t(faultKeys['contains-personal-data']);
}

type LimitRefusal = { kind: 'too-soon' | 'daily-limit' | 'too-many'; retryAfterMs: number };
const limited: RefusalRule<LimitRefusal> = {
  problem: 'tooMany',
  text: (t, { kind, retryAfterMs }) => retryAfterText(t, kind, retryAfterMs),
};
/** The limits of codes. */
export const limitRefusals: RefusalRules<LimitRefusal> = {
  'too-soon': limited,
  'daily-limit': limited,
  'too-many': limited,
};

const faulty = (field: string): RefusalRule<{ kind: string; faults: readonly PasswordFault[] }> => ({
  problem: 'validation',
  text: (t, { faults }) => passwordErrorText(t, faults),
  field,
});

/** The refusals of a reset (the specification's sections 5 and 8). */
export const resetRefusals: RefusalRules<ResetRefusal> = {
  empty: wrongInput('password.request.empty', 'username'),
  malformed: {
    ...wrongInput('signIn.errors.validation'),
    text: (t) => `${t('signIn.errors.validation')}. ${t('signIn.errors.validationHint')}`,
    apiText: 'signIn.errors.validation',
  },
  'unknown-user': {
    problem: 'unknownMember',
    pageStatus: 400,
    text: 'password.request.unknown',
    apiText: 'signIn.errors.userDoesNotExist',
  },
  disabled: {
    problem: 'accountDisabled',
    text: (t) => `${t('signIn.errors.disabled')} ${t('signIn.errors.disabledHint')}`,
    apiText: 'signIn.errors.disabled',
  },
  'no-flow': expiredCode('codes.expired'),
  incomplete: { ...wrongCode('codes.incomplete', 'code'), apiText: 'codes.wrong' },
  incorrect: wrongCode('codes.wrong', 'code'),
  invalidated: expiredCode('codes.expired', 'code'),
  faults: faulty('password'),
  ...limitRefusals,
};

/** 'Forgot password', of the page and of the JSON API. */
export const forgotPasswordAction = defineAction({
  id: 'forgot-password',
  form: { username: formField('username', { schema: z.string().trim(), ...usernameControl }) },
  run: requestReset,
  refusals: resetRefusals,
});

/** The refusals of a change by the old password. */
export const changePasswordRefusals: RefusalRules<ChangePasswordRefusal> = {
  empty: wrongInput('password.change.CHANGE_PASSWORD_MESSAGE_EROR'),
  'wrong-password': {
    problem: 'wrongPassword',
    text: 'settings.password.wrong',
    field: 'old_password',
    apiText: 'signIn.errors.incorrect',
  },
  faults: faulty('new_password'),
  same: wrongInput('settings.password.same', 'new_password'),
  'too-many': limited,
  meanwhile: { problem: 'changedMeanwhile', text: 'settings.password.meanwhile' },
};

/** The notices of the page for the code. */
export const resetNotices = {
  sent: 'reset-code:sent',
  resent: 'reset-code:resent',
  moved: 'reset-code:moved',
} as const;
