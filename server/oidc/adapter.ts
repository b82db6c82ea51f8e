import type { Adapter, AdapterFactory } from 'oidc-provider';
import type { VisitorGate } from '../http/index.ts';
import type { Metrics } from '../shared/index.ts';
import type { Database, KeyValueStore, SecretBox } from '../store/index.ts';
import { deviceCodeAdapter } from './device-code-adapter.ts';
import type { RefreshAnswers } from './refresh-token-reuse.ts';
import { refreshTokenAdapter } from './refresh-token-store.ts';
import { createRequestReads, type GrantsOfRequest, type RequestReads } from './request-reads.ts';
import { ownerOfNewGrant } from './session-grants.ts';
import { shortLivedAdapter } from './short-lived-adapter.ts';
import { reportTokenReuse } from './token-metrics.ts';

export interface AdapterDeps {
  database: Database;
  kv: KeyValueStore;
  box: SecretBox;
  grants: GrantsOfRequest;
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

function grantAdapter(grants: GrantsOfRequest, now: () => number): Adapter {
  return {
    ...readOnly,
    upsert: (id, payload, expiresInSeconds = 0) =>
      grants.insert(id, payload, { ...ownerOfNewGrant(), expiresAtMs: now() + expiresInSeconds * 1000 }),
    find: (id) => grants.find(id),
    destroy: (id) => grants.revoke(id),
  };
}

function accessTokenAdapter(tokens: Adapter, reads: RequestReads): Adapter {
  return {
    ...tokens,
    async find(id) {
      const token = await tokens.find(id);
      if (token) await reads.expectUserinfo(token);
      return token;
    },
  };
}

/** Selects the store for each of the library's models. */
export function createAdapterFactory(deps: AdapterDeps): AdapterFactory {
  const { kv, grants, metrics, now } = deps;
  const shortLived = (model: string) => shortLivedAdapter(model, deps);
  const codes = shortLived('AuthorizationCode');
  const reads = createRequestReads(deps, async (id) => (await codes.find(id)) ?? undefined);
  return (model) => {
    switch (model) {
      case 'Client':
        return { ...readOnly, find: reads.findClient };
      case 'Grant':
        return grantAdapter(grants, now);
      case 'RefreshToken':
        return reportTokenReuse(refreshTokenAdapter(deps), 'refresh_token', metrics);
      case 'AuthorizationCode':
        return reportTokenReuse({ ...codes, find: reads.findCode }, 'authorization_code', metrics);
      case 'AccessToken':
        return accessTokenAdapter(shortLived(model), reads);
      case 'DeviceCode':
        return deviceCodeAdapter(shortLived(model), kv);
      default:
        return shortLived(model);
    }
  };
}
