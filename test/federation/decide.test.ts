import fc from 'fast-check';
import type { UpstreamIdentity } from '../../server/federation/identity.ts';
import type { FederatedIdentity } from '../../server/federation/identity-store.ts';
import { decide, type ProvisioningFacts } from '../../server/federation/provisioning-decision.ts';
import type { User } from '../../server/users/index.ts';
import { toNormalisedEmail, toProviderId, toUserId } from '../support/ids.ts';

const identity: UpstreamIdentity = {
  provider: toProviderId('google'),
  kind: 'google',
  issuer: 'https://accounts.google.com',
  subject: '1',
  email: toNormalisedEmail('ada@example.com'),
  emailVerified: true,
  givenName: 'Ada',
  familyName: 'Lovelace',
  picture: undefined,
  session: { provider: toProviderId('google') },
};
const userOf = (more: Partial<User> = {}) =>
  ({ id: 'ada', email: 'ada@example.com', emailVerified: true, disabledAt: null, ...more }) as User;
const linkTo = ({ id }: User) => ({ id: `link-${id}`, userId: id }) as FederatedIdentity;
const nobody: ProvisioningFacts = { link: undefined, linked: undefined, sameAddress: undefined };
const linkedTo = (user: User): ProvisioningFacts => ({ ...nobody, link: linkTo(user), linked: user });
const open = { signUp: true };
const closed = { signUp: false };

describe('decide', () => {
  it.each([
    ['a link signs in', {}, open, linkedTo(userOf()), 'sign-in'],
    ['also where nobody becomes a member by it', {}, closed, linkedTo(userOf()), 'sign-in'],
    ['also without an address', { email: undefined, emailVerified: false }, open, linkedTo(userOf()), 'sign-in'],
    ['also with one that is not confirmed', { emailVerified: false }, open, linkedTo(userOf()), 'sign-in'],
    ['a member who is disabled does not', {}, open, linkedTo(userOf({ disabledAt: 1 })), 'disabled'],
    ['nobody has the address', {}, open, nobody, 'create'],
    ['nobody becomes a member by it', {}, closed, nobody, 'sign-up-closed'],
    ['the address is not vouched for', { emailVerified: false }, open, nobody, 'confirm'],
    ['the same, where nobody becomes a member', { emailVerified: false }, closed, nobody, 'sign-up-closed'],
    ['no address', { email: undefined, emailVerified: false }, open, nobody, 'no-email'],
    ['a member’s address', {}, open, { ...nobody, sameAddress: userOf() }, 'offer'],
    ['the same, where nobody becomes a member', {}, closed, { ...nobody, sameAddress: userOf() }, 'offer'],
    ['one of a disabled member', {}, open, { ...nobody, sameAddress: userOf({ disabledAt: 1 }) }, 'disabled'],
    ['one that nobody confirmed', {}, open, { ...nobody, sameAddress: userOf({ emailVerified: false }) }, 'claim'],
    // An operator has made it: that is no sign-up.
    [
      'the same, where nobody becomes a member by it',
      {},
      closed,
      { ...nobody, sameAddress: userOf({ emailVerified: false }) },
      'claim',
    ],
    [
      'one that nobody vouches for: sign-up/ tells of it',
      { emailVerified: false },
      open,
      { ...nobody, sameAddress: userOf() },
      'confirm',
    ],
    [
      'a link whose member is gone is none',
      {},
      open,
      { ...nobody, link: linkTo(userOf()), sameAddress: undefined },
      'create',
    ],
  ] as const)('The case “%s” gets the decision of its row', (_what, change, provider, facts, expected) => {
    const decision = decide({ ...identity, ...change } as UpstreamIdentity, provider, facts);
    expect(decision.kind === 'refuse' ? decision.why : decision.kind).toBe(expected);
  });

  const users = fc
    .record({
      id: fc.constantFrom(toUserId('ada'), toUserId('grace')),
      emailVerified: fc.boolean(),
      disabledAt: fc.option(fc.nat()),
    })
    .map((user) => userOf(user));
  const whatever = fc.record({
    identity: fc
      .record({
        email: fc.option(fc.constant(toNormalisedEmail('ada@example.com')), { nil: undefined }),
        emailVerified: fc.boolean(),
      })
      .map(
        (one): UpstreamIdentity => ({
          ...identity,
          ...one,
          emailVerified: one.emailVerified && one.email !== undefined,
        }),
      ),
    provider: fc.record({ signUp: fc.boolean() }),
    facts: fc
      .record({ linked: fc.option(users, { nil: undefined }), sameAddress: fc.option(users, { nil: undefined }) })
      .map(({ linked, sameAddress }): ProvisioningFacts => ({ linked, link: linked && linkTo(linked), sameAddress })),
  });

  it('Attack: a confirmed account is never entered by its address alone', () => {
    fc.assert(
      fc.property(whatever, ({ identity: one, provider, facts }) => {
        const decision = decide(one, provider, facts);
        if (decision.kind === 'sign-in') expect(decision.user).toBe(facts.linked);
        if (decision.kind === 'claim') expect([decision.user.emailVerified, facts.linked]).toEqual([false, undefined]);
        if (decision.kind === 'create') expect(facts.sameAddress).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });

  it('An unconfirmed address neither signs in, nor creates, nor takes over, nor offers a link', () => {
    fc.assert(
      fc.property(whatever, ({ identity: one, provider, facts }) => {
        const { kind } = decide({ ...one, emailVerified: false }, provider, {
          ...facts,
          linked: undefined,
          link: undefined,
        });
        expect(['confirm', 'refuse']).toContain(kind);
      }),
    );
  });

  it('The decision for an unconfirmed address does not depend on whether it belongs to a user', () => {
    fc.assert(
      fc.property(whatever, ({ identity: one, provider, facts }) => {
        const unproven = { ...one, emailVerified: false };
        const none = { ...nobody, sameAddress: facts.sameAddress };
        expect(decide(unproven, provider, none)).toEqual(decide(unproven, provider, nobody));
      }),
    );
  });

  it('No decision signs a disabled user in', () => {
    fc.assert(
      fc.property(whatever, ({ identity: one, provider, facts }) => {
        const decision = decide(one, provider, facts);
        if ('user' in decision) expect(decision.user.disabledAt).toBeNull();
      }),
    );
  });
});
