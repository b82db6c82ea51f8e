import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response, Router } from 'express';
import type Provider from 'oidc-provider';
import type { JWK } from 'oidc-provider';
import type { ConnectedApps } from '../account/index.ts';
import type { Catalogue } from '../billing/index.ts';
import {
  type ApiOperation,
  type DirectHandler,
  type Guard,
  type HostCookies,
  type Logger,
  type Pages,
  rejectCrossSite,
} from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { Metrics } from '../metrics/index.ts';
import { countPasskeys } from '../passkeys/index.ts';
import { toLifetime, type VisitorGate } from '../rate-limits/index.ts';
import { getCurrentSession, type SessionSubscriber, type Sessions } from '../sessions/index.ts';
import { type ClientId, sha256 } from '../shared/index.ts';
import { blocksAuthorization, type ClientAuthorizations, type NextRedirect } from '../sign-in/index.ts';
import { createLease, type Database, type KeyValueStore, runPeriodically, type SecretBox } from '../store/index.ts';
import type { GetMembershipClaims, User } from '../users/index.ts';
import { createCanAccessClient } from './access-rule.ts';
import { createApiGuard } from './api-guard.ts';
import { createAuthorizationRequests, keepAsLong } from './authorization-requests.ts';
import { createLogoutNotices } from './backchannel-logouts.ts';
import { createClientRequests } from './client-authorizations.ts';
import { type ClientSessionStore, createClientSessionStore } from './client-session-store.ts';
import { createConnectedApps } from './connected-apps.ts';
import type { OidcDeps, UpstreamLogout } from './deps.ts';
import type { UserCodeLimits } from './device-guesses.ts';
import { createDevicePages } from './device-pages.ts';
import { endLocalSession } from './end-session.ts';
import { sweepsEndedSessions } from './ended-sessions.ts';
import { createRenderError } from './error-page.ts';
import { allowFormPost } from './form-post.ts';
import { createGrantStore, type GrantStore } from './grant-store.ts';
import { addIssParameter } from './iss-parameter.ts';
import { fillInForLegacy } from './legacy-requests.ts';
import { oidcOperations } from './operations.ts';
import { oidcPageRoutes } from './page-routes.ts';
import { createPendingRequests } from './pending-authorizations.ts';
import { allowPopups } from './popup.ts';
import { createPostedFields } from './posted-fields.ts';
import { createProvider, prolongUsedTokens } from './provider.ts';
import { refreshTokenTotalSeconds } from './provider-configuration.ts';
import { createProviderSessions } from './provider-session.ts';
import { allowIdTokenInQuery } from './query-response-mode.ts';
import { recordUses } from './record-uses.ts';
import { createRefreshAnswers } from './refresh-token-reuse.ts';
import { watchKeyChanges } from './reload-on-key-change.ts';
import { admitPost, consumeUserAuthorization, consumeVisitorAuthorization, requestLimits } from './request-limits.ts';
import { requireAnswerOwner } from './resume-guard.ts';
import { directCalls, providerRoutes } from './routes.ts';
import { routes } from './routes-table.ts';
import { createSessionGrants } from './session-grants.ts';
import { sessionSubscriber } from './session-lifecycle.ts';
import { createSessionTokens } from './session-tokens.ts';
import { introspectStructuredTokens } from './structured-tokens.ts';
import { createTokenCookies } from './token-cookies.ts';
import { countIssuedTokens } from './token-metrics.ts';

export interface OidcSettings {
  publicUrl: string;
  development: boolean;
  rememberMs: number;
  idleMs: number;
  keysRefreshMs: number;
  cookieKeys: string[];
  proofNonceSecret: Buffer;
  userCodeSecret: Buffer;
  limits: UserCodeLimits;
  database: Database;
  kv: KeyValueStore;
  visitorGate: VisitorGate;
  oidcBox: SecretBox;
  keysBox: SecretBox;
  /** It notifies client apps of ended sessions. */
  outbox: Outbox;
  cookies: HostCookies;
  /** Cookies that sibling apps can read: the domain's, or this host's own. */
  sharedCookies: HostCookies;
  /** The client that owns the token cookies. */
  defaultClientId: ClientId;
  pages: Pages;
  log: Logger;
  metrics: Metrics;
  now: () => number;
  fail: OidcDeps['fail'];
  nextRedirect: NextRedirect;
  /** The claims of the scope `membership`. */
  membershipClaims: GetMembershipClaims;
  /** For the page that lists the plans of a client app. */
  catalogue: Catalogue;
  plansAreSold: boolean;
  sessions: Sessions;
  providersOut: UpstreamLogout;
}

