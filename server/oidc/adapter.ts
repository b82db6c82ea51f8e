import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';
import type { VisitorGate } from '../http/index.ts';
import type { Metrics } from '../shared/index.ts';
import { cacheUntilChanged, type Database, type KeyValueStore, type SecretBox } from '../store/index.ts';
import { createClientMetadataReader } from './client-store.ts';
import { deviceCodeAdapter } from './device-code-adapter.ts';
import type { GrantStore } from './grant-store.ts';
import type { RefreshAnswers } from './refresh-token-reuse.ts';
import { refreshTokenAdapter } from './refresh-token-store.ts';
import { ownerOfNewGrant } from './session-grants.ts';
import { shortLivedAdapter } from './short-lived-adapter.ts';
import { reportTokenReuse } from './token-metrics.ts';

export interface AdapterDeps {
  database: Database;
  kv: KeyValueStore;
  box: SecretBox;
  grants: GrantStore;
  answers: RefreshAnswers;
  metrics: Metrics;
  now: () => number;
  visitorGate: Pick<VisitorGate, 'admit'>;
  userCodeSecret: Buffer;
}

const nothing = async () => undefined;
const readOnly = {
  upsert: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
  findByUid: nothing,
  findByUserCode: nothing,
};

/** Clients are read per request, so that changes by the command line take effect at once. */
function clientAdapter(database: Database): Adapter {
  const stored = cacheUntilChanged<AdapterPayload>(() => database.changes.ofRows('clients'));
  const read = createClientMetadataReader(database.db);
  return { ...readOnly, find: (id) => stored(id, () => read(id)) };
}

function grantAdapter(grants: GrantStore, now: () => number): Adapter {
  return {
    ...readOnly,
    upsert: (id, payload, expiresInSeconds = 0) =>
      grants.insert(id, payload, { ...ownerOfNewGrant(), expiresAtMs: now() + expiresInSeconds * 1000 }),
    find: (id) => grants.find(id),
    destroy: (id) => grants.revoke(id),
  };
}

/** Selects the store for each of the library's models. */
export function createAdapterFactory(deps: AdapterDeps): AdapterFactory {
  const { database, kv, grants, metrics, now } = deps;
  const shortLived = (model: string) => shortLivedAdapter(model, deps);
  return (model) => {
    switch (model) {
      case 'Client':
        return clientAdapter(database);
      case 'Grant':
        return grantAdapter(grants, now);
      case 'RefreshToken':
        return reportTokenReuse(refreshTokenAdapter(deps), 'refresh_token', metrics);
      case 'AuthorizationCode':
        return reportTokenReuse(shortLived(model), 'authorization_code', metrics);
      case 'DeviceCode':
        return deviceCodeAdapter(shortLived(model), kv);
      default:
        return shortLived(model);
    }
  };
}
