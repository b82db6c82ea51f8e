import type { Holding } from '../leaving/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { Database } from '../store/index.ts';
import { clientSessionsOf } from './client-session-store.ts';
import { listConnectedApps } from './connected-app-store.ts';
import { createLogoutNotices } from './logout-notices.ts';
import { eraseGrants, grantsOf } from './member-grants-store.ts';

/** What client apps were given of a member. */
export const oauthHolding = ({ db }: Database): Holding => ({
  name: 'clientApps',
  tell: ({ id }) => grantsOf(db, id),
  erase: (trx, { id }) => eraseGrants(trx, id),
});

/** The client apps that a member is connected with. They go with the grants (see {@link oauthHolding}). */
export const connectedAppHolding = ({ db }: Database, now: () => number): Holding => ({
  name: 'connectedApps',
  async tell({ id }) {
    return (await listConnectedApps(db, id, now())).map(({ resources, ...app }) => ({
      ...app,
      resources: Object.fromEntries(resources),
    }));
  },
  erase: async () => {},
});

/** Which client apps a member is signed in to, of those that are told when that ends: also when the member goes. */
export const clientSessionHolding = ({ db }: Database, outbox: Outbox): Holding => ({
  name: 'clientAppSessions',
  tell: ({ id }) => clientSessionsOf(db, id),
  erase: (trx, { id }) => createLogoutNotices(outbox).ended(trx, { accountId: id }),
});
