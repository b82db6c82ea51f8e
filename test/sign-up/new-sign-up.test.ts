import { translator } from '../../server/http/index.ts';
import { type ProfileFaults, type ProfileInput, readProfile } from '../../server/sign-up/profile-input.ts';

const t = translator('en');
const good: ProfileInput = {
  givenName: ' Ida ',
  familyName: 'Sommer',
  email: ' Ida.Sommer@Example.com ',
  password: ' open sesame 7 ',
};
const empty = 'Cannot be empty';
const text = 'Validation error detected';
const noAddress = { errors: { email: 'Invalid email address' } };
const personal = 'The password must not contain your name or email address.';

describe('readProfile', () => {
  it('A profile has trimmed names, a normalized address and the password unchanged', () => {
    expect(readProfile(good, t)).toEqual({
      values: { givenName: 'Ida', familyName: 'Sommer', email: 'ida.sommer@example.com', password: ' open sesame 7 ' },
      errors: {},
      password: [],
    });
  });

  it.each<[string, Partial<ProfileInput>, Partial<ProfileFaults>]>([
    ['no first name', { givenName: ' \t' }, { errors: { givenName: empty } }],
    [
      'nothing at all',
      { givenName: '', familyName: '', email: ' ', password: '' },
      { errors: { givenName: empty, familyName: empty, email: empty, password: empty } },
    ],
    ['no address', { email: 'ida@' }, noAddress],
    ['an address without a dot behind the @', { email: 'ida@localhost' }, noAddress],
    ['an address of letters that only look Latin', { email: 'idа@example.com' }, noAddress],
    ['an address of 255 characters', { email: `${'i'.repeat(243)}@example.com` }, noAddress],
    [
      'a short password',
      { password: 'x 7' },
      { password: ['too-short'], errors: { password: 'The password needs at least 8 characters.' } },
    ],
    [
      'a password with the name in it',
      { password: '7 SOMMER nights' },
      { password: ['contains-personal-data'], errors: { password: personal } },
    ],
    [
      'a password with the address in it',
      { password: 'ida.sommer@example.com' },
      { password: ['contains-personal-data'], errors: { password: personal } },
    ],
    [
      'a password that everybody has',
      { password: 'password1' },
      { password: ['breached'], errors: { password: t('password.faults.breached') } },
    ],
    [
      'a password of 257 characters',
      { password: 'x7'.repeat(129) },
      { text, password: ['malformed'], errors: { password: t('password.faults.malformed') } },
    ],
    ['a name of 101 characters', { familyName: 'x'.repeat(101) }, { text }],
    ['a name with a line break', { givenName: 'Ida\r\nBcc: all@example.com' }, { text }],
    ['a name of half a character', { givenName: 'Ida\ud800' }, { text }],
    ['an address of thousands of characters', { email: 'i'.repeat(10_000) }, { text, ...noAddress }],
  ])('A profile is refused with %s', (_what, typed, faults) => {
    expect(readProfile({ ...good, ...typed }, t)).toEqual({
      values: undefined,
      errors: {},
      password: [],
      ...faults,
    });
  });

  it('Any real name is accepted', () => {
    for (const givenName of ['Zoë', 'Ngô', 'Jean-Luc', 'D’Arcy', 'محمد', '小明', 'X', 'Dr. Ida', 'x'.repeat(100)]) {
      expect(readProfile({ ...good, givenName }, t)).toMatchObject({ values: { givenName } });
    }
  });
});
