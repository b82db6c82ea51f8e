import fc from 'fast-check';
import type { UpstreamIdentity } from '../../server/federation/identity.ts';
import type { FederatedIdentity } from '../../server/federation/identity-store.ts';
import { decide, type ProvisioningFacts } from '../../server/federation/provisioning-decision.ts';
import type { User } from '../../server/users/index.ts';
import { toNormalisedEmail, toUserId } from '../support/ids.ts';
import { adaAtGoogle } from './ada-at-google.ts';

const userOf = (more: Partial<User> = {}) =>
  ({ id: 'ada', email: 'ada@example.com', emailVerified: true, disabledAt: null, ...more }) as User;
const linkTo = ({ id }: User) => ({ id: `link-${id}`, userId: id }) as FederatedIdentity;
const noFacts: ProvisioningFacts = { link: undefined, linked: undefined, sameAddress: undefined };
const linkedTo = (user: User): ProvisioningFacts => ({ ...noFacts, link: linkTo(user), linked: user });
const open = { signUp: true };
const closed = { signUp: false };

describe('decide', () => {
  it.each([
    ['a linked identity signs its user in', {}, open, linkedTo(userOf()), 'sign-in'],
    ['a linked identity signs in although the provider allows no sign-up', {}, closed, linkedTo(userOf()), 'sign-in'],
    [
      'a linked identity without an address signs in',
      { email: undefined, emailVerified: false },
      open,
      linkedTo(userOf()),
      'sign-in',
    ],
    [
      'a linked identity with an unconfirmed address signs in',
      { emailVerified: false },
      open,
      linkedTo(userOf()),
      'sign-in',
    ],
    ['the linked identity of a disabled user is refused', {}, open, linkedTo(userOf({ disabledAt: 1 })), 'disabled'],
    ['an unknown address creates a user', {}, open, noFacts, 'create'],
    ['an unknown address is refused if the provider allows no sign-up', {}, closed, noFacts, 'sign-up-closed'],
    ['an unknown, unconfirmed address must be confirmed first', { emailVerified: false }, open, noFacts, 'confirm'],
    [
      'an unconfirmed address is refused if the provider allows no sign-up',
      { emailVerified: false },
      closed,
      noFacts,
      'sign-up-closed',
    ],
    [
      'an identity without an address is refused',
      { email: undefined, emailVerified: false },
      open,
      noFacts,
      'no-email',
    ],
    ['the address of a user leads to the offer of a link', {}, open, { ...noFacts, sameAddress: userOf() }, 'offer'],
    [
      'the address of a user leads to an offer although the provider allows no sign-up',
      {},
      closed,
      { ...noFacts, sameAddress: userOf() },
      'offer',
    ],
    [
      'the address of a disabled user is refused',
      {},
      open,
      { ...noFacts, sameAddress: userOf({ disabledAt: 1 }) },
      'disabled',
    ],
    [
      'a confirmed address takes over an unconfirmed account',
      {},
      open,
      { ...noFacts, sameAddress: userOf({ emailVerified: false }) },
      'claim',
    ],
    // The account exists already, so this is no sign-up.
    [
      'a confirmed address takes over although the provider allows no sign-up',
      {},
      closed,
      { ...noFacts, sameAddress: userOf({ emailVerified: false }) },
      'claim',
    ],
    [
      'an unconfirmed address of a user must be confirmed first, as an unknown one',
      { emailVerified: false },
      open,
      { ...noFacts, sameAddress: userOf() },
      'confirm',
    ],
    [
      'the link of a deleted user counts as no link',
      {},
      open,
      { ...noFacts, link: linkTo(userOf()), sameAddress: undefined },
      'create',
    ],
  ] as const)('In a sign-in by a provider, %s', (_what, change, provider, facts, expected) => {
    const decision = decide({ ...adaAtGoogle, ...change } as UpstreamIdentity, provider, facts);
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
          ...adaAtGoogle,
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
        const none = { ...noFacts, sameAddress: facts.sameAddress };
        expect(decide(unproven, provider, none)).toEqual(decide(unproven, provider, noFacts));
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
