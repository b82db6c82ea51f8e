import type Provider from 'oidc-provider';
import type { AccessToken, Client, ClientCredentials } from 'oidc-provider';
import { z } from 'zod';
import { type ApiAccess, type ApiPrincipal, permits } from '../http/index.ts';
import { fullyAuthenticatedAt } from '../sessions/index.ts';
import { toClientId, toUserId } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import { findCurrentUser, type User } from '../users/index.ts';
import type { CanAccessClient } from './access-rule.ts';
import { lacksScope, orUnproven, unauthorized, unproven, wrongCaller } from './api-refusals.ts';
import { findChangeRefusal, refuseUser, type UserRuleDeps } from './api-user-rules.ts';
import { mayHoldSensitive } from './client-metadata.ts';
import type { PresentedProof } from './dpop.ts';
import { canonicalScopes, isSensitiveScope } from './scopes.ts';
import { toAuthentication } from './token-claims.ts';

export interface ApiTokenDeps extends UserRuleDeps {
  database: Database;
  provider: () => Provider;
  canAccessClient: CanAccessClient;
}

/** A token of the Authorization header, with the proof of the same request. */
export interface PresentedToken {
  value: string;
  proof: PresentedProof | undefined;
  /** Runs once the client app of the token is known, before its rights are checked. */
  onClient(client: Client): void;
}

/** @throws {HttpError} if the token does not authorize the call */
export async function authenticateToken(
  deps: ApiTokenDeps,
  { value, proof, onClient }: PresentedToken,
  access: ApiAccess,
): Promise<ApiPrincipal> {
  const { AccessToken, ClientCredentials, Client } = deps.provider();
  const userToken = await AccessToken.find(value);
  const token = userToken ?? (await ClientCredentials.find(value));
  // A token for a resource server is not valid here.
  if (!token?.isValid || token.aud !== undefined) throw unauthorized('invalid_token', 'unknown, expired or revoked');
  const client = await Client.find(token.clientId ?? '');
  if (!client) throw unauthorized('invalid_token', 'its client is gone');
  onClient(client);
  await requireSameKey(token, client, proof);
  return userToken
    ? toUserPrincipal(deps, { token: userToken, client }, access)
    : toClientPrincipal(token, client, access);
}

/** A token that is bound to a key needs a proof of that key; a proof must belong to the token. */
async function requireSameKey(
  token: { jkt?: string | undefined },
  client: Client,
  proof: PresentedProof | undefined,
): Promise<void> {
  if (proof) await orUnproven(proof.use(toClientId(client.clientId)));
  if (token.jkt === proof?.thumbprint) return;
  throw unproven('invalid_token', proof ? 'not bound to the key of the proof' : 'bound to a key: DPoP is needed');
}

const readRegistered = ({ scope }: Client): string[] => (scope ?? '').split(' ');

const callLimits = z.object({
  calls_per_minute: z.number().optional(),
  calls_per_minute_by_call: z.record(z.string(), z.number()).optional(),
});

/** The library does not know the type of its additional metadata. */
function readCallLimits(client: Client) {
  const { calls_per_minute: callsPerMinute, calls_per_minute_by_call: callsPerMinuteByCall } = callLimits.parse(client);
  return { callsPerMinute, callsPerMinuteByCall };
}

function toClientPrincipal(token: AccessToken | ClientCredentials, client: Client, access: ApiAccess): ApiPrincipal {
  if (access.client === undefined) throw wrongCaller('not open to client apps');
  const registered = readRegistered(client);
  // The registration of the client may have lost the grant type since the token was issued.
  const mayAct = client.grantTypeAllowed('client_credentials');
  const scopes = [...token.scopes].filter((scope) => mayAct && registered.includes(scope));
  const principal: ApiPrincipal = {
    kind: 'client',
    clientId: toClientId(client.clientId),
    scopes,
    ...readCallLimits(client),
  };
  if (!permits(access, principal)) throw lacksScope(access.client);
  return principal;
}

interface UserToken {
  token: AccessToken;
  client: Client;
}

async function toUserPrincipal(deps: ApiTokenDeps, presented: UserToken, access: ApiAccess): Promise<ApiPrincipal> {
  const user = await findTokenUser(deps, presented);
  if (!deps.canAccessClient(presented.client, user))
    throw unauthorized('invalid_token', 'the client is for other plans');
  if (access.member === undefined) throw wrongCaller('not open to members');
  const authentication = toAuthentication(presented.token);
  const authTimeMs = fullyAuthenticatedAt(user, authentication);
  const scopes = listScopes(presented);
  const changesRefused = access.reads ? findChangeRefusal(deps.toNextStep, user) : undefined;
  const principal: ApiPrincipal = { kind: 'member', userId: user.id, by: 'token', scopes, authTimeMs, changesRefused };
  if (!permits(access, principal)) throw lacksScope(access.member);
  refuseUser(deps, access, { user, amr: authentication.amr, authTimeMs });
  return principal;
}

/** The user of the token, while the grant exists. @throws {HttpError} tokenRevoked */
async function findTokenUser({ provider, database }: ApiTokenDeps, { token, client }: UserToken): Promise<User> {
  const grant = await provider().Grant.find(token.grantId ?? '');
  const user = await findCurrentUser(database, toUserId(token.accountId ?? ''));
  const isAlive = grant?.clientId === client.clientId && user !== undefined && grant.accountId === user.id;
  if (!isAlive || user.disabledAt !== null) throw unauthorized('invalid_token', 'Access Token has been revoked');
  return user;
}

/**
 * A client that has sensitive scopes from an older registration, or by other means, may use them only if it could be
 * registered with them today.
 */
function listScopes({ token, client }: UserToken): string[] {
  const registered = readRegistered(client);
  const holds = mayHoldSensitive(client.metadata());
  return canonicalScopes(token.scopes).filter(
    (scope) => !isSensitiveScope(scope) || (holds && registered.includes(scope)),
  );
}
