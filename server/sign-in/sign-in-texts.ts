import { z } from 'zod';
import {
  filledSchema,
  formField,
  type RefusalRules,
  secretSchema,
  type T,
  tickSchema,
  usernameControl,
  wrongInput,
} from '../http/index.ts';
import { limitRefusals, maxPasswordLength } from '../password/index.ts';
import { maxIdentifierLength } from '../users/index.ts';
import type { MailedCodeResult } from './mailed-code.ts';
import type { PasskeySignInRefusal } from './passkey-sign-in.ts';
import type { PasswordRefusal } from './sign-in-state.ts';
import type { VerifyPasswordResult } from './verify-current-password.ts';

const disabled = {
  problem: 'forbidden',
  text: (t: T) => `${t('signIn.errors.disabled')} ${t('signIn.errors.disabledHint')}`,
  apiText: 'signIn.errors.disabled',
} as const;
const tooMany = limitRefusals['too-many'];

const malformed = 'signIn.errors.validation';

/** The form of the sign-in page. */
export const signInForm = {
  username: formField('username', {
    schema: filledSchema({ max: maxIdentifierLength, empty: 'signIn.errors.usernameEmpty', malformed }),
    ...usernameControl,
  }),
  password: formField('password', {
    schema: secretSchema({ max: maxPasswordLength, empty: 'signIn.errors.passwordEmpty', malformed }),
    isSecret: true,
    autoComplete: 'current-password',
  }),
  remember: formField('remember', { schema: tickSchema }),
};

/** The form of re-authentication. The rule refuses an empty password, and a malformed one like a wrong one. */
export const reauthenticateForm = {
  password: formField('password', { schema: z.string(), isSecret: true, autoComplete: 'current-password' }),
};

/** The refusals of a password (the specification's sections 5 and 8). */
export const passwordRefusals: RefusalRules<PasswordRefusal> = {
  'too-many': tooMany,
  'unknown-user': {
    problem: 'validation',
    text: (t) => `${t('signIn.errors.userDoesNotExist')} ${t('signIn.errors.userDoesNotExistHint')}`,
    apiText: 'signIn.errors.userDoesNotExist',
  },
  'wrong-password': wrongInput('signIn.errors.incorrect'),
  disabled,
};

/** The refusals of the password of a signed-in user. */
export const reauthenticationRefusals: RefusalRules<Exclude<VerifyPasswordResult, { kind: 'correct' }>> = {
  empty: wrongInput('signIn.errors.passwordEmpty', 'password'),
  incorrect: wrongInput('signIn.reauthenticate.incorrect', 'password'),
  'too-many': tooMany,
};

export const passkeyRefusals: RefusalRules<PasskeySignInRefusal> = {
  malformed: wrongInput('passkeys.signIn.errors.malformed'),
  expired: wrongInput('passkeys.signIn.errors.expired'),
  unknown: wrongInput('passkeys.signIn.errors.unknown'),
  invalid: wrongInput('passkeys.signIn.errors.invalid'),
  copied: wrongInput('passkeys.signIn.errors.copied'),
  'too-many': tooMany,
  disabled,
};

export const mailedCodeRefusals: RefusalRules<Exclude<MailedCodeResult, { kind: 'correct' | 'not-found' }>> = {
  incomplete: wrongInput('codes.incomplete', 'code'),
  incorrect: wrongInput('codes.wrong', 'code'),
  invalidated: wrongInput('signIn.mailedCode.invalidated', 'code'),
  'too-many': tooMany,
};
