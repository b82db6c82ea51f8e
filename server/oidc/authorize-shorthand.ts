import type { Client } from 'oidc-provider';
import { type Continuation, HttpError } from '../http/index.ts';
import { toClientId } from '../shared/index.ts';
import type { AuthorizeShorthand } from '../sign-in/index.ts';
import type { OidcDeps } from './deps.ts';
import { findInitiateLogin } from './initiate-login.ts';
import { appendIdToken, queryIdToken } from './query-response-mode.ts';
import { routes } from './routes-table.ts';
import { isMemberScope } from './scopes.ts';

type Deps = Pick<OidcDeps, 'database' | 'publicUrl' | 'provider' | 'defaultClientId'>;

/** The scopes that an id token needs, limited to the client's registration. */
const notified = ['openid', 'profile', 'email', 'phone'];

/**
 * The specification's short forms of `/` without a pending request: `client_id` with `redirect_uri`, and `client_id`
 * alone. The query's client id overrides the default web client. Undefined: the address names no client app.
 * @throws {HttpError} unregisteredClient, redirectNotRegistered, or authorizationFailed if the client app may not use this
 * form
 */
export async function resolveShorthand(deps: Deps, { search }: Continuation): Promise<AuthorizeShorthand | undefined> {
  const input = new URLSearchParams(search);
  const redirectUri = input.get('redirect_uri') || undefined;
  const named = input.get('client_id') || undefined;
  if (named === undefined && redirectUri === undefined) return undefined;
  const clientId = named === undefined ? deps.defaultClientId : toClientId(named);
  const [client, start] = await Promise.all([deps.provider().Client.find(clientId), findInitiateLogin(deps, clientId)]);
  if (!client || !start) throw new HttpError('unregisteredClient', { detail: 'short form of an unknown client' });
  if (redirectUri === undefined) return { kind: 'client', ...start };
  const action = start.href === undefined ? undefined : { href: start.href, clientName: start.clientName };
  if (client.legacy_id_token_redirect === true && client.redirectUriAllowed(appendIdToken(redirectUri))) {
    return { kind: 'authorize', href: toIdTokenRequest(client, redirectUri, input), clientName: start.clientName };
  }
  if (!client.redirectUriAllowed(redirectUri)) {
    throw new HttpError('redirectNotRegistered', { detail: 'redirect_uri of a short form', action });
  }
  if (action) return { kind: 'initiate-login', ...action };
  throw new HttpError('authorizationFailed', { detail: 'the client is not registered for an id token in the query' });
}

/**
 * Converts it to an authorization request, which is then processed like all others. Scope and nonce are as the client
 * app's own would be.
 */
function toIdTokenRequest(client: Client, redirectUri: string, input: URLSearchParams): string {
  const registered = new Set(client.scope?.split(' '));
  const query = new URLSearchParams({
    client_id: client.clientId,
    redirect_uri: appendIdToken(redirectUri),
    response_type: 'id_token',
    response_mode: queryIdToken,
    scope: notified.filter((scope) => isMemberScope(scope) && registered.has(scope)).join(' '),
  });
  const state = input.get('state');
  if (state !== null) query.set('state', state);
  if (input.has('forceAuth')) query.set('prompt', 'login');
  return `${routes.authorization}?${query}`;
}
