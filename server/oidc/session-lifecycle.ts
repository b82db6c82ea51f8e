import type Provider from 'oidc-provider';
import type { SessionHooks } from '../sessions/index.ts';
import { blocksAuthorization, type Step } from '../sign-in/index.ts';
import type { User } from '../users/index.ts';
import type { CanAccessClient } from './access-rule.ts';
import type { ClientSessionStore } from './client-session-store.ts';
import type { GrantStore } from './grant-store.ts';
import type { OidcSettings, OidcSubscribers } from './oidc-settings.ts';
import { refreshTokenTotalSeconds } from './provider-configuration.ts';
import { createProviderSessions, type OidcSessions } from './provider-session.ts';
import { createSessionGrants } from './session-grants.ts';
import { createSessionTokens } from './session-tokens.ts';
import { createTokenCookies, type TokenCookies } from './token-cookies.ts';

/** The grants of a session also end without a browser, so the command line has these two as well. */
export const createGrantHooks = (grants: GrantStore): Pick<SessionHooks, 'onSessionsEnded' | 'onAllSessionsEnded'> => ({
  onSessionsEnded: (sessions) => grants.revokeOfSessions(sessions.map(({ idHash }) => idHash)),
  onAllSessionsEnded: (userId, keeps) => grants.revokeOfAccount(userId, keeps),
});

/**
 * The data of this module that depend on a Foyer session: the provider's session in the same browser, the client apps'
 * grants, and the token cookies. `wiring.ts` lists these functions.
 */
function createSubscribers(
  grants: GrantStore,
  providerSessions: OidcSessions,
  tokenCookies: TokenCookies,
): OidcSubscribers {
  const { onSessionsEnded, onAllSessionsEnded } = createGrantHooks(grants);
  return {
    moveGrants: (before, after) => grants.moveToSession(before.idHash, after.idHash),
    replaceProviderSession: ({ req, res, session }) => providerSessions.replace(req, res, session),
    mintTokenCookies: ({ res, session }) => tokenCookies.mint(res, session),
    revokeGrantsOfSessions: onSessionsEnded,
    revokeGrantsOfUser: onAllSessionsEnded,
    revokeOfflineAccess: (userId, keepIdHash) => grants.revokeOfflineOfOthers(userId, keepIdHash),
    clearTokenCookies: async ({ res }) => tokenCookies.clear(res),
    endProviderSession: ({ req, res }) => providerSessions.end(req, res),
  };
}

interface SessionDataParts {
  provider: () => Provider;
  grants: GrantStore;
  clientSessions: ClientSessionStore;
  canAccessClient: CanAccessClient;
  toNextStep: (user: User) => Step;
}

/** The data of this module that depend on a Foyer session, and the functions that follow its session. */
export function createSessionData(settings: OidcSettings, parts: SessionDataParts) {
  const { cookies, database, kv, log, now, sessions, membershipClaims, rememberMs, idleMs } = settings;
  const { provider, grants, clientSessions, canAccessClient, toNextStep } = parts;
  const secure = cookies.options.secure ?? false;
  const providerSessions = createProviderSessions(provider, { rememberMs, idleMs }, { secure });
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
    issue: createSessionTokens({ provider, grants: sessionGrants, membershipClaims }),
    isReady: (user) => !blocksAuthorization(toNextStep(user)),
    canAccessClient,
    now,
  });
  const subscribers = createSubscribers(grants, providerSessions, tokenCookies);
  return { providerSessions, sessionGrants, tokenCookies, subscribers };
}
