import type { ConnectedApps } from '../account/index.ts';
import type { Database } from '../store/index.ts';
import { listConnectedApps } from './connected-app-store.ts';
import type { GrantStore } from './grant-store.ts';

export function createConnectedApps({ db }: Database, grants: GrantStore, now: () => number): ConnectedApps {
  return {
    list: (userId) => listConnectedApps(db, userId, now()),
    remove: (trx, userId, clientId) => grants.revokeOfMember(trx, userId, clientId),
  };
}
