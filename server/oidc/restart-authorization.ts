import type { Request } from 'express';
import type Provider from 'oidc-provider';
import { HttpError, readQueryParam, renderRedirectPage } from '../http/index.ts';
import type { AuthorizationLookup } from './authorization-requests.ts';
import type { Handler, OauthDeps } from './deps.ts';
import { findInitiateLogin } from './initiate-login.ts';
import type { OriginalRequest } from './pending-authorizations.ts';
import { routes } from './routes-table.ts';

/** The one address at which a request that is over begins again. */
export const restartPath = '/begin-again';

type Deps = Pick<OauthDeps, 'requests' | 'database' | 'publicUrl' | 'provider'>;

/** What an address says of a request: its id, and whose it was. */
export interface RequestReference {
  id: string;
  clientId?: string | undefined;
}

/** Where a member goes on to whose request is over. */
interface RestartTarget {
  href: string;
  clientName?: string | undefined;
}

/**
 * The page that begins a request again which is over; undefined: it is not over, was never this browser's, or nobody knows
 * any more whose it was.
 */
export async function restartUrl(deps: Deps, req: Request, submitted: RequestReference): Promise<string | undefined> {
  const found = await deps.requests.find(req, submitted.id);
  if (found.state === 'ours' || !(await findRestartTarget(deps, found, submitted.clientId, false))) return undefined;
  return `${restartPath}?${new URLSearchParams({
    authorization_code: submitted.id,
    ...(submitted.clientId !== undefined && { client_id: submitted.clientId }),
  })}`;
}

/** What a page says of a request that has no row here: whose it may have been. Never led to by itself: see `beginningOf`. */
export async function clientInitiateLoginUrl({ database, publicUrl }: Deps, clientId: string | undefined) {
  const start = clientId === undefined ? undefined : await findInitiateLogin({ database, publicUrl }, clientId);
  return start?.href === undefined ? undefined : { href: start.href, clientName: start.clientName };
}

/**
 * One that nobody came for in time begins with the same parameters, and the provider checks all of them anew. One that was
 * answered begins at the client app, where that has an address for it: most take an answer once. A request of another
 * browser, or of one that keeps no cookies, leads nowhere by itself: it would come back for ever.
 * @param make whether it is to begin now; else only whether it can
 */
async function findRestartTarget(
  deps: Deps,
  found: Exclude<AuthorizationLookup, { state: 'ours' }>,
  clientId: string | undefined,
  make: boolean,
): Promise<RestartTarget | undefined> {
  if (found.state === 'unknown') return clientInitiateLoginUrl(deps, clientId);
  if (found.state !== 'over') return undefined;
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

/** As the library keeps a pushed request (RFC 9126, section 2.2): what was said in private does not come to the address bar. */
async function repush(
  provider: Provider,
  clientId: string,
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
    ...{ iss: clientId, aud: provider.issuer, iat: nowSeconds, nbf: nowSeconds, exp: nowSeconds + pushedSeconds },
  };
  const part = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url');
  const request = `${part({ alg: 'none' })}.${part(payload)}.`;
  // The library's types know a client where the class itself keeps what it is given.
  const stored = new provider.PushedAuthorizationRequest({ request, trusted } as never);
  return pushedUrn + (await stored.save(pushedSeconds));
}

/** GET /begin-again: a page that goes on by itself, because a form's own policy reaches no client app by redirects. */
export function restartAuthorization(deps: OauthDeps): Handler {
  return async (req, res) => {
    const [id = '', clientId] = [readQueryParam(req, 'authorization_code'), readQueryParam(req, 'client_id')];
    const found = await deps.requests.find(req, id);
    if (found.state === 'ours') {
      return renderRedirectPage(deps.pages, req, res, `/?${new URLSearchParams({ authorization_code: id })}`);
    }
    const beginning = await findRestartTarget(deps, found, clientId, true);
    if (!beginning) throw await toExpiredError(deps, req, found.state, { id, clientId });
    renderRedirectPage(deps.pages, req, res, beginning.href, beginning.clientName);
  };
}

/** Whoever holds a request that is over is led to where it begins again; else they are told what they can do. */
export async function toExpiredError(
  deps: Deps,
  req: Request,
  state: Exclude<AuthorizationLookup['state'], 'ours'>,
  { id, clientId }: RequestReference,
): Promise<HttpError> {
  return new HttpError(state === 'other-browser' ? 'otherBrowser' : 'requestExpired', {
    detail: `authorization request: ${state}`,
    redirectTo: req.path === restartPath ? undefined : await restartUrl(deps, req, { id, clientId }),
    action: await clientInitiateLoginUrl(deps, clientId),
  });
}
