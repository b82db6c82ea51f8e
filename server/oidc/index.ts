/**
 * The module of the OpenID Provider: oidc-provider (certified) under /oauth2 with Foyer's stores, keys and pages.
 * Owns authorization requests and the browser they belong to, grants and tokens, client apps, resource servers, signing
 * keys, consent and sign-out, the token cookies, and the guard of the JSON API (OpenID Connect Core 1.0, Discovery 1.0,
 * RP-Initiated Logout 1.0, Back-Channel Logout 1.0; RFC 6749, 6750, 7009, 7636, 7662, 8707, 9700). Does not own
 * sessions (sessions/) nor the next step of a user (sign-in/).
 */

export { createCanAccessClient, type GrantableAccess, grantsToNobody, isRestricted } from './access-rule.ts';
export { logoutCarrier } from './backchannel-carrier.ts';
export { createLogoutNotices } from './backchannel-logouts.ts';
export { isKeySet, keySetFormat } from './client-keys.ts';
export {
  type ClientMetadata,
  deviceGrant,
  isVisibleToUsers,
  mayHoldSensitive,
  signingAlgorithms,
} from './client-metadata.ts';
export { clientMetadata, ensureDefaultClient, toClientRequest } from './client-registration.ts';
export { type ClientRequest, InvalidClientRequest } from './client-request.ts';
export {
  createClientSecret,
  deleteClient,
  findClient,
  findSecretTimes,
  insertClient,
  listClients,
  listClientsWithOldSecrets,
  type SecretTimes,
  updateClient,
} from './client-store.ts';
export { listConnectedApps } from './connected-app-store.ts';
export { createOidcModule } from './create-oidc-module.ts';
export { listClientsBySession } from './grant-queries-store.ts';
export { createGrantStore, type GrantStore } from './grant-store.ts';
export type { OidcModule } from './oidc-settings.ts';
export { clientSessionsDataSource, connectedAppHolding, grantsDataSource } from './personal-data.ts';
export { protocolCalls } from './protocol-calls.ts';
export type { Refusal } from './refusals.ts';
export { type ResourceServer, resourceServerFaults } from './resource-server.ts';
export {
  deleteResourceServer,
  findResourceServer,
  insertResourceServer,
  listResourceServers,
} from './resource-server-store.ts';
export { publicMetadataSeconds } from './routes.ts';
export { discoveryPaths, routes } from './routes-table.ts';
export { canonicalScopes, knownScopes, sensitiveScopes } from './scopes.ts';
export { createGrantHooks } from './session-lifecycle.ts';
export { ensureKeys, listKeys, loadJwks, rotateKeys } from './signing-key-store.ts';
export type { SigningKeyInfo } from './signing-keys.ts';
