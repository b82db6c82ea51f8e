import { errors, type KoaContextWithOIDC } from 'oidc-provider';

/**
 * A request must ask for something that can be given (RFC 6749, section 3.3): a scope of Foyer, or of a resource
 * server. The library finds out only after the sign-in, and answers `access_denied`, as if the user had refused. Runs
 * for authorization, pushed and device requests, after the library's own checks of scope and resource.
 * @throws {errors.InvalidScope} if nothing can be given
 */
export function requireGrantableScope(ctx: KoaContextWithOIDC): void {
  const { params, requestParamOIDCScopes, requestParamScopes, resourceServers } = ctx.oidc;
  if (requestParamOIDCScopes.size > 0) return;
  if (requestParamScopes.size > 0 && Object.keys(resourceServers ?? {}).length > 0) return;
  throw new errors.InvalidScope('ask for at least one scope, such as openid', String(params?.scope ?? ''));
}
