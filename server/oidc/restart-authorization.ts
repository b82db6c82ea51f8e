import type { Request } from 'express';
import type Provider from 'oidc-provider';
import { HttpError, readQueryParam, renderRedirectPage } from '../http/index.ts';
import { type ClientId, toClientId } from '../shared/index.ts';
import type { AuthorizationLookup } from './authorization-requests.ts';
import type { Handler, OauthDeps } from './deps.ts';
import { findInitiateLogin } from './initiate-login.ts';
import type { OriginalRequest } from './pending-authorizations.ts';
import { routes } from './routes-table.ts';

/** The only address at which an expired request starts again. */
export const restartPath = '/begin-again';

type Deps = Pick<OauthDeps, 'requests' | 'database' | 'publicUrl' | 'provider'>;

/** The id of a request and its client app, from an address. */
export interface RequestReference {
  id: string;
  clientId?: ClientId | undefined;
}

/** The next address of a user whose request is over. */
interface RestartTarget {
  href: string;
  clientName?: string | undefined;
}

/**
 * The page that starts an expired request again; undefined: it is not over, was never this browser's, or its client app
 * is unknown.
 */
export async function restartUrl(deps: Deps, req: Request, submitted: RequestReference): Promise<string | undefined> {
  const found = await deps.requests.find(req, submitted.id);
  if (found.state === 'valid' || !(await findRestartTarget(deps, found, submitted.clientId, false))) return undefined;
  return `${restartPath}?${new URLSearchParams({
    authorization_code: submitted.id,
    ...(submitted.clientId !== undefined && { client_id: submitted.clientId }),
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
 * @param make whether to start it now; otherwise only tests whether it can
 */
async function findRestartTarget(
  deps: Deps,
  found: Exclude<AuthorizationLookup, { state: 'valid' }>,
  clientId: ClientId | undefined,
  make: boolean,
): Promise<RestartTarget | undefined> {
  if (found.state === 'unknown') return clientInitiateLoginUrl(deps, clientId);
  if (found.state !== 'expired') return undefined;
  const { begunWith, waitedLong } = found;
  const start = await findInitiateLogin(deps, begunWith.clientId);
  if (!waitedLong && start?.href !== undefined) return { href: start.href, clientName: start.clientName };
  return { href: make ? await buildAuthorizeUrl(deps, begunWith) : '', clientName: start?.clientName };
}

async function buildAuthorizeUrl({ provider }: Deps, { clientId, params, pushed }: OriginalRequest): Promise<string> {
  const parameters = pushed
    ? { client_id: clientId, request_uri: await repush(provider(), clientId, params, pushed) }
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
  clientId: ClientId,
  params: OriginalRequest['params'],
  { trusted }: NonNullable<OriginalRequest['pushed']>,
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
export function restartAuthorization(deps: OauthDeps): Handler {
  return async (req, res) => {
    const [id = '', named] = [readQueryParam(req, 'authorization_code'), readQueryParam(req, 'client_id')];
    const clientId = named === undefined ? undefined : toClientId(named);
    const found = await deps.requests.find(req, id);
    if (found.state === 'valid') {
      return renderRedirectPage(deps.pages, req, res, `/?${new URLSearchParams({ authorization_code: id })}`);
    }
    const beginning = await findRestartTarget(deps, found, clientId, true);
    if (!beginning) throw await toExpiredError(deps, req, found.state, { id, clientId });
    renderRedirectPage(deps.pages, req, res, beginning.href, beginning.clientName);
  };
}

/** The error for an expired request: it leads to the new start if there is one, else it explains the next step. */
export async function toExpiredError(
  deps: Deps,
  req: Request,
  state: Exclude<AuthorizationLookup['state'], 'valid'>,
  { id, clientId }: RequestReference,
): Promise<HttpError> {
  return new HttpError(state === 'other-browser' ? 'otherBrowser' : 'requestExpired', {
    detail: `authorization request: ${state}`,
    redirectTo: req.path === restartPath ? undefined : await restartUrl(deps, req, { id, clientId }),
    action: await clientInitiateLoginUrl(deps, clientId),
  });
}
