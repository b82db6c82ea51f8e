import fc from 'fast-check';
import {
  type AttemptFacts,
  type FederatedAttemptEvent,
  type FederatedAttemptState,
  transition,
} from '../../server/federation/attempt-state.ts';
import type { UpstreamIdentity } from '../../server/federation/identity.ts';
import type { FederatedIdentity } from '../../server/federation/identity-store.ts';
import { decide } from '../../server/federation/provisioning-decision.ts';
import type { User } from '../../server/users/index.ts';
import { toFlowId, toSessionIdHash, toUserId } from '../support/ids.ts';
import { type EventVariants, readTable, type StateOfEachKind, walkStates } from '../support/state-tables.ts';
import { adaAtGoogle } from './ada-at-google.ts';

type FactsOfKind<Kind extends AttemptFacts['kind']> = Extract<AttemptFacts, { kind: Kind }>;

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
  .map((more): UpstreamIdentity => ({ ...adaAtGoogle, ...more }));

const open = { signUp: true };
const attempt = {
  id: toFlowId('attempt'),
  provider: adaAtGoogle.provider,
  intent: { kind: 'sign-in' },
  continuation: '',
  remember: false,
  begunAtMs: 0,
  strategyState: {},
} as const;

function decideFor(facts: AttemptFacts, more: Partial<UpstreamIdentity> = {}) {
  const event = { kind: 'response-verified', identity: { ...adaAtGoogle, ...more }, provider: open, facts } as const;
  const next = transition({ kind: 'returned', attempt }, event);
  return next.kind === 'decided' ? next.decision : next;
}

describe('The states of a federated attempt', () => {
  const offer = { userId: ada, offeredAtMs: 10 };
  const states: StateOfEachKind<FederatedAttemptState> = {
    started: { kind: 'started', attempt },
    expired: { kind: 'expired', attempt },
    unknown: { kind: 'unknown' },
    returned: { kind: 'returned', attempt },
    decided: { kind: 'decided', decision: { kind: 'link', user: userWith(ada) } },
    'link-offered': { kind: 'link-offered', offer },
    'link-unproven': { kind: 'link-unproven', offer, missing: 'sign-in' },
    'link-proven': { kind: 'link-proven', offer, user: userWith(ada) },
    'link-dropped': { kind: 'link-dropped', user: userWith(grace) },
  };

  const signIn = { kind: 'sign-in', requiresFresh: false, link: undefined, linked: undefined } as const;
  const verified = { kind: 'response-verified', identity: adaAtGoogle, provider: open } as const;
  const verifiedAs = (sameAddress: User | undefined, more: Partial<UpstreamIdentity> = {}) => ({
    ...verified,
    identity: { ...adaAtGoogle, ...more },
    facts: { ...signIn, sameAddress },
  });
  const linked = { ...signIn, link: linkOf(ada), linked: userWith(ada), sameAddress: undefined };
  const visitBy = (id: User['id'], authTimeMs: number, mfaPreference: User['mfaPreference'] = 'none') => ({
    kind: 'link-visited' as const,
    current: { user: { ...userWith(id), mfaPreference }, session: { authTimeMs, amr: ['pwd'] } },
  });
  const events: EventVariants<FederatedAttemptEvent> = {
    'response-received': { '': { kind: 'response-received' } },
    'response-verified': {
      'new identity': verifiedAs(undefined),
      'new identity, unverified address': verifiedAs(undefined, { emailVerified: false }),
      'address of a user': verifiedAs(userWith(ada)),
      'unconfirmed address of a user': verifiedAs({ ...userWith(ada), emailVerified: false }),
      'linked identity': { ...verified, facts: linked },
      'linked identity of another person': {
        ...verified,
        identity: { ...adaAtGoogle, reusable: true, email: undefined, givenName: 'Grace', familyName: 'H' },
        facts: linked,
      },
      'without an address': verifiedAs(undefined, { email: undefined, emailVerified: false }),
      'not fresh': {
        ...verified,
        identity: { ...adaAtGoogle, stale: true },
        facts: { ...linked, requiresFresh: true },
      },
      'to link': { ...verified, facts: { ...started, kind: 'link', current: signedIn(ada) } },
      'to link, other session': { ...verified, facts: { ...started, kind: 'link', current: undefined } },
      'to authenticate again': {
        ...verified,
        facts: { ...started, kind: 're-authenticate', current: signedIn(ada), link: linkOf(ada) },
      },
      'to authenticate again, other person': {
        ...verified,
        facts: { ...started, kind: 're-authenticate', current: signedIn(ada), link: linkOf(grace) },
      },
    },
    'link-visited': {
      'not signed in': { kind: 'link-visited', current: undefined },
      'other user, since before': visitBy(grace, 10),
      'other user, since then': visitBy(grace, 11),
      'the user, since before': visitBy(ada, 10),
      'the user, without a second factor': visitBy(ada, 11, 'totp'),
      'the user, since then': visitBy(ada, 11),
    },
  };

  it('Every event in every state leads to the state or the refusal of the documented table', () => {
    const walked = walkStates(states, events, (state, event) => {
      const next = transition(state, event);
      if (next.kind === 'refuse') return `refused: ${next.why}`;
      if (next.kind === 'decided') return `decided: ${next.decision.kind}`;
      return next.kind === 'link-unproven' ? `link-unproven: ${next.missing}` : next.kind;
    });
    expect(walked).toEqual(readTable('docs/architecture/federation.md', 'States of an attempt'));
  });
});

describe('The decision about a verified response of a provider', () => {
  describe('in a sign-in', () => {
    const facts: FactsOfKind<'sign-in'> = {
      kind: 'sign-in',
      requiresFresh: false,
      link: undefined,
      linked: undefined,
      sameAddress: undefined,
    };

    it('A sign-in follows the rule of provisioning, and its refusals keep their reason', () => {
      expect(decideFor(facts)).toEqual(decide(adaAtGoogle, open, facts));
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
          const decision = decideFor(facts, one);
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
