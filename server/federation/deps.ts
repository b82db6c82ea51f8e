import type { Request, Response } from 'express';
import type { Continuation, HostCookies, Language, Logger, Pages } from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { RateLimits } from '../rate-limits/index.ts';
import type { Sessions, UpstreamSession } from '../sessions/index.ts';
import type { Database, KeyValueStore, SecretBox } from '../store/index.ts';
import type { User } from '../users/index.ts';
import type { FederationAttempts } from './attempts.ts';
import type { UpstreamIdentity } from './identity.ts';
import type { PendingLinks } from './pending-links.ts';
import type { PostedResponses } from './posted-responses.ts';
import type { Providers, StrategySettings } from './providers.ts';
import type { PendingLogouts } from './upstream-logout.ts';

/** How somebody gets in who has shown one factor: sign-in/ stands above this room. */
export interface FederatedFirstFactor {
  amr: string[];
  remember: boolean;
  continuation: Continuation;
  requireAllFactors?: boolean | undefined;
  /** `UpstreamIdentity.shownAtMs`. */
  presentedAtMs?: number | undefined;
  upstream: UpstreamSession;
}

/** What rooms above this one do for it; `app.ts` hands it in. */
export interface FederationHooks {
  /** The one way in (`sign-in/complete-sign-in.ts`); answers where the browser goes on. */
  completeSignIn(
    req: Request,
    res: Response,
    user: User,
    factor: FederatedFirstFactor,
  ): Promise<{ kind: 'signed-in' | 'challenged'; address: string }>;
  completeReauthentication(
    req: Request,
    res: Response,
    user: User,
    factor: FederatedFirstFactor,
  ): Promise<{ kind: 'signed-in' | 'challenged'; address: string }>;
  /** Where a member goes on. */
  nextRedirect(user: User, continuation: Continuation): string;
  /** The waiting request wants more than one factor: a remembered device does not count. */
  requiresAllFactors(req: Request, continuation: Continuation): Promise<boolean>;
  /** The waiting request takes only who shows who they are now (`prompt=login`, `max_age`). */
  requiresFreshAuthentication(req: Request, continuation: Continuation): Promise<boolean>;
  /** A member was made by a provider: so long is their trial, and with this page they go on; undefined: there is no step PLAN. */
  afterFederatedSignUp(user: User, continuation: Continuation): Promise<string | undefined>;
  /**
   * An address that the provider does not vouch for: an account is begun with it and a code is mailed (sign-up/). Answers
   * where the code is asked for, or that the address is a member's and the house says so.
   */
  startEmailVerification(
    req: Request,
    res: Response,
    identity: UpstreamIdentity & { email: string },
    more: {
      continuation: Continuation;
      remember: boolean;
      lang: Language;
      /** The provider is that of an organization, with domains of its own, and the address is of one of them. */
      company: boolean;
    },
  ): Promise<{ kind: 'begun'; address: string } | { kind: 'taken' } | { kind: 'too-many'; retryAfterMs: number }>;
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
  sessions: Sessions;
  providers: Providers;
  attempts: FederationAttempts;
  /** What came by SAML's post, until the browser comes back with its cookies. */
  tickets: PostedResponses;
  /** Browsers on their way to sign out at a provider, too. */
  pendingLogouts: PendingLogouts;
  /** Links that wait for the member to prove that the account is theirs. */
  offers: PendingLinks;
  limits: Pick<
    RateLimits,
    'federationAttempt' | 'companyFederationAttempt' | 'unsolicitedSamlResponse' | 'samlLogoutPost'
  >;
  now: () => number;
}

/** As `app.ts` gives them. */
export type FederationSettings = Omit<
  FederationDeps,
  'providers' | 'attempts' | 'tickets' | 'pendingLogouts' | 'offers'
> & {
  /** Seals attempts, tickets and offers. */
  box: SecretBox;
  strategies: StrategySettings;
};
