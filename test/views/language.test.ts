import { languages, resolveLanguage, translator } from '../../server/http/language.ts';

describe('resolveLanguage', () => {
  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['de-CH', 'de'],
    ['DE-at', 'de'],
    ['fr-BE,fr;q=0.9,en;q=0.8', 'fr'],
    ['nl-NL, en;q=0.7', 'nl'],
    // The most preferred language that we speak counts; a browser that names none of ours gets English.
    ['pl,de;q=0.9', 'de'],
    ['es, fr;q=0.8', 'fr'],
    ['it-IT, de;q=0.8', 'de'],
    ['pl, it;q=0.5', 'en'],
    // Any language will do.
    ['*', 'en'],
    ['*, de;q=0.5', 'en'],
    ['pl, nl;q=0.9, *;q=0.5', 'nl'],
    ['de-CH, fr;q=0.9', 'de'],
    ['zh-Hant-TW, fr;q=0.9', 'fr'],
    ['fr;q=0.5, nl;q=0.5', 'fr'],
    ['fr;q=0.500, nl;q=1.000', 'nl'],
    ['de;q=0.000, fr;q=0.', 'en'],
    // No language begins within a word, and a word with another character is none.
    ['xxde', 'en'],
    ['xx_de, x.fr, nl!', 'en'],
    ['cimode', 'en'],
    // The preferred one, wherever it stands.
    ['en;q=0.3, nl;q=0.9', 'nl'],
    ['en;q=0.3, nl ; q=0.9 ', 'nl'],
    ['de;q=0, fr', 'fr'],
    ['de;q=0', 'en'],
    ['de;q=abc, nl', 'nl'],
    ['de;q=7, nl;q=0.1', 'nl'],
    [',,;q=1,,fr', 'fr'],
    ['../../etc/passwd', 'en'],
    ['constructor', 'en'],
  ])('The header %j gives the language %s', (header, expected) => {
    expect(resolveLanguage(header)).toBe(expected);
  });

  it('A remembered language wins when it is one of Foyer’s', () => {
    expect(resolveLanguage('de', 'nl')).toBe('nl');
    expect(resolveLanguage('de', 'xx')).toBe('de');
    expect(resolveLanguage('de', '')).toBe('de');
    expect(resolveLanguage('de', '__proto__')).toBe('de');
  });

  it('A very long header is answered quickly', () => {
    expect(resolveLanguage(`${'a-,'.repeat(100_000)}de`)).toBe('en');
  });

  it.each([
    ['languages', 'xx,'.repeat(5_000)],
    ['commas', ','.repeat(15_000)],
    ['blanks', `xx${' '.repeat(15_000)},`],
    ['hyphens', `xx${'-'.repeat(15_000)},`],
    ['digits of a weight', `xx;q=0.${'0'.repeat(15_000)},`],
  ])('Text after 500 characters of %s is not read', (_what, start) => {
    expect(resolveLanguage(`${start}de`)).toBe('en');
  });
});

describe('translator', () => {
  it('The translator has every language', () => {
    expect(languages.map((lang) => translator(lang)('signIn.title'))).toEqual([
      'Sign in',
      'Anmelden',
      'Se connecter',
      'Inloggen',
    ]);
  });

  it('The translator has the English error texts of the specification', () => {
    const t = translator('en');
    expect(t('signIn.errors.usernameEmpty')).toBe('Username cannot be empty');
    expect(t('signIn.errors.passwordEmpty')).toBe('Password cannot be empty');
    expect(t('signIn.errors.userDoesNotExist')).toBe('User does not exist.');
    expect(t('signIn.errors.incorrect')).toBe('Incorrect email, phone number or password.');
    expect(t('signIn.errors.disabled')).toBe('User is disabled.');
    expect(t('signIn.errors.validation')).toBe('Validation error detected');
    expect(t('signIn.errors.sessionEnded')).toBe('You’ve been signed out. Please sign in again.');
    expect(t('signIn.passwordHint')).toBe('Password (6 or more characters)');
    expect(t('terms.TERMS_OF_SERVICE_MESSAGE_DECLINE')).toBe('The Terms of Service must be accepted.');
  });

  it('The translator fills in values and chooses plural forms', () => {
    const t = translator('de');
    expect(t('signIn.errors.tooMany', { minutes: 5 })).toContain('5\u00a0Min.');
    expect(t('errors.tooMany.minutes', { count: 1 })).toContain('1 Minute ');
    expect(t('errors.tooMany.minutes', { count: 2 })).toContain('2 Minuten ');
  });

  it('A client name that looks like a placeholder or a reference to another text stays unchanged', () => {
    const clientName = '$t(signIn.errors.incorrect) {{email}} <b>';
    expect(translator('en')('oauth.consent.title', { clientName, email: 'a@b.c' })).toBe(
      `Allow ${clientName} to use your account?`,
    );
  });

  it('A key that does not exist is a type error and is shown as itself', () => {
    // @ts-expect-error: the type check of the tests fails when this line is not an error
    expect(translator('en')('signIn.titel')).toBe('signIn.titel');
  });

  it('The translator refuses a language that it does not have', () => {
    expect(() => translator('xx' as 'en')).toThrow(/xx/);
  });
});