/** Includes the functions of client apps' requests for sign-in and sign-up. */
export interface OidcModule extends ClientAuthorizations {
  /** The provider's session, the grants and the token cookies follow the session of a browser. */
  sessionSubscriber: SessionSubscriber;
  grants: GrantStore;
  connectedApps: ConnectedApps;
  /** The provider's routes, before body parsers and cross-site guard. */
  providerRoutes(session: RequestHandler): Router;
  /** Those of them that bypass Express. */
  directCalls(
    session: RequestHandler,
    getAddress: (req: IncomingMessage) => string,
  ): (method: string, path: string) => DirectHandler | undefined;
  /** Precedes all pages: renews the token cookies of a signed-in user. */
  tokenCookies: RequestHandler;
  pageRoutes(router: Router): void;
  /** The JSON calls of this module. */
  operations: readonly ApiOperation[];
  /** The guard of all JSON routes of every module; `session` loads the session of a request without a token. */
  apiGuard(session: RequestHandler): Guard;
  /** Checks at once whether the signing keys have changed. */
  refreshKeys(): Promise<void>;
  /** Deletes expired data, and the grants of sessions that are gone: one process does it every ten minutes. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

const sweepEveryMs = 10 * 60 * 1000;
const sweepBatch = 500;

/** Deletes expired rows of these stores. */
async function sweepStores(stores: readonly Pick<GrantStore | ClientSessionStore, 'sweep'>[], nowMs: number) {
  for (const store of stores) while ((await store.sweep(nowMs, sweepBatch)) === sweepBatch);
}

/** Periodically deletes expired grants, refresh tokens and client sessions, in one process at a time. */
function sweepNowAndThen(
  { database, now, log }: Pick<OidcSettings, 'database' | 'now' | 'log'>,
  sweep: () => Promise<void>,
): () => Promise<void> {
  const lease = createLease(database, 'sweep of expired grants', { ttlMs: 2 * sweepEveryMs, now });
  return runPeriodically(lease, {
    everyMs: sweepEveryMs,
    run: sweep,
    onError: (error) => log.warn({ err: error }, 'could not sweep expired grants'),
  });
}

export async function createOidcModule(settings: OidcSettings): Promise<OidcModule> {
  const { database, kv, oidcBox, keysBox, cookies, pages, log, metrics, now, publicUrl } = settings;
  const { rememberMs, idleMs, sessions, nextRedirect, fail, catalogue, plansAreSold } = settings;
  const admission = { kv, gate: settings.visitorGate };
  const canAccessClient = createCanAccessClient(settings.membershipClaims);
  const grants = createGrantStore({ database, box: oidcBox, notices: createLogoutNotices(settings.outbox), now });
  const clientSessions = createClientSessionStore(database, now);
  const answers = createRefreshAnswers(kv, oidcBox, now);
  const provider = (): Provider => watch.current();
  const providerSessions = createProviderSessions(
    provider,
    { rememberMs, idleMs },
    { secure: cookies.options.secure ?? false },
  );
  const toNextStep = (user: User) => nextRedirect(user, { search: '' }).step;
  const sessionGrants = createSessionGrants({
    provider,
    grants,
    clientSessions,
    isLive: (session) => sessions.isSessionLive(session),
    lastsLongEnough: (grant) => (grant.exp ?? 0) > now() / 1000 + refreshTokenTotalSeconds,
  });
  const tokenCookies = createTokenCookies({
    clientId: settings.defaultClientId,
    hostCookies: cookies,
    shared: settings.sharedCookies,
    database,
    kv,
    log,
    provider,
    issue: createSessionTokens({ provider, grants: sessionGrants, membershipClaims: settings.membershipClaims }),
    isReady: (user) => !blocksAuthorization(toNextStep(user)),
    mayEnter: canAccessClient,
    now,
  });
  const requests = createAuthorizationRequests(
    provider,
    createPendingRequests({ kv, box: oidcBox, cookies, now }),
    now,
  );
  const deps: OidcDeps = {
    publicUrl,
    database,
    pages,
    log,
    cookies,
    defaultClientId: settings.defaultClientId,
    sessions,
    providersOut: settings.providersOut,
    nextRedirect,
    canAccessClient,
    catalogue,
    plansAreSold,
    provider,
    requests,
    providerSessions,
    fail,
  };

  const build = (keys: JWK[]): Provider => {
    const built = createProvider(
      {
        issuer: publicUrl,
        database,
        kv,
        visitorGate: settings.visitorGate,
        box: oidcBox,
        grants,
        answers,
        metrics,
        now,
        cookies,
        cookieKeys: settings.cookieKeys,
        proofNonceSecret: settings.proofNonceSecret,
        userCodeSecret: settings.userCodeSecret,
        development: settings.development,
        rememberMs,
        idleMs,
        member: (req) => sessions.getCurrentUser(req),
        sessionGrants,
        membershipClaims: settings.membershipClaims,
        toNextStep,
        mayEnter: canAccessClient,
        availableFactors: async (user) => ({
          secondFactor: user.mfaPreference !== 'none',
          passkey: (await countPasskeys(database.db, user.id)) > 0,
        }),
        async interactionUrl(ctx, interaction) {
          const req = ctx.req as Request;
          const member = getCurrentSession(req)?.userId;
          if (member !== undefined) await consumeUserAuthorization(admission, req, { member, interaction });
          await keepAsLong(kv, interaction, toLifetime(req));
          return requests.begin(req, ctx.res as Response, interaction);
        },
        renderError: createRenderError(deps),
        onServerError: (_ctx, error) => log.error({ err: error }, 'OpenID Provider failed'),
      },
      keys,
    );
    requireAnswerOwner(built, deps);
    endLocalSession(built, deps);
    fillInForLegacy(built);
    allowIdTokenInQuery(built);
    allowFormPost(built);
    allowPopups(built);
    createDevicePages(built, { ...deps, kv, limits: settings.limits });
    introspectStructuredTokens(built);
    addIssParameter(built);
    answers.attach(built, sha256);
    prolongUsedTokens(built, now);
    countIssuedTokens(built, metrics);
    recordUses(built, database, { now, log });
    return built;
  };
  const watch = await watchKeyChanges({
    database,
    box: keysBox,
    build,
    refreshMs: settings.keysRefreshMs,
    now,
    log,
    onKeys: (keys) => metrics.signingKeys(keys.filter(({ state }) => state === 'active')),
  });
  let handler = { of: provider(), answer: provider().callback() };
  const handOver: DirectHandler = (req, res) => {
    const current = provider();
    if (handler.of !== current) handler = { of: current, answer: current.callback() };
    return handler.answer(req, res);
  };
  const sweepSessions = sweepsEndedSessions({
    grants,
    clientId: settings.defaultClientId,
    isLive: (session) => sessions.isSessionLive(session),
  });
  const sweep = async () => {
    await sweepStores([grants, clientSessions], now());
    await sweepSessions();
  };
  const posted = createPostedFields(kv, oidcBox, (...post) => admitPost(admission, ...post));
  const stopSweeping = sweepNowAndThen(settings, sweep);

  return {
    sessionSubscriber: sessionSubscriber(grants, providerSessions, tokenCookies),
    grants,
    connectedApps: createConnectedApps(database, grants, now),
    ...createClientRequests(deps),
    providerRoutes: (session) =>
      providerRoutes(session, handOver, {
        limits: [...requestLimits(kv), [routes.code_verification, rejectCrossSite(publicUrl)]],
        admitVisitor: (req) => consumeVisitorAuthorization(admission, req, req.ip ?? ''),
        posted,
      }),
    directCalls: (session, getAddress) =>
      directCalls(session, handOver, {
        admitVisitor: (req) => consumeVisitorAuthorization(admission, req, getAddress(req)),
        restore: posted.restore,
      }),
    tokenCookies: tokenCookies.keep(sessions),
    pageRoutes: (router) => oidcPageRoutes(router, deps),
    operations: oidcOperations({ database, provider, defaultClientId: settings.defaultClientId }),
    apiGuard: (session) =>
      createApiGuard({
        publicUrl,
        database,
        provider,
        sessions,
        session,
        mayEnter: canAccessClient,
        toNextStep,
        now,
        proofNonceSecret: settings.proofNonceSecret,
      }),
    refreshKeys: () => watch.refresh(),
    sweep,
    async stop() {
      watch.stop();
      await stopSweeping();
    },
  };
}
