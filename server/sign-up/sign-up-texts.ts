import { codeForm, defineAction, type RefusalRules, type T } from '../http/index.ts';
import { minuteMs } from '../shared/index.ts';
import type { SignUpRuleDeps } from './deps.ts';
import type { StartSignUpRefusal } from './start-sign-up.ts';
import { type SubmittedCode, type VerifyEmailRefusal, verifyEmail } from './verify-email.ts';

/** 'Too many attempts', with the time in minutes, or in hours if it is long. */
export function tooManyText(t: T, retryAfterMs: number): string {
  const minutes = Math.max(1, Math.ceil(retryAfterMs / minuteMs));
  if (minutes <= 120) return t('signUp.errors.tooManyMinutes', { minutes });
  return t('signUp.errors.tooManyHours', { hours: Math.ceil(minutes / 60) });
}

const tooMany = {
  problem: 'tooMany',
  text: (t: T, { retryAfterMs }: { retryAfterMs: number }) => tooManyText(t, retryAfterMs),
  apiText: null,
} as const;

const alreadyInUse = {
  problem: 'alreadyExists',
  text: 'signUp.errors.alreadyInUse',
  apiText: () => 'An account with the given email already exists.',
} as const;

/** The refusals of step PROFILE (the specification's sections 5 and 8). */
export const startSignUpRefusals: RefusalRules<StartSignUpRefusal> = {
  invalid: {
    problem: 'validation',
    text: 'signUp.errors.validation',
    apiText: (t, { errors, password }) =>
      errors.password !== undefined && password.length === 0
        ? 'Password cannot be empty.'
        : t('signUp.errors.validation'),
  },
  'already-in-use': { ...alreadyInUse, field: 'email' },
  'too-many': tooMany,
  // Its page is loaded again.
  'no-deal': { problem: 'validation', text: 'signUp.errors.validation', apiText: null },
};

/** The refusals of step SECURITY. */
const verifyEmailRefusals: RefusalRules<VerifyEmailRefusal> = {
  incomplete: { problem: 'wrongCode', text: 'codes.incomplete', field: 'code', apiText: 'codes.wrong' },
  incorrect: { problem: 'wrongCode', text: 'codes.wrong', field: 'code' },
  invalidated: { problem: 'codeExpired', text: 'codes.expired', apiText: 'codes.wrong' },
  'already-in-use': alreadyInUse,
  disabled: {
    problem: 'accountDisabled',
    text: (t) => `${t('signUp.errors.disabled')} ${t('signIn.errors.disabledHint')}`,
    apiText: 'signUp.errors.disabled',
  },
  'too-many': tooMany,
  // Its page is loaded again.
  'not-found': { problem: 'unknownFlow', text: 'signUp.errors.expired', apiText: null },
};

/** The code of step SECURITY. */
export const verifyEmailAction = defineAction({
  id: 'verify-email',
  form: codeForm,
  async run(deps: SignUpRuleDeps, caller: Omit<SubmittedCode, 'code'>, { code }) {
    const confirmed = await verifyEmail(deps, { ...caller, code });
    return confirmed.kind === 'confirmed' ? confirmed : { kind: 'refused' as const, refusal: confirmed };
  },
  refusals: verifyEmailRefusals,
});
