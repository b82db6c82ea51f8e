import type { SessionSubscriber } from '../sessions/index.ts';
import type { GrantStore } from './grant-store.ts';
import type { OidcSessions } from './provider-session.ts';
import type { TokenCookies } from './token-cookies.ts';

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
export function sessionSubscriber(
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
