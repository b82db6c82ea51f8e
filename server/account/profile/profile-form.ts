import { type T, unavailableRetrySeconds } from '../../http/index.ts';
import { retryAfterText } from '../../password/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import { StoreUnavailable } from '../../store/index.ts';
import {
  maxProfileLength,
  type ProfileFault,
  type ProfileField,
  readProfile,
  type TypedProfile,
} from '../../users/index.ts';
import type { AccountDeps } from '../deps.ts';
import { accountHomeUrl, type SettingsNotice } from '../notices.ts';
import { saveProfile } from './save-profile.ts';

const isText = (name: string): name is keyof typeof maxProfileLength => Object.hasOwn(maxProfileLength, name);

/** The fault of a field, in words. */
export function profileFaultText(t: T, name: ProfileField, fault: ProfileFault): string {
  switch (fault) {
    case 'empty':
      return t('settings.errors.empty');
    case 'too-long':
      return t('settings.errors.long', { count: isText(name) ? maxProfileLength[name] : 0 });
    case 'characters':
      return t('settings.errors.characters');
    case 'birthdate':
      return t('settings.errors.birthdate');
    case 'choice':
      return t('settings.errors.choice');
  }
}

export type ProfileFieldErrors = Partial<Record<ProfileField, string>>;

/** The view of a refused form of profile data. */
export interface RejectedForm {
  status: number;
  errors: ProfileFieldErrors;
  /** The specification's TAB_USER_DATA_MESSAGE_EROR, and the reason if no field shows it. */
  problem: { title?: string; text: string };
}

/** Saves a form of profile data and redirects home; refused or unsaved input returns to the form. */
export async function submitProfile(
  r: UserRequest,
  deps: AccountDeps,
  form: {
    typed: TypedProfile;
    notice: SettingsNotice;
    refuse: (refused: RejectedForm) => void;
    /** Before the answer, after it is stored. */
    saved?: () => void;
  },
): Promise<void> {
  const { t } = r;
  const failed = t('settings.TAB_USER_DATA_MESSAGE_EROR');
  const read = readProfile(form.typed, deps.now());
  if ('faults' in read) {
    const errors = Object.fromEntries(
      Object.entries(read.faults).map(([name, fault]) => [name, profileFaultText(t, name as ProfileField, fault)]),
    );
    return form.refuse({ status: 400, errors, problem: { text: failed } });
  }
  try {
    const saved = await saveProfile(deps, r.user, { change: read.change, from: r.origin });
    if (saved.kind === 'too-many') {
      const text = retryAfterText(t, 'too-many', saved.retryAfterMs);
      r.setRetryAfter(saved.retryAfterMs);
      return form.refuse({ status: 429, errors: {}, problem: { title: failed, text } });
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    r.log.error({ err: error }, 'could not store a profile');
    r.setRetryAfter(unavailableRetrySeconds * 1000);
    return form.refuse({ status: 503, errors: {}, problem: { title: failed, text: t('settings.unavailable') } });
  }
  form.saved?.();
  r.redirect(accountHomeUrl(form.notice));
}
