import type { ClientRequests } from '../sign-in/index.ts';
import { requestOver } from './begin-again.ts';
import type { OauthDeps } from './deps.ts';
import { shortFormOf } from './short-forms.ts';

/** What the rooms of signing in and up ask of client apps' requests. */
export function createClientRequests(deps: OauthDeps, defaultClientId: string): ClientRequests {
  const { requests } = deps;
  return {
    async pendingRequest(req, id) {
      const found = await requests.find(req, id);
      return found.state === 'ours' ? found.request : undefined;
    },
    async requestOver(req, { authorization = '', search }) {
      const { state } = await requests.find(req, authorization);
      const clientId = new URLSearchParams(search).get('client_id') ?? undefined;
      return requestOver(deps, req, state === 'ours' ? 'unknown' : state, { id: authorization, clientId });
    },
    shortForm: (errand) => shortFormOf({ ...deps, defaultClientId }, errand),
  };
}
