import { type ClientId, toClientId } from '../shared/index.ts';
import type { ClientAuthorizations } from '../sign-in/index.ts';
import { resolveShorthand } from './authorize-shorthand.ts';
import type { OauthDeps } from './deps.ts';
import { toExpiredError } from './restart-authorization.ts';

/** The functions of client apps' requests that sign-in and sign-up use. */
export function createClientRequests(deps: OauthDeps, defaultClientId: ClientId): ClientAuthorizations {
  const { requests } = deps;
  return {
    async findPendingAuthorization(req, id) {
      const found = await requests.find(req, id);
      return found.state === 'valid' ? found.request : undefined;
    },
    async toExpiredError(req, { authorization = '', search }) {
      const { state } = await requests.find(req, authorization);
      const clientId = new URLSearchParams(search).get('client_id');
      return toExpiredError(deps, req, state === 'valid' ? 'unknown' : state, {
        id: authorization,
        clientId: clientId === null ? undefined : toClientId(clientId),
      });
    },
    resolveShorthand: (continuation) => resolveShorthand({ ...deps, defaultClientId }, continuation),
  };
}
