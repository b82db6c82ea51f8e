import { readFileSync } from 'node:fs';
import { languages, translator } from '../../server/http/index.ts';
import { noticeDurationsMs } from '../../views/parts/notice-durations.ts';
import { specificationTexts } from './specification-texts.ts';

it.each(specificationTexts)('The text %s reads “%s”', (key, text) => {
  expect(translator('en')(key)).toBe(text);
});

it('Every text of the specification is translated, and none is English in another language by mistake', () => {
  // Words that another language has taken over as they are.
  const alike = new Set(['common.steps.profile', 'common.steps.plan', 'codes.wrong']);
  const same = specificationTexts.flatMap(([key, text]) =>
    languages
      .filter((lang) => lang !== 'en' && translator(lang)(key) === text && !alike.has(key))
      .map((lang) => `${lang} ${key}`),
  );
  expect(same).toEqual([]);
});

it('The terms have the keys of the specification', () => {
  for (const name of ['RESIGN', 'ACCEPTED', 'ERROR', 'DECLINE'] as const) {
    for (const lang of languages) expect(translator(lang)(`terms.TERMS_OF_SERVICE_MESSAGE_${name}`)).not.toBe('');
  }
});

it('The settings report the result of a change by the keys of the specification', () => {
  const keys = [
    'settings.TAB_USER_DATA_MESSAGE_EROR',
    'settings.TAB_USER_DATA_MESSAGE_UPDATE_ATTRIBUTE_SUCCESS',
    'password.change.CHANGE_PASSWORD_MESSAGE_EROR',
  ] as const;
  for (const lang of languages) {
    const said = keys.map((key) => translator(lang)(key));
    expect(new Set(said).size).toBe(keys.length);
    for (const text of said) expect(text).toMatch(/^\p{Lu}.*\.$/u);
  }
});

it('Notices stay as long as the specification says', () => {
  expect(noticeDurationsMs).toMatchObject({ terms: 5000, redirecting: 1500, short: 2500, profile: 3000, never: null });
});

it.each([
  [
    'the JSON API says so of an address that is taken',
    'server/sign-up/sign-up-texts.ts',
    'An account with the given email already exists.',
  ],
  ['and of a token that was revoked', 'server/oidc/api-token.ts', 'Access Token has been revoked'],
  ['and of an account without a password', 'server/sign-up/sign-up-texts.ts', 'Password cannot be empty.'],
])('The source has the text of the specification: %s', (_name, file, text) => {
  expect(readFileSync(file, 'utf8')).toContain(text);
});
