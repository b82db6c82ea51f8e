import type Provider from 'oidc-provider';
import { z } from 'zod';
import { type ApiOperation, defineOperation, HttpError, requirePrincipal } from '../http/index.ts';
import type { ClientId } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import { type ClientMetadata, isVisibleToUsers, signsUsersIn } from './client-metadata.ts';
import { listClients } from './client-store.ts';

const clientApp = z.object({
  client_id: z.string(),
  client_name: z.string(),
  client_logo: z.string().nullable(),
  logback_uri: z.string().nullable(),
});

/**
 * The default client represents Foyer itself, unless an operator has registered where a sign-in to it starts. The
 * dashboard follows the same rule.
 */
const isInternal = (client: ClientMetadata, defaultClientId: ClientId) =>
  client.client_id === defaultClientId && client.initiate_login_uri === undefined;

/** The JSON calls of this module, in the specification's names (section 7, Broker and storage). */
export function oidcOperations({
  database,
  provider,
  defaultClientId,
}: {
  database: Database;
  provider: () => Provider;
  defaultClientId: ClientId;
}): ApiOperation[] {
  return [
    defineOperation({
      method: 'get',
      path: '/clients',
      id: 'listClients',
      summary: 'The registered client apps',
      answer: z.array(clientApp),
      async handle({ req }) {
        const clients = await listClients(database.db);
        const forMember = requirePrincipal(req).kind === 'member';
        const listed = clients.filter((client) =>
          forMember ? isVisibleToUsers(client) && !isInternal(client, defaultClientId) : signsUsersIn(client),
        );
        return listed.map((client) => ({
          client_id: client.client_id,
          client_name: client.client_name,
          client_logo: client.logo_uri ?? null,
          logback_uri: client.initiate_login_uri ?? null,
        }));
      },
    }),
    defineOperation({
      method: 'get',
      path: '/verifyClient',
      id: 'verifyClient',
      summary: 'Whether a logout address is registered for a client app',
      query: z.object({ client_id: z.string().min(1).max(100), logout_uri: z.string().min(1).max(2_000) }),
      answer: z.object({ valid: z.literal(true) }),
      problems: { 404: 'No such client app, or another address' },
      async handle({ query }) {
        const client = await provider().Client.find(query.client_id);
        if (!client?.postLogoutRedirectUriAllowed(query.logout_uri)) {
          throw new HttpError('unknownClient', { detail: 'no such client with this logout address' });
        }
        return { valid: true as const };
      },
    }),
  ];
}
