import { type AccessToken, type ClientCredentials, errors } from 'oidc-provider';
import { isClientScope } from './scopes.ts';

/**
 * Client credentials give only scopes that the client app is registered for in its own name, never scopes that a user
 * must give. The library compares with the registration only if that has scopes, and cannot distinguish the two kinds.
 * @throws {errors.InvalidScope} also if no scope, or only unknown ones are requested
 */
export function rejectUnregisteredScopes(token: AccessToken | ClientCredentials): undefined {
  // Scopes of a resource server have already been compared with its own registration.
  if (token.kind !== 'ClientCredentials' || token.aud !== undefined) return;
  const registered = (token.client?.scope ?? '').split(' ');
  // RFC 6749, section 3.3: without a scope the server fails. A token without scopes would authorize nothing, without an
  // explanation.
  if (token.scopes.size === 0) throw new errors.InvalidScope('name at least one registered scope', '');
  for (const scope of token.scopes) {
    if (!isClientScope(scope) || !registered.includes(scope)) {
      throw new errors.InvalidScope('requested scope is not allowed', scope);
    }
  }
}
