import type { ProfileFieldName, ProfilePageProps } from '../../views/sign-up/profile-page.tsx';
import type { T } from '../http/index.ts';
import { passwordErrorText } from '../password/index.ts';
import { minuteMs } from '../shared/index.ts';
import type { ProfileFaults, ProfileInput } from './profile-input.ts';

/** 'Too many attempts', with the time in minutes, or in hours if it is long. */
export function tooManyText(t: T, retryAfterMs: number): string {
  const minutes = Math.max(1, Math.ceil(retryAfterMs / minuteMs));
  if (minutes <= 120) return t('signUp.errors.tooManyMinutes', { minutes });
  return t('signUp.errors.tooManyHours', { hours: Math.ceil(minutes / 60) });
}

/** The names of the fields in forms and calls. */
export const fieldNames = {
  givenName: 'given_name',
  familyName: 'family_name',
  email: 'email',
  password: 'password',
} as const satisfies Record<keyof ProfileInput, ProfileFieldName>;

/** The texts for faults of the input (the specification's section 5). */
export function faultTexts(t: T, faults: ProfileFaults): Pick<ProfilePageProps, 'errors' | 'problem'> {
  return {
    errors: {
      ...(faults.email && { email: t('signUp.errors.email') }),
      ...(faults.password.length > 0 && { password: passwordErrorText(t, faults.password) }),
      ...Object.fromEntries(faults.empty.map((name) => [fieldNames[name], t('signUp.errors.empty')])),
    },
    ...(faults.malformed && { problem: { text: t('signUp.errors.validation') } }),
  };
}
