import type { SessionLinks } from '../session/index.ts';
import type { GrantStore } from './grant-store.ts';
import type { ProviderSessions } from './provider-session.ts';

/** What the client apps hold of a session ends without a browser, so the command line has these two as well. */
export function createGrantLinks(grants: GrantStore): Pick<SessionLinks, 'ended' | 'allEnded'> {
  return {
    ended: ({ idHash }) => grants.revokeOfSession(idHash),
    allEnded: (userId) => grants.revokeOfAccount(userId),
  };
}

/** What of this room hangs on a Foyer session: the provider's session in the same browser, and the client apps' grants. */
export function createSessionLinks(grants: GrantStore, providerSessions: ProviderSessions): SessionLinks {
  return {
    ...createGrantLinks(grants),
    began: (req, res, session) => providerSessions.replace(req, res, session),
    replaced: (before, after) => grants.moveToSession(before.idHash, after.idHash),
    cleared: (req, res) => providerSessions.end(req, res),
  };
}
