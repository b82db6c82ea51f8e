import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response, Router } from 'express';
import type Provider from 'oidc-provider';
import type { JWK } from 'oidc-provider';
import type { MembershipClaimsOf, User } from '../account/index.ts';
import {
  type DirectHandler,
  type Guard,
  type HostCookies,
  type Logger,
  type Operation,
  type Pages,
  refuseCrossSite,
} from '../http/index.ts';
import type { Catalogue } from '../membership/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { Metrics } from '../metrics/index.ts';
import { countPasskeys } from '../passkeys/index.ts';
import { lifetimeOf, type VisitorGate } from '../rate-limits/index.ts';
import { currentSession, type SessionLinks, type Sessions } from '../session/index.ts';
import type { ConnectedApps } from '../settings/index.ts';
import { sha256 } from '../shared/index.ts';
import { type ClientRequests, standsBeforeAuthorization, type WayOn } from '../sign-in/index.ts';
import { createLease, type Database, everySoOften, type KeyValueStore, type SecretBox } from '../store/index.ts';
import { createApiGuard } from './api-guard.ts';
import { createAuthorizationRequests } from './authorization-requests.ts';
import { createMayEnter, type MayEnter } from './client-entry.ts';
import { createClientRequests } from './client-requests.ts';
import { type ClientSessionStore, createClientSessionStore } from './client-session-store.ts';
import { createConnectedApps } from './connected-apps.ts';
import type { OauthDeps, ProvidersOut } from './deps.ts';
import type { UserCodeLimits } from './device-guesses.ts';
import { showDevicePages } from './device-pages.ts';
import { endSessionHere } from './end-session.ts';
import { sweepsEndedSessions } from './ended-sessions.ts';
import { createRenderError } from './error-page.ts';
import { allowFormPost } from './form-post.ts';
import { createGrantStore, type GrantStore } from './grant-store.ts';
import { allowIdTokenInQuery } from './id-token-in-query.ts';
import { countIssued } from './issued.ts';
import { fillInForLegacy } from './legacy-requests.ts';
import { createLogoutNotices } from './logout-notices.ts';
import { oauthOperations } from './operations.ts';
import { createPendingRequests } from './pending-requests.ts';
import { allowPopups } from './popup.ts';
import { createPostedFields } from './posted-fields.ts';
import { createProvider, prolongUsedTokens, refreshTokenTotalSeconds } from './provider.ts';
import { createProviderSessions } from './provider-session.ts';
import { watchProvider } from './provider-watch.ts';
import { recordUses } from './record-uses.ts';
import { createRefreshAnswers } from './refresh-answers.ts';
import { keepAsLong } from './request-lifetimes.ts';
import { admitPost, admitQuestion, admitVisitor, requestLimits } from './request-limits.ts';
import { nameIssuer } from './response-issuer.ts';
import { onlyWhoAnsweredGoesOn } from './resume-guard.ts';
import { directCalls, oauthPageRoutes, providerRoutes } from './routes.ts';
import { routes } from './routes-table.ts';
import { createSessionGrants } from './session-grants.ts';
import { createSessionLinks } from './session-links.ts';
import { createSessionTokens } from './session-tokens.ts';
import { introspectStructuredTokens } from './structured-tokens.ts';
import { createTokenCookies } from './token-cookies.ts';

export interface OauthSettings {
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
  /** Client apps are told by it when a session ends. */
  outbox: Outbox;
  cookies: HostCookies;
  /** What sibling apps may read: the domain's, or this host's own. */
  sharedCookies: HostCookies;
  /** The client in whose name members get token cookies. */
  defaultClientId: string;
  pages: Pages;
  log: Logger;
  metrics: Metrics;
  now: () => number;
  fail: OauthDeps['fail'];
  wayOn: WayOn;
  /** What the scope `membership` opens. */
  membershipClaims: MembershipClaimsOf;
  /** For the page that says which plans open a client app. */
  catalogue: Catalogue;
  plansAreSold: boolean;
  /** Made after the links, because each needs the other. */
  sessions: (links: SessionLinks) => Sessions;
  providersOut: ProvidersOut;
}

