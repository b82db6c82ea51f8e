import type { Outbox } from '../messages/index.ts';
import type { Database } from '../store/index.ts';
import type { PersonalDataSource } from '../users/index.ts';
import { createLogoutNotices } from './backchannel-logouts.ts';
import { listClientSessions } from './client-session-store.ts';
import { listConnectedApps } from './connected-app-store.ts';
import { eraseUserGrants, listGrants } from './user-grants-store.ts';

/** The access of client apps to a user's data. */
export const grantsDataSource = ({ db }: Database): PersonalDataSource => ({
  name: 'clientApps',
  exportData: ({ id }) => listGrants(db, id),
  erase: (trx, { id }) => eraseUserGrants(trx, id),
});

/** The client apps with which a user is connected. They are deleted with the grants (see {@link grantsDataSource}). */
export const connectedAppHolding = ({ db }: Database, now: () => number): PersonalDataSource => ({
  name: 'connectedApps',
  async exportData({ id }) {
    return (await listConnectedApps(db, id, now())).map(({ resources, logoUrl: _, logoOrigins: _origins, ...app }) => ({
      ...app,
      resources: Object.fromEntries(resources),
    }));
  },
  erase: async () => {},
});

/** The client apps to which a user is signed in and that are notified at the end, also when the account is deleted. */
export const clientSessionsDataSource = ({ db }: Database, outbox: Outbox): PersonalDataSource => ({
  name: 'clientAppSessions',
  exportData: ({ id }) => listClientSessions(db, id),
  erase: (trx, { id }) => createLogoutNotices(outbox).ended(trx, { accountId: id }),
});
