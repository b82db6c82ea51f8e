import type { RequestContext } from '../http/index.ts';
import { toClientId } from '../shared/index.ts';
import type { ClientAuthorizations } from '../sign-in/index.ts';
import type { AuthorizationRequest } from './authorization-requests.ts';
import { resolveShorthand } from './authorize-shorthand.ts';
import type { OidcDeps } from './deps.ts';
import { toExpiredError } from './restart-authorization.ts';

/** The functions of client apps' requests that sign-in and sign-up use. */
export function createClientRequests(deps: OidcDeps): ClientAuthorizations {
  const { requests } = deps;
  return {
    async findPendingAuthorization(req, id) {
      const found = await requests.find(req, id);
      return found.state === 'valid' ? found.request : undefined;
    },
    async toExpiredError(req, { authorization = '', search }) {
      const { state } = await requests.find(req, authorization);
      const clientId = new URLSearchParams(search).get('client_id');
      return toExpiredError(deps, req, {
        state: state === 'valid' ? 'unknown' : state,
        id: authorization,
        clientId: clientId === null ? undefined : toClientId(clientId),
      });
    },
    resolveShorthand: (continuation) => resolveShorthand(deps, continuation),
  };
}

/** @throws {HttpError} requestExpired or otherBrowser, with the address of a new start if there is one */
export async function requireOwnedRequest(
  { req }: RequestContext,
  deps: OidcDeps,
  id: string,
): Promise<AuthorizationRequest> {
  const found = await deps.requests.find(req, id);
  if (found.state === 'valid') return found.request;
  const clientId = typeof req.query.client_id === 'string' ? toClientId(req.query.client_id) : undefined;
  throw await toExpiredError(deps, req, { state: found.state, id, clientId });
}
