import { UnsecuredJWT } from 'jose';
import type Provider from 'oidc-provider';
import { type Client, type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { assertFapi2RequestObject } from './fapi2.ts';

type Query = KoaContextWithOIDC['query'];
type RequestObjects = NonNullable<NonNullable<Configuration['features']>['requestObjects']>;

/** A request object is good for an hour at most, so that a recorded one ends (FAPI 2.0 Message Signing, 5.3.1). */
const maxSeconds = 60 * 60;
/** How far ahead a client's clock may be. */
const aheadSeconds = 60;

/** RFC 9101, section 10.8: the type of a request object, or none; another JWT of the client app is not a request. */
const types: ReadonlySet<string> = new Set(['oauth-authz-req+jwt', 'jwt']);

const refuse = (why: string) => new errors.InvalidRequestObject(why);

/**
 * The demands on a signed request object that the library leaves open (RFC 9101). The library verifies signature,
 * issuer, audience, `client_id` and expiry. A pushed request was checked when it was pushed.
 */
export const assertRequestObject: RequestObjects['assertJwtClaimsAndHeader'] = (ctx, claims, header) => {
  if ('PushedAuthorizationRequest' in ctx.oidc.entities) return;
  const { typ } = header;
  if (
    typ !== undefined &&
    !types.has(
      String(typ)
        .toLowerCase()
        .replace(/^application\//, ''),
    )
  )
    throw refuse('Request Object has another typ');
  // The subject makes it a client assertion (RFC 7523, section 3).
  if (claims.sub !== undefined) throw refuse('Request Object must not have a sub claim');
  const { exp, nbf, iat } = claims;
  if (typeof exp !== 'number') throw refuse("Request Object is missing the 'exp' claim");
  const nowSeconds = Math.floor(Date.now() / 1000);
  const begin = typeof nbf === 'number' ? nbf : nowSeconds;
  if (exp - begin > maxSeconds) throw refuse("Request Object 'exp' claim is too far ahead");
  if (typeof iat === 'number' && iat - nowSeconds > aheadSeconds)
    throw refuse('Request Object is issued in the future');
  assertFapi2RequestObject({ claims, header }, ctx.oidc.client);
};

/** A parameter of a request object as the query would have it. */
function toParameter(value: unknown): string | string[] {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The claims of an unsigned request object for this client app; undefined: it is none, or invalid. */
function readUnsigned(request: string, { clientId, issuer }: { clientId: string; issuer: string }) {
  try {
    const { payload } = UnsecuredJWT.decode(request, { clockTolerance: 15 });
    const { iss = clientId, aud = issuer, client_id: id = clientId } = payload;
    const isNested = payload.request !== undefined || payload.request_uri !== undefined;
    return iss === clientId && id === clientId && [aud].flat().includes(issuer) && !isNested ? payload : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The parameters of an unsigned request object (OpenID Connect Core 1.0, section 6.1) in the place of the query, for
 * clients that are registered for it: as with a signed one, only its own parameters count. Every other unsigned object
 * stays, and the library refuses it.
 */
export async function withoutUnsignedObject(provider: Provider, query: Query): Promise<Query> {
  const { request, client_id: clientId } = query;
  if (typeof request !== 'string' || typeof clientId !== 'string' || query.request_uri !== undefined) return query;
  // The library reports faults of the client itself.
  const client: Client | undefined = await provider.Client.find(clientId).catch(() => undefined);
  if (client?.unsigned_request_objects !== true) return query;
  const payload = readUnsigned(request, { clientId, issuer: provider.issuer });
  if (!payload || (query.response_type ?? payload.response_type) !== payload.response_type) return query;
  const parameters = Object.entries(payload).filter(([, value]) => value !== undefined && value !== null);
  return { ...Object.fromEntries(parameters.map(([name, value]) => [name, toParameter(value)])), client_id: clientId };
}
