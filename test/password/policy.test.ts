import { type PasswordFault, passwordFaults } from '../../server/password/index.ts';

const ada = { email: 'ada@example.com', givenName: 'Ada', familyName: 'Lovelace' };

describe('a new password', () => {
  it.each<[string, PasswordFault[]]>([
    ['open sesame 7', []],
    ['70391846', []],
    ['kdlqpwz!', []],
    ['12345678', ['breached']],
    ['passwort!', ['breached']],
    ['пароль-день', []],
    ['密码密码密码密1', []],
    ['', ['too-short', 'no-number-or-symbol']],
    ['abcdef7', ['too-short']],
    ['abcdefgh', ['no-number-or-symbol']],
    ['open sesame', ['no-number-or-symbol']],
    ['xx-ADA@Example.com-xx', ['contains-personal-data']],
    ['myLOVELACE1', ['contains-personal-data']],
    ['canada 77', ['contains-personal-data']],
    ['Ada', ['too-short', 'no-number-or-symbol', 'contains-personal-data']],
    ['tab\tin it 7', ['malformed']],
    [`${'x7'.repeat(128)}y`, ['malformed']],
    ['lone surrogate \ud800 7', ['malformed']],
  ])('The password %j has the faults %j', (password, faults) => {
    expect(passwordFaults(password, ada)).toEqual(faults);
  });

  it('A password has 8 characters, not 8 code units', () => {
    expect(passwordFaults('😀😀😀😀', ada)).toContain('too-short');
    expect(passwordFaults('😀😀😀😀😀😀😀😀', ada)).toEqual([]);
  });

  it('A password is used unchanged, and spaces at its ends count', () => {
    expect(passwordFaults(' vwxj 7 ', ada)).toEqual([]);
  });

  it('Attack: a name in another composition or case is still found in a password', () => {
    const zoe = { email: 'z@example.com', givenName: 'Zoë', familyName: 'Özil' };
    expect(passwordFaults('1234 zoe\u0308 5678', zoe)).toEqual(['contains-personal-data']);
    expect(passwordFaults('1234 O\u0308ZIL 5678', zoe)).toEqual(['contains-personal-data']);
    expect(passwordFaults('1234 ｚｏë 5678', zoe)).toEqual(['contains-personal-data']);
  });

  it('Missing, empty or one-letter names cause no refusal', () => {
    expect(passwordFaults('open sesame 7', { email: 'ada@example.com' })).toEqual([]);
    expect(passwordFaults('open sesame 7', { email: '', givenName: ' ', familyName: 'E' })).toEqual([]);
  });

  it('A password of 256 characters is accepted', () => {
    expect(passwordFaults('x7'.repeat(128), ada)).toEqual([]);
  });
});