/** With what the rooms of signing in and up ask of client apps' requests. */
export interface OauthRoom extends ClientRequests {
  /** The one rule of who gets into a client app. */
  mayEnter: MayEnter;
  sessions: Sessions;
  grants: GrantStore;
  connectedApps: ConnectedApps;
  /** The provider's routes, before body parsers and cross-site guard. */
  providerRoutes(session: RequestHandler): Router;
  /** Those of them that go past Express. */
  directCalls(
    session: RequestHandler,
    addressOf: (req: IncomingMessage) => string,
  ): (method: string, path: string) => DirectHandler | undefined;
  /** Before all pages: keeps the token cookies of a signed-in member fresh. */
  tokenCookies: RequestHandler;
  pageRoutes(router: Router): void;
  /** The calls of this room in the JSON API. */
  operations: readonly Operation[];
  /** The guard of all JSON routes, of every room; `session` loads the session of a request without a token. */
  apiGuard(session: RequestHandler): Guard;
  /** Looks at once whether the signing keys have changed. */
  refreshKeys(): Promise<void>;
  /** Deletes what has expired, and what hangs on sessions that are gone: one process does it every ten minutes. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

const sweepEveryMs = 10 * 60 * 1000;
const sweepBatch = 500;

/** Deletes what has expired of these. */
async function sweepStores(stores: readonly Pick<GrantStore | ClientSessionStore, 'sweep'>[], nowMs: number) {
  for (const store of stores) while ((await store.sweep(nowMs, sweepBatch)) === sweepBatch);
}

/** Deletes expired grants, refresh tokens and sessions at client apps now and then, in one process at a time. */
function sweepNowAndThen(
  { database, now, log }: Pick<OauthSettings, 'database' | 'now' | 'log'>,
  sweep: () => Promise<void>,
): () => Promise<void> {
  const lease = createLease(database, 'sweep of expired grants', 2 * sweepEveryMs, now);
  return everySoOften(lease, sweepEveryMs, sweep, (error) =>
    log.warn({ err: error }, 'could not sweep expired grants'),
  );
}

export async function openOauth(settings: OauthSettings): Promise<OauthRoom> {
  const { database, kv, oidcBox, keysBox, cookies, pages, log, metrics, now, publicUrl } = settings;
  const { rememberMs, idleMs, wayOn, fail, catalogue, plansAreSold } = settings;
  const admission = { kv, gate: settings.visitorGate };
  const mayEnter = createMayEnter(settings.membershipClaims);
  const grants = createGrantStore(database, oidcBox, createLogoutNotices(settings.outbox), now);
  const clientSessions = createClientSessionStore(database, now);
  const answers = createRefreshAnswers(kv, oidcBox, now);
  const provider = (): Provider => watch.current();
  const providerSessions = createProviderSessions(
    provider,
    { rememberMs, idleMs },
    { secure: cookies.options.secure ?? false },
  );
  const stepOf = (user: User) => wayOn(user, { search: '' }).step;
  const sessionGrants = createSessionGrants(
    provider,
    grants,
    clientSessions,
    (session) => sessions.isLive(session),
    (grant) => (grant.exp ?? 0) > now() / 1000 + refreshTokenTotalSeconds,
  );
  const tokenCookies = createTokenCookies({
    clientId: settings.defaultClientId,
    own: cookies,
    shared: settings.sharedCookies,
    database,
    kv,
    log,
    provider,
    issue: createSessionTokens(provider, sessionGrants, settings.membershipClaims),
    isReady: (user) => !standsBeforeAuthorization(stepOf(user)),
    mayEnter,
    now,
  });
  const sessions = settings.sessions(createSessionLinks(grants, providerSessions, tokenCookies));
  const requests = createAuthorizationRequests(provider, createPendingRequests(kv, oidcBox, cookies, now), now);
  const deps: OauthDeps = {
    publicUrl,
    database,
    pages,
    log,
    cookies,
    sessions,
    providersOut: settings.providersOut,
    wayOn,
    ...{ mayEnter, catalogue, plansAreSold },
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
        member: (req) => sessions.member(req),
        sessionGrants,
        membershipClaims: settings.membershipClaims,
        stepOf,
        mayEnter,
        waysOf: async (user) => ({
          secondFactor: user.mfaPreference !== 'none',
          passkey: (await countPasskeys(database.db, user.id)) > 0,
        }),
        async interactionUrl(ctx, interaction) {
          const req = ctx.req as Request;
          const member = currentSession(req)?.userId;
          if (member !== undefined) await admitQuestion(admission, req, { member, interaction });
          await keepAsLong(kv, interaction, lifetimeOf(req));
          return requests.begin(req, ctx.res as Response, interaction);
        },
        renderError: createRenderError(deps),
        onServerError: (_ctx, error) => log.error({ err: error }, 'the provider failed'),
      },
      keys,
    );
    onlyWhoAnsweredGoesOn(built, deps);
    endSessionHere(built, deps);
    fillInForLegacy(built);
    allowIdTokenInQuery(built);
    allowFormPost(built);
    allowPopups(built);
    showDevicePages(built, deps, { kv, limits: settings.limits });
    introspectStructuredTokens(built);
    nameIssuer(built);
    answers.attach(built, sha256);
    prolongUsedTokens(built, now);
    countIssued(built, metrics);
    recordUses(built, database, { now, log });
    return built;
  };
  const watch = await watchProvider({
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
    isLive: (session) => sessions.isLive(session),
  });
  const sweep = async () => {
    await sweepStores([grants, clientSessions], now());
    await sweepSessions();
  };
  const posted = createPostedFields(kv, oidcBox, (...post) => admitPost(admission, ...post));
  const stopSweeping = sweepNowAndThen(settings, sweep);

  return {
    mayEnter,
    sessions,
    grants,
    connectedApps: createConnectedApps(database, grants, now),
    ...createClientRequests(deps, settings.defaultClientId),
    providerRoutes: (session) =>
      providerRoutes(
        session,
        handOver,
        [...requestLimits(kv), [routes.code_verification, refuseCrossSite(publicUrl)]],
        { admitVisitor: (req) => admitVisitor(admission, req, req.ip ?? ''), posted },
      ),
    directCalls: (session, addressOf) =>
      directCalls(session, handOver, {
        admitVisitor: (req) => admitVisitor(admission, req, addressOf(req)),
        restore: posted.restore,
      }),
    tokenCookies: tokenCookies.keep(sessions),
    pageRoutes: (router) => oauthPageRoutes(router, deps),
    operations: oauthOperations({ database, provider, defaultClientId: settings.defaultClientId }),
    apiGuard: (session) =>
      createApiGuard({
        ...{ publicUrl, database, provider, sessions, session, mayEnter, stepOf, now },
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
