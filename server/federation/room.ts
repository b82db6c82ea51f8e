import type { Express, Request, Response, Router } from 'express';
import type { UpstreamSession } from '../sessions/index.ts';
import { createFederationAttempts, type FederationIntent } from './attempts.ts';
import type { FederationDeps, FederationSettings } from './deps.ts';
import { createPendingLinks } from './pending-links.ts';
import { createPostedResponses } from './posted-responses.ts';
import { indexProviders, type Provider, type Providers } from './providers.ts';
import { federationRoutes, postsFromElsewhere } from './routes.ts';
import { type StartAttemptInput, startAttempt } from './start-attempt.ts';
import { startSignIn } from './start-sign-in.ts';
import { openStrategies } from './strategies.ts';
import { createPendingLogouts, endsAtProvider, upstreamLogoutUrl } from './upstream-logout.ts';

export interface FederationModule {
  providers: Providers;
  /** @returns the provider's address; see `beginAttempt`. @throws {FederationRefusal} too-many, unreachable */
  begin(
    req: Request,
    res: Response,
    provider: Provider,
    intent: FederationIntent,
    beginning: StartAttemptInput,
  ): Promise<string>;
  /** Answers the browser: leads to the provider, or back to the sign-in page with the reason why not. */
  signIn(req: Request, res: Response, provider: Provider, beginning: StartAttemptInput): Promise<void>;
  /**
   * Where a browser goes that has just been signed out here, out of a session that a provider began.
   * @param returnTo where signing out leads; undefined: to a page of ours
   */
  wayOut(upstream: UpstreamSession, returnTo: string | undefined): ReturnType<typeof upstreamLogoutUrl>;
  /** What the provider of a session is called, and whether signing out here signs out there, too. */
  endsThere(upstream: UpstreamSession): { name: string; ends: boolean } | undefined;
  /** Before anything refuses posts from other sites: SAML's answers and logouts come as such (`security.md`, rule 9). */
  postRoutes(app: Express): void;
  pageRoutes(router: Router): void;
}

export function createFederationModule({ box, strategies, ...settings }: FederationSettings): FederationModule {
  const { kv, cookies, now } = settings;
  const deps: FederationDeps = {
    ...settings,
    providers: indexProviders(openStrategies(strategies)),
    attempts: createFederationAttempts({ kv, box, cookies, now }),
    tickets: createPostedResponses({ kv, box }),
    pendingLogouts: createPendingLogouts({ kv, box }),
    offers: createPendingLinks({ kv, box, cookies }),
  };
  return {
    providers: deps.providers,
    begin: (...args) => startAttempt(deps, ...args),
    signIn: (...args) => startSignIn(deps, ...args),
    wayOut: (...args) => upstreamLogoutUrl(deps, ...args),
    endsThere: (upstream) => endsAtProvider(deps, upstream),
    postRoutes: (app) => postsFromElsewhere(app, deps),
    pageRoutes: (router) => federationRoutes(router, deps),
  };
}
