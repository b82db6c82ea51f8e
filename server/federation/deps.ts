import type { Request, Response } from 'express';
import type { User } from '../account/index.ts';
import type { Errand, HostCookies, Language, Logger, Pages } from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { RateLimits } from '../rate-limits/index.ts';
import type { Sessions, UpstreamSession } from '../session/index.ts';
import type { Database, KeyValueStore, SecretBox } from '../store/index.ts';
import type { Attempts } from './attempts.ts';
import type { UpstreamIdentity } from './identity.ts';
import type { Leavings } from './logouts.ts';
import type { Offers } from './offers.ts';
import type { Providers, StrategySettings } from './providers.ts';
import type { Tickets } from './tickets.ts';

/** How somebody gets in who has shown one factor: sign-in/ stands above this room. */
export interface Entering {
  amr: string[];
  remember: boolean;
  errand: Errand;
  everyFactor?: boolean | undefined;
  /** `UpstreamIdentity.shownAtMs`. */
  shownAtMs?: number | undefined;
  upstream: UpstreamSession;
}

/** What rooms above this one do for it; `app.ts` hands it in. */
export interface Upward {
  /** The one way in (`sign-in/entrance.ts`); answers where the browser goes on. */
  enter(
    req: Request,
    res: Response,
    user: User,
    shown: Entering,
  ): Promise<{ kind: 'signed-in' | 'challenged'; address: string }>;
  enterAgain(
    req: Request,
    res: Response,
    user: User,
    shown: Entering,
  ): Promise<{ kind: 'signed-in' | 'challenged'; address: string }>;
  /** Where a member goes on. */
  wayOn(user: User, errand: Errand): string;
  /** The waiting request wants more than one factor: a remembered device does not count. */
  wantsEveryFactor(req: Request, errand: Errand): Promise<boolean>;
  /** The waiting request takes only who shows who they are now (`prompt=login`, `max_age`). */
  wantsAnew(req: Request, errand: Errand): Promise<boolean>;
  /** A member was made by a provider: so long is their trial, and with this page they go on; undefined: there is no step PLAN. */
  afterSignUp(user: User, errand: Errand): Promise<string | undefined>;
  /**
   * An address that the provider does not vouch for: an account is begun with it and a code is mailed (sign-up/). Answers
   * where the code is asked for, or that the address is a member's and the house says so.
   */
  beginUnverified(
    req: Request,
    res: Response,
    identity: UpstreamIdentity & { email: string },
    more: {
      errand: Errand;
      remember: boolean;
      lang: Language;
      /** The provider is that of an organization, with domains of its own, and the address is of one of them. */
      company: boolean;
    },
  ): Promise<{ kind: 'begun'; address: string } | { kind: 'taken' } | { kind: 'too-many'; retryAfterMs: number }>;
}

export interface FederationDeps extends Upward {
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
  attempts: Attempts;
  /** What came by SAML's post, until the browser comes back with its cookies. */
  tickets: Tickets;
  /** Browsers on their way to sign out at a provider, too. */
  leavings: Leavings;
  /** Links that wait for the member to prove that the account is theirs. */
  offers: Offers;
  limits: Pick<
    RateLimits,
    'federationAttempt' | 'companyFederationAttempt' | 'unsolicitedSamlResponse' | 'samlLogoutPost'
  >;
  now: () => number;
}

/** As `app.ts` gives them. */
export type FederationSettings = Omit<FederationDeps, 'providers' | 'attempts' | 'tickets' | 'leavings' | 'offers'> & {
  /** Seals attempts, tickets and offers. */
  box: SecretBox;
  strategies: StrategySettings;
};
