import { getRequestOrigin, HttpError, readTexts, toRefusalError, translator } from '../../http/index.ts';
import { isKeyIn, keysIn } from '../../shared/index.ts';
import { profileFields, type SaveProfile } from '../../users/index.ts';
import { type SaveProfileDeps, saveProfile, saveProfileRefusals } from './save-profile.ts';

/** The texts of the JSON API. */
const t = translator('en');

/** Changes a profile for a call of the JSON API, as the settings page does for its form. */
export function profileSaver(deps: SaveProfileDeps): SaveProfile {
  return async (user, { req, typed, names, preferredLanguage, alongside }) => {
    const sent = keysIn(typed).flatMap((name) => {
      const text = typed[name];
      return text === undefined ? [] : [{ name, text }];
    });
    const form = Object.fromEntries(sent.map(({ name }) => [name, profileFields[name]]));
    const texts = Object.fromEntries(sent.map(({ name, text }) => [name, text]));
    const { errors, values: change } = readTexts(form, texts, t);
    const withheld = sent.filter(({ name }) => deps.withheldFields.has(name));
    if (withheld.length > 0) {
      throw new HttpError('validation', {
        detail: 'fields that are not switched on',
        invalidParams: withheld.map(({ name }) => ({
          name: `body.${names[name] ?? name}`,
          detail: 'not switched on',
        })),
      });
    }
    if (change === undefined) {
      const invalidParams = Object.entries(errors).flatMap(([field, detail]) => {
        const name = isKeyIn(names, field) ? names[field] : undefined;
        return name === undefined || detail === undefined ? [] : [{ name: `body.${name}`, detail }];
      });
      throw new HttpError('validation', {
        publicDetail: t('settings.TAB_USER_DATA_MESSAGE_EROR'),
        detail: invalidParams.map(({ name }) => name).join(', '),
        invalidParams,
      });
    }
    const saved = await saveProfile(deps, user, {
      change: { ...change, preferredLanguage },
      from: getRequestOrigin(req),
      alongside,
    });
    if (saved.kind === 'refused') throw toRefusalError(saveProfileRefusals, saved.refusal);
  };
}
