import { type Client, errors } from 'oidc-provider';
import type { RequestContext } from '../http/index.ts';
import { toClientId } from '../shared/index.ts';
import type { OidcDeps } from './deps.ts';
import { mayOmitChallenge } from './pkce.ts';
import { appendIdToken, queryIdToken } from './query-response-mode.ts';
import { routes } from './routes-table.ts';

/**
 * The parameters of a sign-out: the specification's logout redirect info in its names, and those of an authorization
 * after it. No others are passed on.
 */
const names = [
  'client_id',
  'logout_uri',
  'redirect_uri',
  'response_type',
  'code_challenge',
  'code_challenge_method',
  'state',
  'nonce',
  'scope',
] as const;

/** The given parameters; none is ''. */
export type SignOutRequest = { [Name in (typeof names)[number]]?: string };

/**
 * Reads a query, which anyone may have written: a repeated parameter counts as absent, so that signing out never fails.
 */
export function signOutRequest(values: unknown): SignOutRequest {
  const input = Object(values) as Record<string, unknown>;
  const pairs = names.flatMap((name) => {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    return typeof value === 'string' && value !== '' ? [[name, value]] : [];
  });
  return Object.fromEntries(pairs);
}

/** Reads a form, which only Foyer's pages send. @throws {HttpError} badRequest, as {@link RequestContext.field} */
export function postedSignOut(r: RequestContext): SignOutRequest {
  return signOutRequest(Object.fromEntries(names.map((name) => [name, r.field(name)])));
}

export interface VerifiedSignOut {
  client?: Client | undefined;
  /** The address after the sign-out: a registered logout address, with `state`, or a path of Foyer. Undefined: home. */
  returnTo?: string | undefined;
  /** A sign-in to the client as another user follows. */
  switches?: true;
}

/** For the audit trail. */
export const toRequester = (client: Client | undefined) => ({ clientId: client && toClientId(client.clientId) });

/** An id that is not valid for a client counts as unknown. */
async function findClient(deps: Pick<OidcDeps, 'provider'>, id: string): Promise<Client | undefined> {
  try {
    return await deps.provider().Client.find(id);
  } catch (error) {
    if (error instanceof errors.OIDCProviderError) return undefined;
    throw error;
  }
}

function logoutAddress(client: Client, logoutUri: string, state: string | undefined): string | undefined {
  if (!client.postLogoutRedirectUriAllowed(logoutUri)) return undefined;
  const url = new URL(logoutUri);
  if (state !== undefined) url.searchParams.set('state', state);
  return url.href;
}

const isChallenge = (text = '') => /^[\w.~-]{43,128}$/.test(text);

function isAllowedCodeRequest(client: Client, request: SignOutRequest): boolean {
  const { code_challenge: challenge, code_challenge_method: method, nonce } = request;
  if (challenge === undefined && method === undefined) return mayOmitChallenge(client, nonce);
  return isChallenge(challenge) && method === 'S256';
}

/** The authorization that follows is neither pushed nor signed. */
const mustSendOtherwise = (client: Client): boolean =>
  client.requirePushedAuthorizationRequests === true || client.requireSignedRequestObject === true;

/**
 * Tests whether the authorization would show the sign-in form rather than an error. The library's checks run here
 * before the user is signed out for it.
 */
function isAllowedPostLogout(client: Client, request: SignOutRequest): boolean {
  const { redirect_uri: uri = '', response_type: type, nonce, scope } = request;
  if (type !== 'code' && type !== 'id_token') return false;
  const inQuery = type === 'id_token' && client.legacy_id_token_redirect === true;
  // That mode adds a slash to the address, and the result must be registered.
  const known = client.redirectUriAllowed(inQuery ? appendIdToken(uri) : uri);
  if (!known || !client.responseTypeAllowed(type) || mustSendOtherwise(client)) return false;
  const scopes = scope?.split(' ').filter(Boolean);
  const registered = new Set((client.scope ?? '').split(' '));
  if (scopes && !scopes.every((one) => registered.has(one))) return false;
  // legacy-requests.ts adds the parameters that older clients omit.
  if (type === 'id_token')
    return client.legacy === true || (nonce !== undefined && scopes?.includes('openid') === true);
  return isAllowedCodeRequest(client, request);
}

/** The authorization that follows, with the request's own parameters only. */
function authorizationAfter(client: Client, request: SignOutRequest): string {
  const { logout_uri: _, code_challenge, code_challenge_method, ...rest } = request;
  const query = new URLSearchParams(rest);
  if (rest.response_type === 'code') {
    if (code_challenge !== undefined && code_challenge_method !== undefined) {
      query.set('code_challenge', code_challenge);
      query.set('code_challenge_method', code_challenge_method);
    }
    // The specification's form of it has no scope.
    if (rest.scope === undefined) query.set('scope', 'openid');
  }
  if (rest.response_type === 'id_token' && client.legacy_id_token_redirect === true) {
    query.set('response_mode', queryIdToken);
  }
  return `${routes.authorization}?${query}`;
}

/**
 * The address after a sign-out (the specification's "Logout"): with a client and its logout address, that address; with
 * a requested id token or code, the authorization for it, in which another user can sign in; in all other cases, and
 * with any address that is not exactly registered, home.
 */
export async function verifySignOut(
  deps: Pick<OidcDeps, 'provider'>,
  request: SignOutRequest,
): Promise<VerifiedSignOut> {
  const client = request.client_id === undefined ? undefined : await findClient(deps, request.client_id);
  if (!client) return {};
  if (request.logout_uri !== undefined) {
    return { client, returnTo: logoutAddress(client, request.logout_uri, request.state) };
  }
  if (!isAllowedPostLogout(client, request)) return { client };
  return { client, returnTo: authorizationAfter(client, request), switches: true };
}
