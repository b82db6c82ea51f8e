import type { CurrentSession } from '../sessions/index.ts';
import type { User } from '../users/index.ts';
import type { FederationAttempt, FederationIntent } from './attempts.ts';
import type { RefusalKind, UpstreamIdentity } from './identity.ts';
import type { FederatedIdentity } from './identity-store.ts';
import type { Provider } from './providers.ts';
import { decide, type ProvisioningDecision, type ProvisioningFacts } from './provisioning-decision.ts';
import { isSamePerson } from './same-person.ts';

/*
 * The states of a federated attempt:
 *
 *   started (attempts.ts) ─► verified ─► sign-in, create, claim, confirm, offer, prove
 *             │                  │  └──► link, re-authenticate
 *             └──────► refuse ◄──┘
 *
 * `finish-attempt.ts` ends a started attempt: a strategy verifies the response, or refuses it. `decideAttempt` is the
 * only transition of a verified one; `handle-identity.ts` carries its result out. If a parallel request was faster, the attempt stays verified, and the
 * decision is repeated with the new facts.
 */

/** The state `verified`: a strategy has checked the response, and the attempt is used up. */
export interface VerifiedResponse {
  provider: Provider;
  identity: UpstreamIdentity;
  attempt: Pick<FederationAttempt, 'intent' | 'continuation' | 'remember'>;
}

/** The states after a verified response to a sign-in. */
export type SignInDecision = Exclude<ProvisioningDecision, { kind: 'refuse' }>;

/** The states after a verified response. */
export type AttemptDecision =
  | SignInDecision
  /** The signed-in user adds the identity to their account. */
  | { kind: 'link'; user: User }
  /** The signed-in user has authenticated again. */
  | { kind: 're-authenticate'; user: User; remember: boolean; link: FederatedIdentity }
  /** `usedLink`: the identity was the right one, so its use is recorded although the attempt is refused. */
  | { kind: 'refuse'; why: RefusalKind; detail: string; usedLink?: FederatedIdentity };

/** The user who is signed in in this browser. */
interface CurrentUser {
  user: User;
  session: Pick<CurrentSession, 'idHash' | 'remember'>;
}

type IntentOfKind<Kind extends FederationIntent['kind']> = Extract<FederationIntent, { kind: Kind }>;

/** The intent of an attempt, and the facts on which its decision depends. */
export type AttemptFacts =
  | (IntentOfKind<'sign-in'> &
      ProvisioningFacts & {
        /** The pending request demands a fresh authentication. */
        requiresFresh: boolean;
      })
  | (IntentOfKind<'link'> & { current: CurrentUser | undefined })
  | (IntentOfKind<'re-authenticate'> & {
      current: CurrentUser | undefined;
      /** The link of the identity to any user. */
      link: FederatedIdentity | undefined;
    });

const refuse = (why: RefusalKind, detail: string) => ({ kind: 'refuse', why, detail }) as const;

/** Decides the state after a verified response. Pure. */
export function decideAttempt(
  { identity, provider }: { identity: UpstreamIdentity; provider: Pick<Provider, 'signUp'> },
  facts: AttemptFacts,
): AttemptDecision {
  switch (facts.kind) {
    case 'sign-in': {
      // Otherwise the request would ask again and again.
      if (identity.stale && facts.requiresFresh)
        return refuse('not-fresh', 'fresh authentication required but not proven');
      const decision = decide(identity, provider, facts);
      return decision.kind === 'refuse' ? refuse(decision.why, 'refused by the provisioning rule') : decision;
    }
    case 'link': {
      const owner = findOwner(facts);
      return owner ? { kind: 'link', user: owner.user } : refuse('foreign', 'session of the attempt has ended');
    }
    case 're-authenticate':
      return decideReauthentication(identity, facts);
  }
}

/** Linking and re-authentication belong to the user and session that started them (`security.md`, rule 15). */
function findOwner({
  current,
  userId,
  sessionIdHash,
}: Extract<AttemptFacts, { kind: 'link' | 're-authenticate' }>): CurrentUser | undefined {
  return current?.user.id === userId && current.session.idHash === sessionIdHash ? current : undefined;
}

/** The user is signed in in this very session, and re-authenticates with a linked provider. */
function decideReauthentication(
  identity: UpstreamIdentity,
  facts: Extract<AttemptFacts, { kind: 're-authenticate' }>,
): AttemptDecision {
  const owner = findOwner(facts);
  if (!owner) return refuse('foreign', 'session of the attempt has ended');
  const { user, session } = owner;
  const { link } = facts;
  if (link?.userId !== user.id) return refuse('not-yours', 'other identity than the linked one');
  if (!isSamePerson(identity, link, user))
    return refuse('not-yours', 'subject possibly reassigned: other address and name');
  if (identity.stale) return { ...refuse('not-fresh', 'reauthentication not proven by the provider'), usedLink: link };
  return { kind: 're-authenticate', user, remember: session.remember, link };
}
