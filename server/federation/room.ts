import type { Express, Request, Response, Router } from 'express';
import type { UpstreamSession } from '../session/index.ts';
import { createAttempts, type Intent } from './attempts.ts';
import { type Beginning, beginAttempt } from './begin.ts';
import { beginSignIn } from './begin-sign-in.ts';
import type { FederationDeps, FederationSettings } from './deps.ts';
import { createLeavings, endsThere, wayOut } from './logouts.ts';
import { createOffers } from './offers.ts';
import { indexProviders, type Provider, type Providers } from './providers.ts';
import { federationRoutes, postsFromElsewhere } from './routes.ts';
import { openStrategies } from './strategies.ts';
import { createTickets } from './tickets.ts';

export interface FederationRoom {
  providers: Providers;
  /** @returns the provider's address; see `beginAttempt`. @throws {FederationRefusal} too-many, unreachable */
  begin(req: Request, res: Response, provider: Provider, intent: Intent, beginning: Beginning): Promise<string>;
  /** Answers the browser: leads to the provider, or back to the sign-in page with the reason why not. */
  signIn(req: Request, res: Response, provider: Provider, beginning: Beginning): Promise<void>;
  /**
   * Where a browser goes that has just been signed out here, out of a session that a provider began.
   * @param returnTo where signing out leads; undefined: to a page of ours
   */
  wayOut(upstream: UpstreamSession, returnTo: string | undefined): ReturnType<typeof wayOut>;
  /** What the provider of a session is called, and whether signing out here signs out there, too. */
  endsThere(upstream: UpstreamSession): { name: string; ends: boolean } | undefined;
  /** Before anything refuses posts from other sites: SAML's answers and logouts come as such (`security.md`, rule 9). */
  postRoutes(app: Express): void;
  pageRoutes(router: Router): void;
}

export function openFederation({ box, strategies, ...settings }: FederationSettings): FederationRoom {
  const { kv, cookies, now } = settings;
  const deps: FederationDeps = {
    ...settings,
    providers: indexProviders(openStrategies(strategies)),
    attempts: createAttempts({ kv, box, cookies, now }),
    tickets: createTickets({ kv, box }),
    leavings: createLeavings({ kv, box }),
    offers: createOffers({ kv, box, cookies }),
  };
  return {
    providers: deps.providers,
    begin: (...given) => beginAttempt(deps, ...given),
    signIn: (...given) => beginSignIn(deps, ...given),
    wayOut: (...given) => wayOut(deps, ...given),
    endsThere: (upstream) => endsThere(deps, upstream),
    postRoutes: (app) => postsFromElsewhere(app, deps),
    pageRoutes: (router) => federationRoutes(router, deps),
  };
}
