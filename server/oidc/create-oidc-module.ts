import type Provider from 'oidc-provider';
import type { ConnectedApps } from '../account/index.ts';
import { type DirectHandler, HttpError, rejectCrossSite } from '../http/index.ts';
import type { Step } from '../sign-in/index.ts';
import type { Database } from '../store/index.ts';
import type { User } from '../users/index.ts';
import { createCanAccessClient } from './access-rule.ts';
import { createApiGuard } from './api-guard.ts';
import { createAuthorizationRequests } from './authorization-requests.ts';
import { createLogoutNotices } from './backchannel-logouts.ts';
import { createProviderBuilder } from './build-provider.ts';
import { createClientRequests } from './client-authorizations.ts';
import { createClientSessionStore } from './client-session-store.ts';
import { findClient } from './client-store.ts';
import { createUseRecorder, listConnectedApps, type RecordUse } from './connected-app-store.ts';
import type { OidcDeps } from './deps.ts';
import { sweepsEndedSessions } from './ended-sessions.ts';
import { createGrantStore, type GrantStore } from './grant-store.ts';
import type { OidcModule, OidcSettings } from './oidc-settings.ts';
import { oidcOperations } from './operations.ts';
import { oidcPageRoutes } from './page-routes.ts';
import { createPendingRequests } from './pending-authorizations.ts';
import { authorizeRecords, plainAuthorize } from './plain-authorize.ts';
import { exchangeRecords, plainExchange } from './plain-exchange.ts';
import { plainUserinfo } from './plain-userinfo.ts';
import { createPostedFields } from './posted-fields.ts';
import { createKeyWatcher } from './reload-on-key-change.ts';
import { admitPost, consumeVisitorAuthorization, requestLimits } from './request-limits.ts';
import { type GrantsOfRequest, grantsOfRequest } from './request-reads.ts';
import { directCalls, providerRoutes } from './routes.ts';
import { routes } from './routes-table.ts';
import { createScriptOriginTest } from './script-origins.ts';
import { createServerLogout, type ServerLogout } from './server-logout.ts';
import { createSessionData } from './session-lifecycle.ts';
import { shortLivedAdapter } from './short-lived-adapter.ts';
import { createGrantSweeper } from './sweep-grants.ts';

/** More than any request has. */
const maxParameters = 100;

/** The library's handler of the current provider. It rejects with an {@link HttpError} what has too many parameters. */
function createHandOver(provider: () => Provider): DirectHandler {
  let current = provider();
  let answer = current.callback();
  return async (req, res) => {
    // Koa reads a query in a time that grows with the square of their number: thousands fit into an address.
    if ((req.url ?? '').split('&', maxParameters + 1).length > maxParameters)
      throw new HttpError('badRequest', { detail: 'too many parameters' });
    const newest = provider();
    if (current !== newest) {
      current = newest;
      answer = newest.callback();
    }
    return answer(req, res);
  };
}

interface ProviderAccess {
  provider: () => Provider;
  serverLogout: ServerLogout;
  grants: GrantsOfRequest;
  recordUse: RecordUse;
  toNextStep(user: User): Step;
}

/** The functions that hand requests to the library. */
function createProviderAccess(
  settings: OidcSettings,
  { provider, serverLogout, grants, recordUse, toNextStep }: ProviderAccess,
): Pick<OidcModule, 'providerRoutes' | 'directCalls'> {
  const { publicUrl, kv, visitorGate, oidcBox, log } = settings;
  const admission = { kv, gate: visitorGate };
  const adapterDeps = { ...settings, box: oidcBox, grants };
  const plainDeps = { ...settings, issuer: publicUrl, grants, provider, recordUse, toNextStep };
  const tokens = shortLivedAdapter('AccessToken', adapterDeps);
  const handOver = createHandOver(provider);
  const posted = createPostedFields(kv, oidcBox, (...post) => admitPost(admission, ...post));
  return {
    providerRoutes: (session) =>
      providerRoutes(session, handOver, {
        limits: [...requestLimits(kv), [routes.code_verification, rejectCrossSite(publicUrl)]],
        admitVisitor: (req) => consumeVisitorAuthorization(admission, req, req.ip ?? ''),
        posted,
        serverLogout,
        log,
      }),
    directCalls: (session, getAddress) =>
      directCalls(session, handOver, {
        admitVisitor: (req) => consumeVisitorAuthorization(admission, req, getAddress(req)),
        restore: posted.restore,
        authorize: (library) => plainAuthorize({ ...plainDeps, records: authorizeRecords(adapterDeps) }, library),
        userinfo: plainUserinfo({ ...plainDeps, tokens }, handOver),
        token: plainExchange({ ...plainDeps, records: exchangeRecords(adapterDeps) }, handOver),
      }),
  };
}

export async function createOidcModule(settings: OidcSettings): Promise<OidcModule> {
  const { database, kv, oidcBox, cookies, now, sessions, defaultClientId } = settings;
  const watcher = createKeyWatcher(settings);
  const { current: provider } = watcher;
  const canAccessClient = createCanAccessClient(settings.membershipClaims);
  const toNextStep = (user: User) => settings.nextRedirect(user, { search: '' }).step;
  const notices = createLogoutNotices(settings.outbox);
  const grants = grantsOfRequest(createGrantStore({ database, box: oidcBox, notices, now }));
  const clientSessions = createClientSessionStore(database, now);
  const sessionData = createSessionData(settings, { provider, grants, clientSessions, canAccessClient, toNextStep });
  const { providerSessions, sessionGrants, tokenCookies, subscribers } = sessionData;
  const pending = createPendingRequests({ kv, box: oidcBox, cookies, now });
  const requests = createAuthorizationRequests(provider, pending, now);
  const deps: OidcDeps = { ...settings, canAccessClient, provider, requests, providerSessions };
  const serverLogout = createServerLogout({ grants, clientSessions });
  const recordUse = createUseRecorder(database, settings);
  const parts = { deps, grants, sessionGrants, toNextStep, serverLogout, recordUse };
  await watcher.start(createProviderBuilder(settings, parts));
  const sweepSessions = sweepsEndedSessions({
    grants,
    clientId: defaultClientId,
    isLive: (session) => sessions.isSessionLive(session),
  });
  const sweeper = createGrantSweeper(settings, [grants, clientSessions], sweepSessions);

  return {
    subscribers,
    grants,
    connectedApps: createConnectedApps(database, grants, now),
    ...createClientRequests(deps),
    ...createProviderAccess(settings, { provider, serverLogout, grants, recordUse, toNextStep }),
    tokenCookies: tokenCookies.keep(sessions),
    pageRoutes: (router) => oidcPageRoutes(router, deps),
    operations: oidcOperations(deps),
    apiGuard: (session) =>
      createApiGuard({ ...deps, session, toNextStep, now, proofNonceSecret: settings.proofNonceSecret }),
    isScriptOrigin: createScriptOriginTest(database),
    refreshKeys: watcher.refresh,
    sweep: sweeper.sweep,
    async stop() {
      watcher.stop();
      await sweeper.stop();
    },
  };
}

function createConnectedApps({ db }: Database, grants: GrantStore, now: () => number): ConnectedApps {
  return {
    list: (userId) => listConnectedApps(db, userId, now()),
    remove: (trx, userId, clientId) => grants.revokeOfMember(trx, userId, clientId),
    findName: async (clientId) => (await findClient(db, clientId))?.client_name,
  };
}
