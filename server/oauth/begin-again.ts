import type { Request } from 'express';
import type Provider from 'oidc-provider';
import { HttpError, query, sendGoingOnPage } from '../http/index.ts';
import type { RequestLookup } from './authorization-requests.ts';
import { clientStart } from './client-start.ts';
import type { Handler, OauthDeps } from './deps.ts';
import type { BegunWith } from './pending-requests.ts';
import { routes } from './routes-table.ts';

/** The one address at which a request that is over begins again. */
export const beginAgainPath = '/begin-again';

type Deps = Pick<OauthDeps, 'requests' | 'database' | 'publicUrl' | 'provider'>;

/** What an address says of a request: its id, and whose it was. */
export interface Said {
  id: string;
  clientId?: string | undefined;
}

/** Where a member goes on to whose request is over. */
interface Beginning {
  href: string;
  clientName?: string | undefined;
}

/**
 * The page that begins a request again which is over; undefined: it is not over, was never this browser's, or nobody knows
 * any more whose it was.
 */
export async function wayToBeginAgain(deps: Deps, req: Request, said: Said): Promise<string | undefined> {
  const found = await deps.requests.find(req, said.id);
  if (found.state === 'ours' || !(await beginningOf(deps, found, said.clientId, false))) return undefined;
  return `${beginAgainPath}?${new URLSearchParams({
    authorization_code: said.id,
    ...(said.clientId !== undefined && { client_id: said.clientId }),
  })}`;
}

/** What a page says of a request that has no row here: whose it may have been. Never led to by itself: see `beginningOf`. */
export async function wayToApp({ database, publicUrl }: Deps, clientId: string | undefined) {
  const start = clientId === undefined ? undefined : await clientStart({ database, publicUrl }, clientId);
  return start?.href === undefined ? undefined : { href: start.href, clientName: start.clientName };
}

/**
 * One that nobody came for in time begins with the same parameters, and the provider checks all of them anew. One that was
 * answered begins at the client app, where that has an address for it: most take an answer once. A request of another
 * browser, or of one that keeps no cookies, leads nowhere by itself: it would come back for ever.
 * @param make whether it is to begin now; else only whether it can
 */
async function beginningOf(
  deps: Deps,
  found: Exclude<RequestLookup, { state: 'ours' }>,
  clientId: string | undefined,
  make: boolean,
): Promise<Beginning | undefined> {
  if (found.state === 'unknown') return wayToApp(deps, clientId);
  if (found.state !== 'over') return undefined;
  const { begunWith, waitedLong } = found;
  const start = await clientStart(deps, begunWith.clientId);
  if (!waitedLong && start?.href !== undefined) return { href: start.href, clientName: start.clientName };
  return { href: make ? await authorizeAgain(deps, begunWith) : '', clientName: start?.clientName };
}

async function authorizeAgain({ provider }: Deps, { clientId, params, pushed }: BegunWith): Promise<string> {
  const parameters = pushed
    ? { client_id: clientId, request_uri: await pushAgain(provider(), clientId, params, pushed) }
    : params;
  return `${routes.authorization}?${new URLSearchParams(parameters)}`;
}

const pushedUrn = 'urn:ietf:params:oauth:request_uri:';
const pushedSeconds = 60;

/** As the library keeps a pushed request (RFC 9126, section 2.2): what was said in private does not come to the address bar. */
async function pushAgain(
  provider: Provider,
  clientId: string,
  params: BegunWith['params'],
  { trusted }: NonNullable<BegunWith['pushed']>,
): Promise<string> {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const given = new Map<string, string | string[]>();
  for (const [name, value] of params) {
    const before = given.get(name);
    given.set(name, before === undefined ? value : [before, value].flat());
  }
  const payload = {
    ...Object.fromEntries(given),
    ...{ iss: clientId, aud: provider.issuer, iat: nowSeconds, nbf: nowSeconds, exp: nowSeconds + pushedSeconds },
  };
  const part = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url');
  const request = `${part({ alg: 'none' })}.${part(payload)}.`;
  // The library's types know a client where the class itself keeps what it is given.
  const kept = new provider.PushedAuthorizationRequest({ request, trusted } as never);
  return pushedUrn + (await kept.save(pushedSeconds));
}

/** GET /begin-again: a page that goes on by itself, because a form's own policy reaches no client app by redirects. */
export function beginAgain(deps: OauthDeps): Handler {
  return async (req, res) => {
    const [id = '', clientId] = [query(req, 'authorization_code'), query(req, 'client_id')];
    const found = await deps.requests.find(req, id);
    if (found.state === 'ours') {
      return sendGoingOnPage(deps.pages, req, res, `/?${new URLSearchParams({ authorization_code: id })}`);
    }
    const beginning = await beginningOf(deps, found, clientId, true);
    if (!beginning) throw await requestOver(deps, req, found.state, { id, clientId });
    sendGoingOnPage(deps.pages, req, res, beginning.href, beginning.clientName);
  };
}

/** Whoever holds a request that is over is led to where it begins again; else they are told what they can do. */
export async function requestOver(
  deps: Deps,
  req: Request,
  state: Exclude<RequestLookup['state'], 'ours'>,
  { id, clientId }: Said,
): Promise<HttpError> {
  return new HttpError(state === 'other-browser' ? 'otherBrowser' : 'requestExpired', {
    detail: `authorization request: ${state}`,
    instead: req.path === beginAgainPath ? undefined : await wayToBeginAgain(deps, req, { id, clientId }),
    way: await wayToApp(deps, clientId),
  });
}
