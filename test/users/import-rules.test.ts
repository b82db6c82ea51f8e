import fc from 'fast-check';
import {
  decideImport,
  type ExistingUsers,
  type ImportedUser,
  noExistingUsers,
} from '../../server/users/import-rules.ts';
import { toE164, toNormalisedEmail, toUserId } from '../support/ids.ts';
import { emptyProfile } from '../support/profile.ts';

const newUser = {
  passwordHash: null,
  passwordProfile: null,
  givenName: '',
  familyName: '',
  ...emptyProfile,
  acceptedTosVersion: null,
  picture: null,
  preferredLanguage: null,
  gender: '0',
  newsletter: false,
  disabledAt: null,
  createdAt: 0,
} as const;

/** Few ids, addresses and numbers, so that they meet all the time. */
const comer = fc
  .record({
    id: fc.constantFrom(...['1', '2', '3', '4', '5', '6'].map(toUserId)),
    email: fc.constantFrom(
      ...['a@x.example', 'b@x.example', 'c@x.example', 'd@x.example', 'e@x.example'].map(toNormalisedEmail),
    ),
    emailVerified: fc.boolean(),
    phone: fc.constantFrom(null, toE164('+4911'), toE164('+4922')),
    preferredUsername: fc.constantFrom(null, 'ada', 'vera'),
    phoneVerified: fc.boolean(),
    mfaPreference: fc.constantFrom('none' as const, 'sms' as const),
  })
  .map(
    (given): ImportedUser => ({
      ...newUser,
      ...given,
      phoneVerified: given.phone !== null && given.phoneVerified,
      mfaPreference: given.phone !== null && given.phoneVerified ? given.mfaPreference : 'none',
    }),
  );

const here = (): ExistingUsers => ({
  members: new Map([[toUserId('6'), toNormalisedEmail('e@x.example')]]),
  emails: new Map([
    [toNormalisedEmail('e@x.example'), toUserId('6')],
    // Kept for somebody.
    [toNormalisedEmail('d@x.example'), toUserId('4')],
  ]),
  phones: new Map([[toE164('+4922'), { id: toUserId('6'), verified: true }]]),
  usernames: new Set(['ada']),
  left: new Set([toUserId('5')]),
});

const distinct = (values: readonly unknown[]) => expect(new Set(values).size).toBe(values.length);

describe('decideImport', () => {
  it('An import adds no user twice and takes nothing from existing users', () => {
    fc.assert(
      fc.property(fc.array(comer, { maxLength: 12 }), (coming) => {
        const { outcomes, add, release } = decideImport(coming, here());
        distinct(add.map(({ id }) => id));
        distinct(add.map(({ email }) => email));
        distinct(add.flatMap(({ phone }) => phone ?? []));
        distinct(['ada', ...add.flatMap(({ preferredUsername }) => preferredUsername ?? [])]);
        expect(outcomes.filter(({ kind }) => kind === 'added')).toHaveLength(add.length);
        expect(release).toEqual([]);
        for (const member of add) {
          expect(['5', '6']).not.toContain(member.id);
          expect(member.email).not.toBe('e@x.example');
          expect(member.phone).not.toBe('+4922');
          if (member.email === 'd@x.example') expect(member.id).toBe('4');
          // A second factor has its number.
          if (member.mfaPreference === 'sms') expect(member.phone).not.toBeNull();
        }
      }),
      { numRuns: 500 },
    );
  });

  it('An import gives the same result at once or row by row, and adds no user the second time', () => {
    fc.assert(
      fc.property(fc.array(comer, { maxLength: 12 }), (coming) => {
        const known = here();
        const atOnce = decideImport(coming, known).outcomes;
        const later = here();
        expect(coming.flatMap((one) => decideImport([one], later).outcomes)).toEqual(atOnce);
        const again = decideImport(coming, known);
        expect(again.add).toEqual([]);
        for (const [index, outcome] of atOnce.entries()) {
          if (outcome.kind !== 'refused') expect(again.outcomes[index]).toEqual({ kind: 'there' });
        }
      }),
      { numRuns: 500 },
    );
  });

  it('An unverified number goes to the user who has verified it, and a verified number is never lost', () => {
    const said = {
      ...newUser,
      id: toUserId('1'),
      email: toNormalisedEmail('a@x.example'),
      emailVerified: true,
      phone: toE164('+4911'),
      phoneVerified: false,
    };
    const shown = { ...said, id: toUserId('2'), email: toNormalisedEmail('b@x.example'), phoneVerified: true };
    const [first, second] = [said, shown].map((one): ImportedUser => ({ ...one, mfaPreference: 'none' }));
    if (!first || !second) throw new Error('two were made');
    expect(decideImport([first, second], noExistingUsers()).add).toMatchObject([{ phone: null }, { phone: '+4911' }]);
    expect(decideImport([second, first], noExistingUsers()).add).toMatchObject([{ phone: '+4911' }, { phone: null }]);
    const known = {
      ...noExistingUsers(),
      phones: new Map([[toE164('+4911'), { id: toUserId('9'), verified: false }]]),
    };
    expect(decideImport([second], known).release).toEqual(['9']);
    const carries: ImportedUser = {
      ...second,
      id: toUserId('3'),
      email: toNormalisedEmail('c@x.example'),
      mfaPreference: 'sms',
    };
    expect(decideImport([second, carries], noExistingUsers()).outcomes[1]).toEqual({
      kind: 'refused',
      why: 'phone-taken',
    });
  });
});
