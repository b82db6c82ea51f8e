import { type CurrentSession, fullyAuthenticatedAt } from '../sessions/index.ts';
import type { User } from '../users/index.ts';
import type { AttemptLookup, FederationAttempt, FederationIntent } from './attempts.ts';
import type { RefusalKind, UpstreamIdentity } from './identity.ts';
import type { FederatedIdentity } from './identity-store.ts';
import type { PendingLink } from './pending-links.ts';
import type { Provider } from './providers.ts';
import { decide, type ProvisioningDecision, type ProvisioningFacts } from './provisioning-decision.ts';
import { isSamePerson } from './same-person.ts';

/** A strategy has checked the response, and the attempt is used up. */
export interface VerifiedResponse {
  provider: Provider;
  identity: UpstreamIdentity;
  attempt: Pick<FederationAttempt, 'intent' | 'continuation' | 'remember'>;
}

/** The results of a verified response to a sign-in. */
export type SignInDecision = Exclude<ProvisioningDecision, { kind: 'refuse' }>;

/** The results of a verified response. */
export type AttemptDecision =
  | SignInDecision
  /** The signed-in user adds the identity to their account. */
  | { kind: 'link'; user: User }
  /** The signed-in user has authenticated again. */
  | { kind: 're-authenticate'; user: User; remember: boolean; link: FederatedIdentity };

/** The user who is signed in in this browser. */
interface CurrentUser {
  user: User;
  session: Pick<CurrentSession, 'idHash' | 'remember'>;
}

interface LinkVisitor {
  user: User;
  session: Pick<CurrentSession, 'amr' | 'authTimeMs' | 'onRememberedDevice'>;
}

type LinkOffer = Pick<PendingLink, 'userId' | 'offeredAtMs'>;

export type FederatedAttemptState =
  /** `started`: the browser is at the provider. `expired`, `unknown`: no response is accepted (`attempts.ts`). */
  | AttemptLookup
  /** The browser has returned with a response, which is used up. */
  | { kind: 'returned'; attempt: VerifiedResponse['attempt'] }
  /**
   * `handle-identity.ts` carries the decision out: a session or a link ends the attempt, `confirm` continues as a
   * sign-up (`sign-up/sign-up-state.ts`), `offer` and `prove` as a pending link. If a parallel request was faster, the
   * attempt is `returned` again, with new facts.
   */
  | { kind: 'decided'; decision: AttemptDecision }
  /** A link waits in this browser until its user has proven the account. */
  | { kind: 'link-offered'; offer: LinkOffer }
  /** The visitor must sign in, as the owner of the account, or must authenticate again. */
  | { kind: 'link-unproven'; offer: LinkOffer; missing: 'sign-in' | 'owner' | 're-authentication' }
  /** The user decides. Page /federation/link. */
  | { kind: 'link-proven'; offer: LinkOffer; user: User }
  /** A user who has signed in to another account continues with that one. */
  | { kind: 'link-dropped'; user: User };

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

export type FederatedAttemptEvent =
  | { kind: 'response-received' }
  /** A response that a strategy refuses ends the attempt with the reason of the strategy. */
  | { kind: 'response-verified'; identity: UpstreamIdentity; provider: Pick<Provider, 'signUp'>; facts: AttemptFacts }
  /** A visit of the page of the pending link. */
  | { kind: 'link-visited'; current: LinkVisitor | undefined };

/** `usedLink`: the identity was the right one, so its use is recorded although the attempt is refused. */
export interface AttemptRefusal {
  kind: 'refuse';
  why: RefusalKind;
  detail: string;
  usedLink?: FederatedIdentity;
}

type StateOfKind<Kind extends FederatedAttemptState['kind']> = Extract<FederatedAttemptState, { kind: Kind }>;
type EventOfKind<Kind extends FederatedAttemptEvent['kind']> = Extract<FederatedAttemptEvent, { kind: Kind }>;
type Received = { kind: 'returned'; attempt: FederationAttempt } | AttemptRefusal;
type Verified = StateOfKind<'decided'> | AttemptRefusal;
type Visited = StateOfKind<'link-unproven' | 'link-proven' | 'link-dropped'>;
type Next = FederatedAttemptState | AttemptRefusal;

const refuse = (why: RefusalKind, detail: string): AttemptRefusal => ({ kind: 'refuse', why, detail });

/** The only transition of an attempt. Pure. */
export function transition(state: AttemptLookup, event: EventOfKind<'response-received'>): Received;
export function transition(state: FederatedAttemptState, event: EventOfKind<'response-verified'>): Verified;
export function transition(state: StateOfKind<'link-offered'>, event: EventOfKind<'link-visited'>): Visited;
export function transition(state: FederatedAttemptState, event: FederatedAttemptEvent): Next;
export function transition(state: FederatedAttemptState, event: FederatedAttemptEvent): Next {
  // The names of refusals are public.
  const closed = refuse(state.kind === 'unknown' ? 'foreign' : 'over', 'not open');
  switch (event.kind) {
    case 'response-received':
      return state.kind === 'started' ? { kind: 'returned', attempt: state.attempt } : closed;
    case 'response-verified':
      return state.kind === 'returned' ? toDecided(decideAttempt(event)) : closed;
    case 'link-visited':
      return 'offer' in state ? visitLink(state.offer, event.current) : closed;
  }
}

const toDecided = (decision: AttemptDecision | AttemptRefusal): Verified =>
  decision.kind === 'refuse' ? decision : { kind: 'decided', decision };

function decideAttempt({
  identity,
  provider,
  facts,
}: EventOfKind<'response-verified'>): AttemptDecision | AttemptRefusal {
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
): AttemptDecision | AttemptRefusal {
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

/**
 * The account must be proven with every factor, and after the offer was made, so that an offer that was planted in a
 * signed-in browser needs more than a click (`security.md`, rule 15).
 */
function visitLink(offer: LinkOffer, current: LinkVisitor | undefined): Visited {
  if (!current) return { kind: 'link-unproven', offer, missing: 'sign-in' };
  const { user, session } = current;
  if (user.id !== offer.userId) {
    if (session.authTimeMs > offer.offeredAtMs) return { kind: 'link-dropped', user };
    return { kind: 'link-unproven', offer, missing: 'owner' };
  }
  if ((fullyAuthenticatedAt(user, session) ?? 0) > offer.offeredAtMs) return { kind: 'link-proven', offer, user };
  return { kind: 'link-unproven', offer, missing: 're-authentication' };
}
