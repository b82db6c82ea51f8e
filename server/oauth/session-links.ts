import type { SessionLinks } from '../session/index.ts';
import type { GrantStore } from './grant-store.ts';
import type { ProviderSessions } from './provider-session.ts';

/** What of this room hangs on a Foyer session: the provider's session in the same browser, and the client apps' grants. */
export function createSessionLinks(grants: GrantStore, providerSessions: ProviderSessions): SessionLinks {
  return {
    began: (req, res, session) => providerSessions.replace(req, res, session),
    replaced: (before, after) => grants.moveToSession(before.idHash, after.idHash),
    ended: ({ idHash }) => grants.revokeOfSession(idHash),
    allEnded: (userId) => grants.revokeOfAccount(userId),
    cleared: (req, res) => providerSessions.end(req, res),
  };
}
