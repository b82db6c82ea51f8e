import { claimsByScope, claimsFor, profileFieldNames, profileFields, type User } from '../../server/users/index.ts';
import { mapUserData } from '../../server/users/profile-fields.ts';
import { aUser } from '../contract/rows.ts';

const fields = profileFieldNames.map((name) => profileFields[name]);
const attributesWith = (claim: boolean) =>
  fields.filter((field) => field.claim === claim).map(({ attribute }) => attribute);
const everyClaim = Object.values(claimsByScope).flat();

/** A user with a value in each field. */
const user: User = {
  ...aUser(),
  ...mapUserData((name) => `the ${name}`),
  gender: '1',
  newsletter: true,
  emailVerified: true,
  phoneVerified: false,
  secondFactorRequired: false,
};

describe('The fields of the profile as claims', () => {
  it('Client apps get these fields of the profile as claims, and no others', () => {
    expect(attributesWith(true)).toEqual([
      ...['given_name', 'family_name', 'preferred_username', 'birthdate', 'gender', 'address'],
      ...[
        'custom:companyName',
        'custom:jobTitle',
        'nickname',
        'middle_name',
        'website',
        'profile',
        'locale',
        'zoneinfo',
      ],
    ]);
    expect(everyClaim).toEqual(expect.arrayContaining(attributesWith(true)));
  });

  it('A field of the profile without the option `claim` is in no scope and in no claims, whatever its name', () => {
    const without = attributesWith(false);
    expect(without).toContain('custom:newsletter');
    expect(everyClaim.filter((claim) => without.includes(claim))).toEqual([]);
    const claims = claimsFor(user, new Set(Object.keys(claimsByScope)), { plan: undefined, entitlements: [] });
    expect(Object.keys(claims)).toEqual(expect.arrayContaining(attributesWith(true)));
    expect(Object.keys(claims).filter((claim) => without.includes(claim))).toEqual([]);
  });
});
