import { z } from 'zod';
import type { TextKey } from '../../locales/index.ts';
import { emailControl, type FormErrors, filledSchema, formField, readTexts, type T } from '../http/index.ts';
import { type PasswordFault, passwordErrorText, passwordFaults } from '../password/index.ts';
import { maxNameLength, normaliseEmail } from '../users/index.ts';

const empty = 'signUp.errors.empty';
const malformed = 'signUp.errors.validation';

const nameField = (name: string, autoComplete: string) =>
  formField(name, {
    schema: filledSchema({ max: maxNameLength, empty, malformed }),
    type: 'text',
    autoComplete,
  });

/** Longer than any address, plus a margin for a typing error. */
export const maxEmailCharacters = 320;

const emailSchema = filledSchema({ max: maxEmailCharacters, empty, malformed })
  .refine((text) => text === '' || normaliseEmail(text), { error: 'signUp.errors.email' satisfies TextKey })
  .transform((text) => normaliseEmail(text) ?? z.NEVER);

/** The form of step PROFILE; the rules for passwords compare its fields. */
export const profileForm = {
  givenName: nameField('given_name', 'given-name'),
  familyName: nameField('family_name', 'family-name'),
  email: formField('email', { schema: emailSchema, ...emailControl }),
  password: formField('password', {
    schema: z.string().min(1, { error: empty satisfies TextKey }),
    isSecret: true,
    autoComplete: 'new-password',
  }),
};

/** The typed input of a sign-up; texts as they came. */
export type ProfileInput = Record<keyof typeof profileForm, string>;

/** The faults of the input, in words (the specification's section 5). */
export interface ProfileFaults {
  errors: FormErrors<typeof profileForm>;
  /** Above the form. */
  text?: string | undefined;
  /** The faults of the typed password. */
  password: PasswordFault[];
}

/** Reads the input: names trimmed, the address normalized, the password unchanged. */
export function readProfile(typed: ProfileInput, t: T) {
  const { values, errors, text } = readTexts(profileForm, typed, t);
  const password = typed.password === '' ? [] : passwordFaults(typed.password, typed);
  if (password.length === 0) return { values, errors, text, password };
  return { text, ...refusedPassword(password, t, errors), values: undefined };
}

/** The faults of a password. @param others those of the other fields */
export const refusedPassword = (
  password: PasswordFault[],
  t: T,
  others: ProfileFaults['errors'] = {},
): ProfileFaults => ({
  errors: { ...others, password: passwordErrorText(t, password) },
  ...(password.includes('malformed') && { text: t(malformed) }),
  password,
});
