import type { Request } from 'express';
import type Provider from 'oidc-provider';
import { HttpError, type RequestContext } from '../http/index.ts';
import { type ClientId, toClientId } from '../shared/index.ts';
import type { AuthorizationLookup } from './authorization-requests.ts';
import type { OidcDeps } from './deps.ts';
import { findInitiateLogin } from './initiate-login.ts';
import type { OriginalRequest } from './pending-authorizations.ts';
import { routes } from './routes-table.ts';

/** The only address at which an expired request starts again. */
export const restartPath = '/begin-again';

type Deps = Pick<OidcDeps, 'requests' | 'database' | 'publicUrl' | 'provider'>;

/** The id of a request and its client app, from an address. */
interface RequestReference {
  id: string;
  clientId?: ClientId | undefined;
}

type LookupWithoutRequest = Exclude<AuthorizationLookup, { state: 'valid' }>;

/** Where a request that is over starts again. */
type RestartTarget =
  | { kind: 'client'; href: string; clientName: string }
  | { kind: 'same-request'; begunWith: OriginalRequest; clientName: string | undefined };

/**
 * The page that starts an expired request again; undefined: it is not over, was never this browser's, or its client app
 * is unknown.
 */
export async function restartUrl(deps: Deps, req: Request, reference: RequestReference): Promise<string | undefined> {
  const found = await deps.requests.find(req, reference.id);
  if (found.state === 'valid' || !(await findRestartTarget(deps, found, reference.clientId))) return undefined;
  return `${restartPath}?${new URLSearchParams({
    authorization_code: reference.id,
    ...(reference.clientId !== undefined && { client_id: reference.clientId }),
  })}`;
}

/**
 * The error for a request without a record here: the start at the client app that it names. Only a link, never a
 * redirect: see `findRestartTarget`.
 */
export async function clientInitiateLoginUrl({ database, publicUrl }: Deps, clientId: ClientId | undefined) {
  const start = clientId === undefined ? undefined : await findInitiateLogin({ database, publicUrl }, clientId);
  return start?.href === undefined ? undefined : { href: start.href, clientName: start.clientName };
}

/**
 * An expired request starts with the same parameters, which the provider checks again. An answered request starts at
 * the client app, if that has an address for it, because most apps accept an answer once. A request of another browser,
 * or of one without cookies, never redirects by itself: it would loop.
 */
async function findRestartTarget(
  deps: Deps,
  found: LookupWithoutRequest,
  clientId: ClientId | undefined,
): Promise<RestartTarget | undefined> {
  if (found.state === 'unknown') {
    const start = await clientInitiateLoginUrl(deps, clientId);
    return start && { kind: 'client', ...start };
  }
  if (found.state !== 'expired') return undefined;
  const { begunWith, waitedLong } = found;
  const start = await findInitiateLogin(deps, begunWith.clientId);
  if (!waitedLong && start?.href !== undefined) {
    return { kind: 'client', href: start.href, clientName: start.clientName };
  }
  return { kind: 'same-request', begunWith, clientName: start?.clientName };
}

async function buildAuthorizeUrl({ provider }: Deps, { clientId, params, pushed }: OriginalRequest): Promise<string> {
  const parameters = pushed
    ? { client_id: clientId, request_uri: await repush(provider(), { clientId, params, trusted: pushed.trusted }) }
    : params;
  return `${routes.authorization}?${new URLSearchParams(parameters)}`;
}

const pushedUrn = 'urn:ietf:params:oauth:request_uri:';
const pushedSeconds = 60;

/**
 * Stores it as the library stores a pushed request (RFC 9126, section 2.2): its parameters were sent privately and must
 * not appear in the address bar.
 */
async function repush(
  provider: Provider,
  { clientId, params, trusted }: Pick<OriginalRequest, 'clientId' | 'params'> & { trusted: boolean },
): Promise<string> {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const input = new Map<string, string | string[]>();
  for (const [name, value] of params) {
    const before = input.get(name);
    input.set(name, before === undefined ? value : [before, value].flat());
  }
  const payload = {
    ...Object.fromEntries(input),
    iss: clientId,
    aud: provider.issuer,
    iat: nowSeconds,
    nbf: nowSeconds,
    exp: nowSeconds + pushedSeconds,
  };
  const part = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url');
  const request = `${part({ alg: 'none' })}.${part(payload)}.`;
  // The library's types declare a client, while the class stores the given value.
  const stored = new provider.PushedAuthorizationRequest({ request, trusted } as never);
  return pushedUrn + (await stored.save(pushedSeconds));
}

/** GET /begin-again: a page that redirects by itself, because a form's own policy blocks redirects to a client app. */
export async function restartAuthorization(r: RequestContext, deps: OidcDeps): Promise<void> {
  const id = r.query('authorization_code') ?? '';
  const clientText = r.query('client_id');
  const clientId = clientText === undefined ? undefined : toClientId(clientText);
  const found = await deps.requests.find(r.req, id);
  if (found.state === 'valid') return r.redirectAway(`/?${new URLSearchParams({ authorization_code: id })}`);
  const target = await findRestartTarget(deps, found, clientId);
  if (!target) throw await toExpiredError(deps, r.req, { state: found.state, id, clientId });
  const href = target.kind === 'client' ? target.href : await buildAuthorizeUrl(deps, target.begunWith);
  r.redirectAway(href, target.clientName);
}

/** The error for an expired request: it leads to the new start if there is one, else it explains the next step. */
export async function toExpiredError(
  deps: Deps,
  req: Request,
  { state, id, clientId }: RequestReference & { state: LookupWithoutRequest['state'] },
): Promise<HttpError> {
  return new HttpError(state === 'other-browser' ? 'otherBrowser' : 'requestExpired', {
    detail: `authorization request: ${state}`,
    redirectTo: req.path === restartPath ? undefined : await restartUrl(deps, req, { id, clientId }),
    action: await clientInitiateLoginUrl(deps, clientId),
  });
}
