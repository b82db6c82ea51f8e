import type { Request, Response } from 'express';
import type { PageContext } from '../../views/page-context.ts';
import { setRetryAfter, type T, unavailableRetrySeconds } from '../http/index.ts';
import { retryAfterText } from '../password/index.ts';
import { getRequestOrigin } from '../sessions/index.ts';
import { StoreUnavailable } from '../store/index.ts';
import {
  maxProfileLength,
  type ProfileFault,
  type ProfileField,
  readProfile,
  type TypedProfile,
} from '../users/index.ts';
import type { AccountDeps } from './deps.ts';
import { accountHomeUrl, type SettingsNotice } from './notices.ts';
import type { SignedInUser } from './require-recent-auth.ts';
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
  deps: AccountDeps,
  req: Request,
  res: Response,
  member: SignedInUser,
  form: {
    typed: TypedProfile;
    notice: SettingsNotice;
    refuse: (refused: RejectedForm, ctx: PageContext) => void;
    /** Before the answer, after it is stored. */
    saved?: () => void;
  },
): Promise<void> {
  const ctx = deps.pages.context(req, res);
  const failed = ctx.t('settings.TAB_USER_DATA_MESSAGE_EROR');
  const read = readProfile(form.typed, deps.now());
  if ('faults' in read) {
    const errors = Object.fromEntries(
      Object.entries(read.faults).map(([name, fault]) => [name, profileFaultText(ctx.t, name as ProfileField, fault)]),
    );
    return form.refuse({ status: 400, errors, problem: { text: failed } }, ctx);
  }
  try {
    const saved = await saveProfile(deps, member.user, { change: read.change, from: getRequestOrigin(req) });
    if (saved.kind === 'too-many') {
      const text = retryAfterText(ctx.t, 'too-many', saved.retryAfterMs);
      setRetryAfter(res, saved.retryAfterMs);
      return form.refuse({ status: 429, errors: {}, problem: { title: failed, text } }, ctx);
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    deps.log.error({ err: error }, 'could not store a profile');
    setRetryAfter(res, unavailableRetrySeconds * 1000);
    return form.refuse(
      { status: 503, errors: {}, problem: { title: failed, text: ctx.t('settings.unavailable') } },
      ctx,
    );
  }
  form.saved?.();
  res.redirect(303, accountHomeUrl(form.notice));
}
