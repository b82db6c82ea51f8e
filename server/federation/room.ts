import type { Express, Router } from 'express';
import type { RequestContext } from '../http/index.ts';
import type { UpstreamSession } from '../sessions/index.ts';
import { createFederationAttempts } from './attempts.ts';
import type { FederationDeps, FederationSettings } from './deps.ts';
import { createPendingLinks } from './pending-links.ts';
import { createPostedResponses } from './posted-responses.ts';
import { indexProviders, type Provider, type Providers } from './providers.ts';
import { federationRoutes, postsFromElsewhere } from './routes.ts';
import { type StartAttemptInput, startAttempt } from './start-attempt.ts';
import { type StartSignInInput, startSignIn } from './start-sign-in.ts';
import { openStrategies } from './strategies.ts';
import { createPendingLogouts, endsAtProvider, upstreamLogoutUrl } from './upstream-logout.ts';

export interface FederationModule {
  providers: Providers;
  /** @returns the provider's address; see `startAttempt`. @throws {FederationError} too-many, unreachable */
  begin(r: RequestContext, provider: Provider, beginning: StartAttemptInput): Promise<string>;
  /** Redirects to the provider, or back to the sign-in page with the reason of the refusal. */
  signIn(r: RequestContext, provider: Provider, beginning: StartSignInInput): Promise<void>;
  /**
   * The provider's logout address for a browser that has just been signed out here from a federated session.
   * @param returnTo the address after the logout; undefined: a page of this site
   */
  upstreamLogoutUrl(upstream: UpstreamSession, returnTo: string | undefined): ReturnType<typeof upstreamLogoutUrl>;
  /** The name of a session's provider, and whether a logout here also ends the session there. */
  endsThere(upstream: UpstreamSession): { name: string; ends: boolean } | undefined;
  /**
   * Precedes the guard against cross-site posts: SAML's responses and logouts are such posts (`security.md`, rule 9).
   */
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
    begin: (r, provider, beginning) => startAttempt(r, deps, { ...beginning, provider }),
    signIn: (r, provider, beginning) => startSignIn(r, deps, { ...beginning, provider }),
    upstreamLogoutUrl: (...args) => upstreamLogoutUrl(deps, ...args),
    endsThere: (upstream) => endsAtProvider(deps, upstream),
    postRoutes: (app) => postsFromElsewhere(app, deps),
    pageRoutes: (router) => federationRoutes(router, deps),
  };
}
