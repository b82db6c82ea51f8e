import type { AuditHooks } from '../audit/index.ts';
import type { Continuation, HostCookies, Logger, Pages, RateLimits, RequestContext } from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { Sessions, UpstreamSession } from '../sessions/index.ts';
import type { Metrics, NormalisedEmail } from '../shared/index.ts';
import type { Database, KeyValueStore, SecretBox } from '../store/index.ts';
import type { User, UserHooks } from '../users/index.ts';
import type { FederationAttempts } from './attempts.ts';
import type { UpstreamIdentity } from './identity.ts';
import type { PendingLinks } from './pending-links.ts';
import type { PostedResponses } from './posted-responses.ts';
import type { Providers } from './providers.ts';
import type { PendingLogouts } from './upstream-logout.ts';

/** The sign-in of a user who has presented one factor: sign-in/ belongs to a higher layer. */
interface FederatedFirstFactor {
  amr: string[];
  remember: boolean;
  continuation: Continuation;
  /** Asked only if the user has a second factor. */
  requiresAllFactors?: () => Promise<boolean>;
  /** `UpstreamIdentity.shownAtMs`. */
  presentedAtMs?: number | undefined;
  upstream: UpstreamSession;
}

interface FederatedSignInResult {
  kind: 'signed-in' | 'second-factor-required';
  /** The next address. */
  address: string;
}

/** An address for which the provider does not vouch. */
export interface UnverifiedAddress {
  identity: UpstreamIdentity & { email: NormalisedEmail };
  continuation: Continuation;
  remember: boolean;
  /** The provider belongs to an organization with its own domains, and the address is in one of them. */
  company: boolean;
}

/** Functions of higher layers; `wiring.ts` injects them. */
export interface FederationHooks {
  /** The only way to a session (`sign-in/complete-sign-in.ts`). */
  completeSignIn(r: RequestContext, user: User, factor: FederatedFirstFactor): Promise<FederatedSignInResult>;
  completeReauthentication(r: RequestContext, user: User, factor: FederatedFirstFactor): Promise<FederatedSignInResult>;
  /** The next address of a user. */
  nextRedirect(user: User, continuation: Continuation): string;
  /** The pending request demands more than one factor: a remembered device does not count. */
  requiresAllFactors(r: RequestContext, continuation: Continuation): Promise<boolean>;
  /** The pending request demands a fresh authentication (`prompt=login`, `max_age`). */
  requiresFreshAuthentication(r: RequestContext, continuation: Continuation): Promise<boolean>;
  /**
   * Sets the trial of a user whom a provider has created, and returns the next page; undefined: there is no step PLAN.
   */
  afterFederatedSignUp(user: User, continuation: Continuation): Promise<string | undefined>;
  /**
   * An address for which the provider does not vouch: starts a sign-up with it and mails a code (sign-up/). Returns the
   * page for the code, or that the address belongs to a user if the configuration allows to say so.
   */
  startEmailVerification(
    r: RequestContext,
    address: UnverifiedAddress,
  ): Promise<
    { kind: 'begun'; address: string } | { kind: 'already-in-use' } | { kind: 'too-many'; retryAfterMs: number }
  >;
}

export interface FederationDeps extends FederationHooks {
  publicUrl: string;
  brandName: string;
  pages: Pages;
  log: Logger;
  metrics: Metrics;
  database: Database;
  kv: KeyValueStore;
  cookies: HostCookies;
  outbox: Outbox;
  hooks: UserHooks & Pick<AuditHooks, 'onSignInRefused'>;
  sessions: Sessions;
  providers: Providers;
  attempts: FederationAttempts;
  /** Data of a SAML POST, until the browser returns with its cookies. */
  tickets: PostedResponses;
  /** Browsers that are also signing out at a provider. */
  pendingLogouts: PendingLogouts;
  /** Links that wait until the user has proven the account. */
  offers: PendingLinks;
  limits: Pick<
    RateLimits,
    'federationAttempt' | 'companyFederationAttempt' | 'unsolicitedSamlResponse' | 'upstreamLogoutPost'
  >;
  now: () => number;
}

/** The dependencies from `wiring.ts`. */
export type FederationSettings = Omit<FederationDeps, 'attempts' | 'tickets' | 'offers'> & {
  /** Seals attempts, posted responses and pending links. */
  box: SecretBox;
};
