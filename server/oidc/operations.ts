import type Provider from 'oidc-provider';
import { z } from 'zod';
import { type ApiOperation, defineOperation, doc, HttpError, requirePrincipal } from '../http/index.ts';
import type { ClientId } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import { type ClientMetadata, isVisibleToUsers, signsUsersIn } from './client-metadata.ts';
import { listClients } from './client-store.ts';

const clientApp = z
  .object({
    client_id: z.string().meta(doc('Id of the client app', 'shop')),
    client_name: z.string().meta(doc('Its name for members', 'The Shop')),
    client_logo: z.string().nullable().meta(doc('Address of its logo; null: none', 'https://shop.example/logo.svg')),
    logback_uri: z
      .string()
      .nullable()
      .meta(doc('Address of the app that begins a sign-in; null: none', 'https://shop.example/sign-in')),
  })
  .meta({ id: 'ClientApp', description: 'A registered client app.' });

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
      summary: 'List the client apps',
      description: 'A member gets the apps of the dashboard, a service all apps that sign members in.',
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
      summary: 'Check a logout address of a client app',
      description: 'The address is compared letter by letter with the registered ones.',
      query: z.object({
        client_id: z.string().min(1).max(100).meta(doc('Id of the client app', 'shop')),
        logout_uri: z.string().min(1).max(2_000).meta(doc('The logout address', 'https://shop.example/signed-out')),
      }),
      answer: z
        .object({ valid: z.literal(true).meta(doc('Always true')) })
        .meta({ id: 'ValidLogoutAddress', description: 'The address is registered.' }),
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
