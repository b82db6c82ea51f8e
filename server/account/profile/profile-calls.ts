import { getRequestOrigin, HttpError, toRetrySeconds, translator } from '../../http/index.ts';
import { retryAfterText } from '../../password/index.ts';
import { type ProfileField, readProfile, type SaveProfile, type SentProfile, type User } from '../../users/index.ts';
import { profileFaultText } from './profile-form.ts';
import { type SaveProfileDeps, saveProfile } from './save-profile.ts';

/** The texts of the JSON API. */
const t = translator('en');

/** Changes a profile for a call of the JSON API, as the settings page does for its form. */
export function profileSaver(deps: SaveProfileDeps): SaveProfile {
  return async (user: User, { req, typed, names, alongside }: SentProfile) => {
    const read = readProfile(typed, deps.now());
    if ('faults' in read) {
      const invalidParams = (Object.entries(names) as [ProfileField, string][]).flatMap(([field, name]) => {
        const fault = read.faults[field];
        return fault === undefined ? [] : [{ name: `body.${name}`, detail: profileFaultText(t, field, fault) }];
      });
      throw new HttpError('validation', {
        publicDetail: t('settings.TAB_USER_DATA_MESSAGE_EROR'),
        detail: invalidParams.map(({ name }) => name).join(', '),
        invalidParams,
      });
    }
    const saved = await saveProfile(deps, user, { change: read.change, from: getRequestOrigin(req), alongside });
    if (saved.kind === 'too-many') {
      throw new HttpError('tooMany', {
        publicDetail: retryAfterText(t, 'too-many', saved.retryAfterMs),
        detail: 'too many profile changes',
        retryAfterSeconds: toRetrySeconds(saved.retryAfterMs),
      });
    }
  };
}
