import * as oidc from 'openid-client';
import { apiScopes } from '../../server/http/index.ts';
import { deleteClient, findClient, insertResourceServer, updateClient } from '../../server/oidc/index.ts';
import { toClientId } from '../support/ids.ts';
import { relyingParty } from '../support/relying-party.ts';
import { bearer, ownPage, service, tamper } from './callers.ts';
import { always, asClient, type Caller, withScope } from './expected-status.ts';

const garbage = (authorization: string): Caller => ({
  credentials: async () => ({ headers: { authorization } }),
  expected: always(401),
});

/** Client apps that call for themselves, and callers whose token cannot be valid. */
export const clientCallers: Record<string, Caller> = {
  'a JWT for a resource server': {
    async credentials(foyer) {
      const identifier = 'https://api.example.com/';
      await insertResourceServer(foyer.deps.database.db, { identifier, scopes: ['orders:read'] }, 1);
      const client = await foyer.addClient({
        service: true,
        scopes: ['openid', ...apiScopes],
        resources: [identifier],
      });
      const { config } = await relyingParty(foyer, client);
      const scope = `orders:read ${apiScopes.join(' ')}`;
      return bearer((await oidc.clientCredentialsGrant(config, { scope, resource: identifier })).access_token);
    },
    expected: always(401),
  },
  'a client app with every scope': {
    async credentials(foyer) {
      const { id, token } = await service(foyer, apiScopes);
      return { ...bearer(token), is: id };
    },
    expected: asClient,
  },
  // An older Foyer issued such tokens; today a token needs a scope.
  'a client app whose token has no scope': {
    async credentials(foyer) {
      const { token } = await service(foyer, ['users:read']);
      await tamper(foyer, token, { scope: undefined }, 'ClientCredentials');
      return bearer(token);
    },
    expected: always(403),
  },
  'a client app with another scope': {
    credentials: async (foyer) => bearer((await service(foyer, ['payments:write'])).token),
    expected: withScope('payments:write'),
  },
  'a client app that was registered for less since': {
    async credentials(foyer) {
      const { id, token } = await service(foyer, apiScopes);
      const { db } = foyer.deps.database;
      const client = await findClient(db, toClientId(id));
      if (!client) throw new Error('no such client');
      await updateClient(db, { ...client, scope: 'payments:write' }, { nowMs: foyer.deps.now() });
      return bearer(token);
    },
    expected: withScope('payments:write'),
  },
  'a client app that is removed': {
    async credentials(foyer) {
      const { id, token } = await service(foyer, apiScopes);
      await deleteClient(foyer.deps.database.db, toClientId(id));
      return bearer(token);
    },
    expected: always(401),
  },
  'a garbage token beside a session': {
    async credentials(foyer) {
      const browser = await foyer.signedIn(await foyer.addUser());
      return { browser, headers: { ...ownPage(foyer), authorization: 'Bearer garbage' } };
    },
    expected: always(401),
  },
  'another scheme beside a session': {
    async credentials(foyer) {
      const browser = await foyer.signedIn(await foyer.addUser());
      return { browser, headers: { ...ownPage(foyer), authorization: 'Basic Zm9vOmJhcg==' } };
    },
    expected: always(401),
  },
  'a word': garbage('Bearer foyer'),
  'no token': garbage('Bearer'),
  'two tokens': garbage('Bearer one two'),
  'a very long token': garbage(`Bearer ${'x'.repeat(6_000)}`),
  'a token with quotes': garbage('Bearer "token"'),
  'a client’s id and secret': garbage(`Basic ${Buffer.from('client1:secret').toString('base64')}`),
};
