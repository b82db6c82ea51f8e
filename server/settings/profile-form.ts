import type { Request, Response } from 'express';
import type { PageContext } from '../../views/page-context.ts';
import {
  mostProfileCharacters,
  type ProfileFault,
  type ProfileField,
  readProfile,
  type TypedProfile,
} from '../account/index.ts';
import { setRetryAfter, storeAwaySeconds, type T } from '../http/index.ts';
import { waitText } from '../password/index.ts';
import { originOf } from '../session/index.ts';
import { StoreUnavailable } from '../store/index.ts';
import type { SettingsDeps } from './deps.ts';
import type { SignedIn } from './guard.ts';
import { homeAfter, type SettingsNotice } from './notices.ts';
import { saveProfile } from './save-profile.ts';

const isText = (name: string): name is keyof typeof mostProfileCharacters => Object.hasOwn(mostProfileCharacters, name);

/** What is wrong with a field, in words. */
export function profileFaultText(t: T, name: ProfileField, fault: ProfileFault): string {
  switch (fault) {
    case 'empty':
      return t('settings.errors.empty');
    case 'too-long':
      return t('settings.errors.long', { count: isText(name) ? mostProfileCharacters[name] : 0 });
    case 'characters':
      return t('settings.errors.characters');
    case 'birthdate':
      return t('settings.errors.birthdate');
    case 'choice':
      return t('settings.errors.choice');
  }
}

export type ProfileErrors = Partial<Record<ProfileField, string>>;

/** What a form of profile data shows when it is refused. */
export interface RefusedForm {
  status: number;
  errors: ProfileErrors;
  /** The specification's TAB_USER_DATA_MESSAGE_EROR, and why, where no field says it. */
  problem: { title?: string; text: string };
}

/**
 * Saves a form of profile data and goes home; what is refused, or cannot be stored at the moment, comes back to the form.
 */
export async function submitProfile(
  deps: SettingsDeps,
  req: Request,
  res: Response,
  member: SignedIn,
  form: {
    typed: TypedProfile;
    notice: SettingsNotice;
    refuse: (refused: RefusedForm, ctx: PageContext) => void;
    /** Before the answer, once it is stored. */
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
    const saved = await saveProfile(deps, member.user, { change: read.change, from: originOf(req) });
    if (saved.kind === 'too-many') {
      const text = waitText(ctx.t, 'too-many', saved.retryAfterMs);
      setRetryAfter(res, saved.retryAfterMs);
      return form.refuse({ status: 429, errors: {}, problem: { title: failed, text } }, ctx);
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    deps.log.error({ err: error }, 'a profile could not be stored');
    setRetryAfter(res, storeAwaySeconds * 1000);
    return form.refuse({ status: 503, errors: {}, problem: { title: failed, text: ctx.t('settings.away') } }, ctx);
  }
  form.saved?.();
  res.redirect(303, homeAfter(form.notice));
}
