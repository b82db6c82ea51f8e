import { type ProfileField, readProfile, type SaveProfile, type SentProfile, type User } from '../account/index.ts';
import { HttpError, retrySeconds, translator } from '../http/index.ts';
import { waitText } from '../password/index.ts';
import { originOf } from '../session/index.ts';
import { profileFaultText } from './profile-form.ts';
import { type SaveDeps, saveProfile } from './save-profile.ts';

/** The texts of the JSON API. */
const t = translator('en');

/** Changes a profile for a call of the JSON API, as the settings page does for its form. */
export function profileSaver(deps: SaveDeps): SaveProfile {
  return async (user: User, { req, typed, names, alongside }: SentProfile) => {
    const read = readProfile(typed, deps.now());
    if ('faults' in read) {
      const faults = (Object.entries(names) as [ProfileField, string][]).flatMap(([field, name]) => {
        const fault = read.faults[field];
        return fault === undefined ? [] : [{ name: `body.${name}`, detail: profileFaultText(t, field, fault) }];
      });
      throw new HttpError('validation', {
        said: t('settings.TAB_USER_DATA_MESSAGE_EROR'),
        detail: faults.map(({ name }) => name).join(', '),
        faults,
      });
    }
    const saved = await saveProfile(deps, user, { change: read.change, from: originOf(req), alongside });
    if (saved.kind === 'too-many') {
      throw new HttpError('tooMany', {
        said: waitText(t, 'too-many', saved.retryAfterMs),
        detail: 'changes of a profile',
        retryAfterSeconds: retrySeconds(saved.retryAfterMs),
      });
    }
  };
}
