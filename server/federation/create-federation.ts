import type { Express, Router } from 'express';
import type { ProvidersFile } from '../../config/providers.ts';
import type { Logger, RequestContext } from '../http/index.ts';
import type { UpstreamSession } from '../sessions/index.ts';
import { hourMs } from '../shared/index.ts';
import { createLease, type KeyValueStore, runPeriodically, type SecretBox } from '../store/index.ts';
import { createFederationAttempts } from './attempts.ts';
import type { FederationDeps, FederationSettings } from './deps.ts';
import { createPendingLinks } from './pending-links.ts';
import { createPostedResponses } from './posted-responses.ts';
import { createProviderRegistry, type Provider, type Providers, type StrategySettings } from './providers.ts';
import { federationRoutes, postsFromElsewhere } from './routes.ts';
import type { ProviderNotice } from './sign-in-notices.ts';
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
   * The pending link that this browser was offered: its notice stays while the sign-in leads to its confirmation. `email`
   * is the address that the provider has named.
   */
  findOffer(r: RequestContext): Promise<(ProviderNotice & { email: string | undefined }) | undefined>;
  /**
   * Precedes the guard against cross-site posts: SAML's responses and logouts are such posts (`security.md`, rule 9).
   */
  postRoutes(app: Express): void;
  pageRoutes(router: Router): void;
  /** Stops the periodic job. */
  stop(): Promise<void>;
}

/** The configured providers, and how a browser signs out there: other modules need both before federation exists. */
export function createUpstreamLogout({
  strategies,
  kv,
  box,
  log,
}: {
  strategies: StrategySettings;
  kv: KeyValueStore;
  /** Seals the logouts that are under way. */
  box: SecretBox;
  log: Logger;
}) {
  const settings: StrategySettings = { ...strategies, rollOver: { kv, box, log } };
  const { providers, replace } = createProviderRegistry(openStrategies(settings));
  const pendingLogouts = createPendingLogouts({ kv, box });
  return {
    providers,
    pendingLogouts,
    /** Puts the content of the file in force; the strategies are new ones, with nothing of the old ones. */
    replaceProviders: (file: ProvidersFile) => replace(openStrategies({ ...settings, file })),
    upstreamLogoutUrl: (upstream: UpstreamSession, returnTo: string | undefined) =>
      upstreamLogoutUrl({ providers, pendingLogouts }, upstream, returnTo),
    endsAtProvider: (upstream: UpstreamSession) => endsAtProvider({ providers }, upstream),
  };
}

/** Looks for new certificates in one process at a time. Returns the function that stops it. */
function renewCertificates({ providers, database, log, now }: FederationDeps): () => Promise<void> {
  const lease = createLease(database, 'certificates of providers', { ttlMs: 2 * hourMs, now });
  return runPeriodically(lease, {
    everyMs: hourMs,
    run: async () => {
      for (const { saml } of providers.all) await saml?.renewDaily?.();
    },
    onError: (error) => log.warn({ err: error }, 'could not look for new certificates of providers'),
  });
}

export function createFederationModule({ box, ...settings }: FederationSettings): FederationModule {
  const { kv, cookies, now } = settings;
  const deps: FederationDeps = {
    ...settings,
    attempts: createFederationAttempts({ kv, box, cookies, now }),
    tickets: createPostedResponses({ kv, box }),
    offers: createPendingLinks({ kv, box, cookies }),
  };
  return {
    providers: deps.providers,
    begin: (r, provider, beginning) => startAttempt(r, deps, { ...beginning, provider }),
    signIn: (r, provider, beginning) => startSignIn(r, deps, { ...beginning, provider }),
    async findOffer({ req }) {
      const offer = await deps.offers.current(req);
      const provider = offer && deps.providers.find(offer.identity.provider);
      return provider && { why: offer.linkId === undefined ? 'offer' : 'prove', provider, email: offer.identity.email };
    },
    postRoutes: (app) => postsFromElsewhere(app, deps),
    pageRoutes: (router) => federationRoutes(router, deps),
    stop: renewCertificates(deps),
  };
}
