import type { Request } from 'express';
import { type Client, errors } from 'oidc-provider';
import { readFormField } from '../http/index.ts';
import type { OauthDeps } from './deps.ts';
import { appendIdToken, queryIdToken } from './query-response-mode.ts';
import { routes } from './routes-table.ts';

/**
 * What a sign-out may be asked with: the specification's logout redirect info in its names, and what an authorization after
 * it may carry. Nothing else is ever handed on.
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

/** Those that were given; none is ''. */
export type SignOutRequest = { [Name in (typeof names)[number]]?: string };

/** Reads a query, which anybody may have written: what is given twice counts as not given, and signing out never fails by it. */
export function signOutRequest(values: unknown): SignOutRequest {
  const input = Object(values) as Record<string, unknown>;
  const pairs = names.flatMap((name) => {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    return typeof value === 'string' && value !== '' ? [[name, value]] : [];
  });
  return Object.fromEntries(pairs);
}

/** Reads a form, which only pages of ours send. @throws {HttpError} badRequest, as {@link readFormField} */
export function postedSignOut(req: Request): SignOutRequest {
  return signOutRequest(Object.fromEntries(names.map((name) => [name, readFormField(req, name)])));
}

export interface VerifiedSignOut {
  client?: Client | undefined;
  /** Where signing out leads: a registered logout address, with `state`, or a path of ours. Undefined: home. */
  returnTo?: string | undefined;
  /** What follows is a sign-in to the client, as somebody else. */
  switches?: true;
}

/** One that cannot be one of its clients is as good as unknown. */
async function findClient(deps: Pick<OauthDeps, 'provider'>, id: string): Promise<Client | undefined> {
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

/**
 * Whether the authorization would show the sign-in form rather than an error: what the library will check, checked before
 * the member is signed out for it.
 */
function isAllowedPostLogout(client: Client, request: SignOutRequest): boolean {
  const { redirect_uri: uri = '', response_type: type, nonce, scope } = request;
  if (type !== 'code' && type !== 'id_token') return false;
  const inQuery = type === 'id_token' && client.legacy_id_token_redirect === true;
  // That mode adds a slash to the address, and it is that one which must be registered.
  const known = client.redirectUriAllowed(inQuery ? appendIdToken(uri) : uri);
  if (!known || !client.responseTypeAllowed(type) || client.requirePushedAuthorizationRequests) return false;
  const scopes = scope?.split(' ').filter(Boolean);
  const registered = new Set((client.scope ?? '').split(' '));
  if (scopes && !scopes.every((one) => registered.has(one))) return false;
  // What the older clients leave out is filled in for them (legacy-requests.ts).
  if (type === 'id_token')
    return client.legacy === true || (nonce !== undefined && scopes?.includes('openid') === true);
  return isChallenge(request.code_challenge) && request.code_challenge_method === 'S256';
}

/** The authorization that follows, of the request's own parameters alone. */
function authorizationAfter(client: Client, request: SignOutRequest): string {
  const { logout_uri: _, code_challenge, code_challenge_method, ...rest } = request;
  const query = new URLSearchParams(rest);
  if (code_challenge !== undefined && code_challenge_method !== undefined && rest.response_type === 'code') {
    query.set('code_challenge', code_challenge);
    query.set('code_challenge_method', code_challenge_method);
    // The specification's form of it names none.
    if (rest.scope === undefined) query.set('scope', 'openid');
  }
  if (rest.response_type === 'id_token' && client.legacy_id_token_redirect === true) {
    query.set('response_mode', queryIdToken);
  }
  return `${routes.authorization}?${query}`;
}

/**
 * Where signing out leads (the specification's "Logout"): with a client and its logout address there; with an id token or a
 * code asked for, to the authorization of it, in which somebody else can sign in; in all other cases, and with anything
 * that is not registered letter by letter, home.
 */
export async function verifySignOut(
  deps: Pick<OauthDeps, 'provider'>,
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
