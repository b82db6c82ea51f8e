import fc from 'fast-check';
import { type AttemptFacts, decideAttempt } from '../../server/federation/attempt-decision.ts';
import type { UpstreamIdentity } from '../../server/federation/identity.ts';
import type { FederatedIdentity } from '../../server/federation/identity-store.ts';
import { decide } from '../../server/federation/provisioning-decision.ts';
import type { User } from '../../server/users/index.ts';
import { toNormalisedEmail, toProviderId, toSessionIdHash, toUserId } from '../support/ids.ts';

type FactsOfKind<Kind extends AttemptFacts['kind']> = Extract<AttemptFacts, { kind: Kind }>;

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
const [ada, grace] = [toUserId('ada'), toUserId('grace')];
const [session, otherSession] = [toSessionIdHash('of this browser'), toSessionIdHash('of another browser')];
const userWith = (id: User['id']) =>
  ({ id, email: 'ada@example.com', emailVerified: true, disabledAt: null, givenName: 'Ada', familyName: 'L' }) as User;
const linkOf = (userId: User['id']) =>
  ({ id: `link-${userId}`, userId, email: null, name: 'Ada L' }) as FederatedIdentity;
const signedIn = (id: User['id'], idHash = session) => ({ user: userWith(id), session: { idHash, remember: true } });
const started = { userId: ada, sessionIdHash: session };

const ids = fc.constantFrom(ada, grace);
const currents = fc.option(fc.tuple(ids, fc.constantFrom(session, otherSession)), { nil: undefined });
const links = fc.option(ids, { nil: undefined });
const identities = fc
  .record({ stale: fc.constantFrom(true, undefined), reusable: fc.constantFrom(true, undefined), subject: fc.string() })
  .map((more): UpstreamIdentity => ({ ...identity, ...more }));

describe('The decision about a verified response of a provider', () => {
  const open = { signUp: true };
  const decideFor = (facts: AttemptFacts, more: Partial<UpstreamIdentity> = {}) =>
    decideAttempt({ identity: { ...identity, ...more }, provider: open }, facts);

  describe('in a sign-in', () => {
    const facts: FactsOfKind<'sign-in'> = {
      kind: 'sign-in',
      requiresFresh: false,
      link: undefined,
      linked: undefined,
      sameAddress: undefined,
    };

    it('A sign-in follows the rule of provisioning, and its refusals keep their reason', () => {
      expect(decideFor(facts)).toEqual(decide(identity, open, facts));
      expect(decideFor(facts, { email: undefined, emailVerified: false })).toMatchObject({
        kind: 'refuse',
        why: 'no-email',
      });
    });

    it.each([
      [true, true, 'refuse'],
      [true, undefined, 'create'],
      [false, true, 'create'],
    ] as const)(
      'A request that demands a fresh authentication (%s) with a stale response (%s) leads to %s',
      (requiresFresh, stale, kind) => {
        expect(decideFor({ ...facts, requiresFresh }, { stale }).kind).toBe(kind);
      },
    );
  });

  describe('in the session that started it', () => {
    it('Attack: no other user and no other session completes a link or a re-authentication', () => {
      fc.assert(
        fc.property(identities, currents, links, fc.boolean(), (one, current, linked, isLink) => {
          const [userId, idHash] = current ?? [];
          const facts: AttemptFacts = {
            ...started,
            kind: isLink ? 'link' : 're-authenticate',
            current: current && signedIn(...current),
            link: linked && linkOf(linked),
          };
          const decision = decideAttempt({ identity: one, provider: open }, facts);
          if (userId !== ada || idHash !== session) expect(decision).toMatchObject({ kind: 'refuse', why: 'foreign' });
          else if (isLink) expect(decision).toMatchObject({ kind: 'link', user: { id: ada } });
          if (decision.kind === 're-authenticate') {
            expect([decision.user.id, decision.link.userId, one.stale]).toEqual([ada, ada, undefined]);
          }
        }),
        { numRuns: 1_000 },
      );
    });

    it('A re-authentication needs an identity that is linked to this user', () => {
      const facts: FactsOfKind<'re-authenticate'> = {
        ...started,
        kind: 're-authenticate',
        current: signedIn(ada),
        link: linkOf(ada),
      };
      expect(decideFor(facts)).toMatchObject({ kind: 're-authenticate', user: { id: ada }, remember: true });
      for (const link of [linkOf(grace), undefined])
        expect(decideFor({ ...facts, link })).toMatchObject({ kind: 'refuse', why: 'not-yours' });
    });

    it('A re-authentication with a subject that now names another person is refused', () => {
      const facts = { ...started, kind: 're-authenticate', current: signedIn(ada), link: linkOf(ada) } as const;
      const another = { reusable: true, email: undefined, givenName: 'Grace', familyName: 'H' } as const;
      expect(decideFor(facts, another)).toMatchObject({ kind: 'refuse', why: 'not-yours' });
    });

    it('A re-authentication that the provider does not prove is refused, and the use of the link is recorded', () => {
      const facts = { ...started, kind: 're-authenticate', current: signedIn(ada), link: linkOf(ada) } as const;
      expect(decideFor(facts, { stale: true })).toMatchObject({
        kind: 'refuse',
        why: 'not-fresh',
        usedLink: { id: 'link-ada' },
      });
    });
  });
});
