import { type AccessToken, type ClientCredentials, errors } from 'oidc-provider';
import { isClientScope } from './scopes.ts';

/**
 * Client credentials give what the client app is registered for in its own name, and nothing that is a member's to give.
 * The library compares with the registration only where there are scopes in it, and does not know whose each scope is.
 * @throws {errors.InvalidScope} also where no scope is asked for, or only unknown ones
 */
export function rejectUnregisteredScopes(token: AccessToken | ClientCredentials): undefined {
  // What a resource server opens is compared with its own registration before.
  if (token.kind !== 'ClientCredentials' || token.aud !== undefined) return;
  const registered = (token.client?.scope ?? '').split(' ');
  // RFC 6749, section 3.3: without a scope the server fails. A token of no scope opens nothing, and nobody would know why.
  if (token.scopes.size === 0) throw new errors.InvalidScope('name at least one registered scope', '');
  for (const scope of token.scopes) {
    if (!isClientScope(scope) || !registered.includes(scope)) {
      throw new errors.InvalidScope('requested scope is not allowed', scope);
    }
  }
}
