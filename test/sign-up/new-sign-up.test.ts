import { passwordFaults } from '../../server/password/index.ts';
import { type ProfileFaults, type ProfileInput, parseProfile } from '../../server/sign-up/profile-input.ts';

const policy = { faults: async (...given: Parameters<typeof passwordFaults>) => passwordFaults(...given) };
const good: ProfileInput = {
  givenName: ' Ida ',
  familyName: 'Sommer',
  email: ' Ida.Sommer@Example.com ',
  password: ' open sesame 7 ',
};
const fine: ProfileFaults = { empty: [], email: false, password: [], malformed: false };

describe('parseProfile', () => {
  it('A profile has trimmed names, a normalized address and the password unchanged', async () => {
    expect(await parseProfile(good, policy)).toEqual({
      profile: { givenName: 'Ida', familyName: 'Sommer', email: 'ida.sommer@example.com', password: ' open sesame 7 ' },
    });
  });

  it.each<[string, Partial<ProfileInput>, Partial<ProfileFaults>]>([
    ['no first name', { givenName: ' \t' }, { empty: ['givenName'] }],
    [
      'nothing at all',
      { givenName: '', familyName: '', email: ' ', password: '' },
      { empty: ['givenName', 'familyName', 'email', 'password'] },
    ],
    ['no address', { email: 'ida@' }, { email: true }],
    ['an address without a dot behind the @', { email: 'ida@localhost' }, { email: true }],
    ['an address of letters that only look Latin', { email: 'idа@example.com' }, { email: true }],
    ['an address of 255 characters', { email: `${'i'.repeat(243)}@example.com` }, { email: true }],
    ['a short password', { password: 'x 7' }, { password: ['too-short'] }],
    ['a password with the name in it', { password: '7 SOMMER nights' }, { password: ['contains-personal-data'] }],
    [
      'a password with the address in it',
      { password: 'ida.sommer@example.com' },
      { password: ['contains-personal-data'] },
    ],
    ['a password that everybody has', { password: 'password1' }, { password: ['breached'] }],
    ['a password of 257 characters', { password: 'x7'.repeat(129) }, { malformed: true, password: ['malformed'] }],
    ['a name of 101 characters', { familyName: 'x'.repeat(101) }, { malformed: true }],
    ['a name with a line break', { givenName: 'Ida\r\nBcc: all@example.com' }, { malformed: true }],
    ['a name of half a character', { givenName: 'Ida\ud800' }, { malformed: true }],
    ['an address of thousands of characters', { email: 'i'.repeat(10_000) }, { email: true, malformed: true }],
  ])('A profile is refused with %s', async (_what, typed, faults) => {
    expect(await parseProfile({ ...good, ...typed }, policy)).toEqual({ faults: { ...fine, ...faults } });
  });

  it('Any real name is accepted', async () => {
    for (const givenName of ['Zoë', 'Ngô', 'Jean-Luc', 'D’Arcy', 'محمد', '小明', 'X', 'Dr. Ida', 'x'.repeat(100)]) {
      expect(await parseProfile({ ...good, givenName }, policy)).toMatchObject({ profile: { givenName } });
    }
  });
});
