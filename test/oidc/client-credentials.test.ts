import * as oidc from 'openid-client';
import { apiScopes } from '../../server/http/index.ts';
import { clientMetadata, InvalidClientRequest, insertResourceServer } from '../../server/oidc/index.ts';
import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, signInFor, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('client credentials on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  /** A client app that acts for itself and also signs users in. */
  const both = (scopes = ['openid', 'email', 'account', 'users:read']) => foyer.addClient({ service: true, scopes });
  const only = (scopes: string[] = [...apiScopes]) => foyer.addClient({ service: true, redirectUris: [], scopes });
  const ask = async (client: { id: string; secret: string | null }, parameters: Record<string, string>) => {
    const authorization = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`;
    const body = new URLSearchParams({ grant_type: 'client_credentials', ...parameters });
    return sendRequest(`${foyer.url}/oauth2/token`, { method: 'POST', headers: { authorization }, body });
  };
  const refusal = async (answer: Response) => [answer.status, ((await answer.json()) as { error: string }).error];

  it('A client credentials grant gives a ten-minute token with the requested scopes and no other token', async () => {
    const answer = await ask(await only(), { scope: 'users:read plans:read' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toEqual({
      access_token: expect.any(String),
      expires_in: 600,
      scope: 'users:read plans:read',
      token_type: 'Bearer',
    });
  });

  it('A client credentials request without a scope is refused with invalid_scope', async () => {
    for (const scope of [undefined, '']) {
      const answer = await ask(await only(), scope === undefined ? {} : { scope });
      expect([answer.status, await answer.json()]).toEqual([
        400,
        expect.objectContaining({ error: 'invalid_scope', error_description: 'name at least one registered scope' }),
      ]);
    }
  });

  it.each(['openid', 'account', 'aws.cognito.signin.user.admin', 'email', 'openid users:read', 'offline_access'])(
    'A client credentials request for the user’s scope %s is refused with invalid_scope',
    async (scope) => {
      expect(await refusal(await ask(await both(), { scope }))).toEqual([400, 'invalid_scope']);
    },
  );

  it.each(['users:write', 'users:read users:write'])(
    'A client credentials request for a scope outside the registration is refused: %s',
    async (scope) => {
      const client = await only(['users:read']);
      expect(await refusal(await ask(client, { scope }))).toEqual([400, 'invalid_scope']);
    },
  );

  it.each(['users:delete', '*', 'USERS:READ', 'users'])(
    'The unknown scope %s is left out, and a request with no known scope is refused',
    async (scope) => {
      const client = await only(['users:read']);
      expect(await refusal(await ask(client, { scope }))).toEqual([400, 'invalid_scope']);
      expect(await (await ask(client, { scope: `${scope} users:read` })).json()).toMatchObject({ scope: 'users:read' });
    },
  );

  it('Client credentials for a resource are refused with invalid_scope if none of its scopes is left', async () => {
    const resource = 'https://orders.example.com/';
    await insertResourceServer(foyer.deps.database.db, { identifier: resource, scopes: ['orders:read'] }, 1);
    const scopes = ['users:read'];
    const client = await foyer.addClient({ service: true, redirectUris: [], scopes, resources: [resource] });
    for (const scope of ['nonsense', 'payroll:read', 'users:read', ''])
      expect(await refusal(await ask(client, { resource, scope }))).toEqual([400, 'invalid_scope']);
    const mixed = await ask(client, { resource, scope: 'orders:read nonsense' });
    expect(await mixed.json()).toMatchObject({ scope: 'orders:read' });
  });

  it('A client that is not registered as a service gets no client credentials token, whatever its scopes for users', async () => {
    expect(await refusal(await ask(await foyer.addClient(), {}))).toEqual([400, 'invalid_request']);
  });

  it('A client credentials request is refused with a wrong secret, without a secret, and from a public client', async () => {
    const client = await only();
    expect(await refusal(await ask({ ...client, secret: 'wrong' }, {}))).toEqual([401, 'invalid_client']);
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: client.id });
    expect((await sendRequest(`${foyer.url}/oauth2/token`, { method: 'POST', body })).status).toBe(401);
    const { id } = await foyer.addClient({ public: true });
    const open = new URLSearchParams({ grant_type: 'client_credentials', client_id: id });
    expect((await sendRequest(`${foyer.url}/oauth2/token`, { method: 'POST', body: open })).status).toBe(400);
  });

  it('A client credentials token gives no userinfo, and its own client can introspect and revoke it', async () => {
    const client = await only();
    const { config } = await relyingParty(foyer, client);
    const { access_token: token } = await oidc.clientCredentialsGrant(config, { scope: 'users:read' });
    const info = await sendRequest(`${foyer.url}/oauth2/userInfo`, { headers: { authorization: `Bearer ${token}` } });
    expect(info.status).toBe(401);
    expect(await oidc.tokenIntrospection(config, token)).toMatchObject({ active: true, scope: 'users:read' });
    await oidc.tokenRevocation(config, token);
    expect(await oidc.tokenIntrospection(config, token)).toEqual({ active: false });
    const used = await sendRequest(`${foyer.url}/clients`, { headers: { authorization: `Bearer ${token}` } });
    expect(used.status).toBe(401);
  });

  it.each(['openid users:read', 'users:read openid email', 'openid users:write'])(
    'A user’s sign-in never gives the scopes that belong to a client alone: %s',
    async (scope) => {
      const app = await relyingParty(foyer, await both(), scope);
      const signedIn = await foyer.signedIn(await foyer.addUser());
      for (const browser of [signedIn, foyer.browser()]) {
        const home = new URL(locationOf(await browser.get((await app.begin()).url)));
        expect([home.searchParams.get('code'), home.searchParams.get('error')]).toEqual([null, 'invalid_scope']);
      }
    },
  );

  it('A service signs users in like any client, with either name of the account scope', async () => {
    const client = await both();
    const app = await relyingParty(foyer, client, 'openid aws.cognito.signin.user.admin');
    const tokens = await tokensFor(app, foyer.browser(), await foyer.addUser());
    expect(tokens.scope).toBe('openid aws.cognito.signin.user.admin');
    await expect(
      oidc.refreshTokenGrant(app.config, tokens.refresh_token ?? '', { scope: 'openid users:read' }),
    ).rejects.toMatchObject({ error: 'invalid_scope' });
  });

  it('The consent page describes the account scope in words once, whichever of its names is requested', async () => {
    const client = await foyer.addClient({ thirdParty: true, scopes: ['openid', 'account'] });
    const app = await relyingParty(foyer, client, 'openid account aws.cognito.signin.user.admin');
    const [user, browser] = [await foyer.addUser(), foyer.browser()];
    const begun = await app.begin();
    const page = await (await browser.get(locationOf(await (await foyer.signedIn(user)).get(begun.url)))).text();
    expect(page).not.toContain('cognito');
    const signedIn = await foyer.signedIn(user);
    const consent = await (await signedIn.get(locationOf(await signedIn.get((await app.begin()).url)))).text();
    expect(consent.match(/Read and change your profile/g)).toHaveLength(1);
    expect(consent).not.toContain('cognito');
    expect(new URL(await signInFor(browser, begun, user)).searchParams.has('code')).toBe(true);
  });
});

describe('a registration as a service', () => {
  const make = (request: object) =>
    clientMetadata({ id: 'x', name: 'X', redirectUris: [], ...request }, { development: false });
  const faultsOf = (request: object): readonly string[] => {
    try {
      make(request);
    } catch (error) {
      if (error instanceof InvalidClientRequest) return error.faults;
      throw error;
    }
    return [];
  };
  const redirectUris = ['https://x.example/cb'];

  it('A service registration without a redirect address has the client credentials grant and no sign-in', () => {
    expect(make({ service: true, scopes: ['users:read plans:read'] })).toMatchObject({
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
      scope: 'users:read plans:read',
      token_endpoint_auth_method: 'client_secret_basic',
    });
  });

  it('A service registration with a redirect address has client credentials and sign-in', () => {
    expect(make({ service: true, redirectUris, scopes: ['openid', 'users:read'] })).toMatchObject({
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      response_types: ['code'],
      scope: 'openid users:read',
    });
  });

  it.each([
    ['is a service without a secret', { service: true, public: true, scopes: ['users:read'] }, /^service: /],
    ['is a service and an app on a device', { service: true, native: true, scopes: ['users:read'] }, /^service: /],
    ['is a service without a scope', { service: true }, /^scope: write at least one/],
    [
      'is a service with a scope that only users grant',
      { service: true, scopes: ['users:read', 'email'] },
      /^scope email: /,
    ],
    ['is a service with an unknown scope', { service: true, scopes: ['users:*'] }, /^scope users:\*: unknown/],
    [
      'is no service and has a scope of services',
      { redirectUris, scopes: ['openid', 'users:read'] },
      /^scope users:read: /,
    ],
    ['is no service and has no redirect address', {}, /^redirect-uri: /],
  ])('A client registration is refused when it %s', (_what, request, fault) => {
    const faults = faultsOf(request);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(fault);
  });
});
