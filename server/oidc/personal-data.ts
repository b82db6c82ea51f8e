import type { PersonalDataSource } from '../deletion/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { Database } from '../store/index.ts';
import { createLogoutNotices } from './backchannel-logouts.ts';
import { listClientSessions } from './client-session-store.ts';
import { listConnectedApps } from './connected-app-store.ts';
import { eraseUserGrants, listGrants } from './user-grants-store.ts';

/** What client apps were given of a member. */
export const grantsDataSource = ({ db }: Database): PersonalDataSource => ({
  name: 'clientApps',
  exportData: ({ id }) => listGrants(db, id),
  erase: (trx, { id }) => eraseUserGrants(trx, id),
});

/** The client apps that a member is connected with. They go with the grants (see {@link grantsDataSource}). */
export const connectedAppHolding = ({ db }: Database, now: () => number): PersonalDataSource => ({
  name: 'connectedApps',
  async exportData({ id }) {
    return (await listConnectedApps(db, id, now())).map(({ resources, ...app }) => ({
      ...app,
      resources: Object.fromEntries(resources),
    }));
  },
  erase: async () => {},
});

/** Which client apps a member is signed in to, of those that are told when that ends: also when the member goes. */
export const clientSessionsDataSource = ({ db }: Database, outbox: Outbox): PersonalDataSource => ({
  name: 'clientAppSessions',
  exportData: ({ id }) => listClientSessions(db, id),
  erase: (trx, { id }) => createLogoutNotices(outbox).ended(trx, { accountId: id }),
});
