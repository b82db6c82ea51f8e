import { createLocalJWKSet, type JWTPayload, jwtVerify } from 'jose';
import type Provider from 'oidc-provider';
import {
  type Client,
  errors,
  type JWK,
  type KoaContextWithOIDC,
  type ResourceServer as LibraryResourceServer,
} from 'oidc-provider';
import { toUserId } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import { findCurrentUser } from '../users/index.ts';
import type { OidcDeps } from './deps.ts';
import { findIdentifierFault, type ResourceServer } from './resource-server.ts';
import { findResourceServer } from './resource-server-store.ts';
import { addMiddlewareAt, routes } from './routes-table.ts';

/** They cannot be revoked, so their lifetime is short (`security.md`, rule 7). */
const jwtSeconds = 5 * 60;

/** The registered resource server, if the client may request it: each client names its own (`security.md`, rule 5). */
export async function resourceServerFor(
  database: Database,
  client: { clientId: string; resources?: unknown },
  identifier: string,
): Promise<ResourceServer | undefined> {
  if (!Array.isArray(client.resources) || !client.resources.includes(identifier)) return undefined;
  return findIdentifierFault(identifier) === undefined ? findResourceServer(database.db, identifier) : undefined;
}

/**
 * The library calls this for every request with a resource, again at the token endpoint, so that an operator's change
 * applies to the next token.
 */
export function createResourceServerInfo(database: Database) {
  return async (
    _ctx: unknown,
    identifier: string,
    client: { clientId: string; resources?: unknown },
  ): Promise<LibraryResourceServer> => {
    const server = await resourceServerFor(database, client, identifier);
    if (!server) throw new errors.InvalidTarget('this client may not ask for this resource');
    return {
      scope: server.scopes.join(' '),
      audience: identifier,
      accessTokenFormat: 'jwt',
      accessTokenTTL: jwtSeconds,
      jwt: { sign: { alg: server.alg } },
    };
  };
}

interface IntrospectionDeps extends Pick<OidcDeps, 'canAccessClient'> {
  database: Database;
  /** The signing keys. */
  keys: JWK[];
  now: () => number;
}

const toPublicKey = ({ kty, kid, alg, crv, x, y, n, e }: JWK) => ({ kty, kid, alg, crv, x, y, n, e });

/** Tests whether the client would still get such a token. */
async function isCurrent(
  client: Client,
  { sub, aud }: JWTPayload,
  { database, canAccessClient }: IntrospectionDeps,
): Promise<boolean> {
  if (typeof aud !== 'string' || !(await resourceServerFor(database, client, aud))) return false;
  // By client credentials.
  if (sub === client.clientId) return true;
  const user = sub === undefined ? undefined : await findCurrentUser(database, toUserId(sub));
  return user !== undefined && user.disabledAt === null && canAccessClient(client, user);
}

/**
 * Introspection of a JWT. An access token for a resource server is active for the client to which it was issued, until
 * it expires. Every other JWT, such as an id token, is not active (RFC 7662, section 2.2: an unknown token is not an
 * error). The library answers an error, which is right only for revocation (RFC 7009, section 2.2.1). By then the
 * client has authenticated.
 */
export function introspectResourceTokens(provider: Provider, deps: IntrospectionDeps): void {
  const findKey = createLocalJWKSet({ keys: deps.keys.map(toPublicKey) });
  const verify = async (token: unknown, nowMs: number): Promise<JWTPayload | undefined> => {
    const rules = { issuer: provider.issuer, typ: 'at+jwt', currentDate: new Date(nowMs) };
    const verified = await jwtVerify(String(token), findKey, rules).catch(() => undefined);
    return verified?.payload;
  };
  addMiddlewareAt(provider, [routes.introspection], async (ctx, next) => {
    await next();
    if (ctx.status !== 400) return;
    if ((ctx.body as { error?: unknown } | undefined)?.error !== 'unsupported_token_type') return;
    const { client, params } = (ctx as KoaContextWithOIDC).oidc;
    const payload = await verify(params?.token, deps.now());
    const isOwn = client !== undefined && payload?.client_id === client.clientId;
    ctx.status = 200;
    ctx.body =
      isOwn && (await isCurrent(client, payload, deps))
        ? { ...payload, active: true, token_type: payload.cnf === undefined ? 'Bearer' : 'DPoP' }
        : { active: false };
  });
}
