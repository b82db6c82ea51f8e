import type Provider from 'oidc-provider';
import type { SessionSubscriber } from '../sessions/index.ts';
import { blocksAuthorization, type Step } from '../sign-in/index.ts';
import type { User } from '../users/index.ts';
import type { CanAccessClient } from './access-rule.ts';
import type { ClientSessionStore } from './client-session-store.ts';
import type { GrantStore } from './grant-store.ts';
import type { OidcSettings } from './oidc-settings.ts';
import { refreshTokenTotalSeconds } from './provider-configuration.ts';
import { createProviderSessions, type OidcSessions } from './provider-session.ts';
import { createSessionGrants } from './session-grants.ts';
import { createSessionTokens } from './session-tokens.ts';
import { createTokenCookies, type TokenCookies } from './token-cookies.ts';

/** The grants of a session also end without a browser, so the command line has these two as well. */
export function createGrantHooks(grants: GrantStore): Required<Pick<SessionSubscriber, 'ended' | 'allEnded'>> {
  return {
    ended: (sessions) => grants.revokeOfSessions(sessions.map(({ idHash }) => idHash)),
    allEnded: (userId, keeps) => grants.revokeOfAccount(userId, keeps),
  };
}

/**
 * The data of this module that depend on a Foyer session: the provider's session in the same browser, the client apps'
 * grants, and the token cookies.
 */
function sessionSubscriber(
  grants: GrantStore,
  providerSessions: OidcSessions,
  tokenCookies: TokenCookies,
): SessionSubscriber {
  return {
    ...createGrantHooks(grants),
    othersEnded: (userId, keepIdHash) => grants.revokeOfflineOfOthers(userId, keepIdHash),
    async began(req, res, session) {
      await Promise.all([providerSessions.replace(req, res, session), tokenCookies.begin(res, session)]);
    },
    replaced: (before, after) => grants.moveToSession(before.idHash, after.idHash),
    async cleared(req, res) {
      tokenCookies.clear(res);
      await providerSessions.end(req, res);
    },
  };
}

interface SessionDataParts {
  provider: () => Provider;
  grants: GrantStore;
  clientSessions: ClientSessionStore;
  canAccessClient: CanAccessClient;
  toNextStep: (user: User) => Step;
}

/** The data of this module that depend on a Foyer session, and their subscriber. */
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
  const subscriber = sessionSubscriber(grants, providerSessions, tokenCookies);
  return { providerSessions, sessionGrants, tokenCookies, subscriber };
}
