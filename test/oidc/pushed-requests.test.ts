import * as oauth from 'oauth4webapi';
import * as oidc from 'openid-client';
import { type RelyingParty, relyingParty, signInFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { discover, insecure } from './oauth4webapi.ts';
import { setUpUser } from './user-and-client.ts';

/** Pushes the parameters that `begin` puts into the address. @returns the request with its `request_uri` */
async function push(client: RelyingParty) {
  const begun = await client.begin();
  const parameters = Object.fromEntries(new URL(begun.url).searchParams);
  return { ...begun, url: (await oidc.buildAuthorizationUrlWithPAR(client.config, parameters)).href };
}

describe.each(backends)('pushed authorization requests on $name', (backend) => {
  const context = setUpUser(backend);

  describe.each([
    { kind: 'a confidential client', registration: {} },
    { kind: 'a public client', registration: { public: true } },
    { kind: 'a client that must push', registration: { requirePushedRequests: true } },
  ])('$kind', ({ registration }) => {
    it('A pushed request gives a code, and the address has only client_id and request_uri', async () => {
      const client = await relyingParty(context.foyer, await context.foyer.addClient(registration));
      const begun = await push(client);
      const { searchParams } = new URL(begun.url);
      expect([...searchParams.keys()].toSorted()).toEqual(['client_id', 'request_uri']);
      const tokens = await client.redeem(await signInFor(context.foyer.browser(), begun, context.user), begun);
      expect(tokens.claims()).toMatchObject({ sub: context.user.id, nonce: begun.nonce });
    });
  });

  it('A public client with oauth4webapi pushes its request and gets tokens', async () => {
    const registered = await context.foyer.addClient({ public: true });
    const as = await discover(context.foyer.url);
    const client = { client_id: registered.id };
    const verifier = oauth.generateRandomCodeVerifier();
    const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
    const pushed = await oauth.processPushedAuthorizationResponse(
      as,
      client,
      await oauth.pushedAuthorizationRequest(
        as,
        client,
        oauth.None(),
        {
          redirect_uri: registered.redirectUri,
          response_type: 'code',
          scope: 'openid email',
          state,
          nonce,
          code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        },
        insecure,
      ),
    );
    expect(pushed.expires_in).toBe(60);
    const url = new URL(as.authorization_endpoint ?? '');
    url.search = String(new URLSearchParams({ client_id: registered.id, request_uri: pushed.request_uri }));
    const callback = new URL(await signInFor(context.foyer.browser(), { url: url.href }, context.user));
    const parameters = oauth.validateAuthResponse(as, client, callback, state);
    const answer = await oauth.authorizationCodeGrantRequest(
      ...([as, client, oauth.None(), parameters, registered.redirectUri, verifier, insecure] as const),
    );
    const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer, { expectedNonce: nonce });
    expect(oauth.getValidatedIdTokenClaims(tokens)?.sub).toBe(context.user.id);
  });

  it('A client that must push gets invalid_request for a request that was not pushed', async () => {
    const client = await relyingParty(context.foyer, await context.foyer.addClient({ requirePushedRequests: true }));
    const back = new URL(await signInFor(context.foyer.browser(), await client.begin(), context.user));
    expect(back.searchParams.get('error')).toBe('invalid_request');
    expect(back.searchParams.has('code')).toBe(false);
  });

  it('A pushed request is validated at the push by the rules of the authorization endpoint', async () => {
    const client = await relyingParty(
      context.foyer,
      await context.foyer.addClient({ public: true, scopes: ['openid', 'email'] }),
    );
    const good = Object.fromEntries(new URL((await client.begin({ scope: 'openid' })).url).searchParams);
    const ask = async (change: Record<string, string>) => {
      const answer = await sendRequest(`${context.foyer.url}/oauth2/par`, {
        method: 'POST',
        body: new URLSearchParams({ ...good, ...change }),
      });
      expect(answer.headers.get('cache-control')).toBe('no-store');
      return [answer.status, ((await answer.json()) as { error?: string }).error];
    };
    expect(await ask({})).toEqual([201, undefined]);
    expect(await ask({ redirect_uri: 'https://evil.example/' })).toEqual([400, 'invalid_request']);
    expect(await ask({ code_challenge_method: 'plain' })).toEqual([400, 'invalid_request']);
    expect(await ask({ code_challenge: '' })).toEqual([400, 'invalid_request']);
    expect(await ask({ scope: 'openid phone' })).toEqual([400, 'invalid_scope']);
    expect(await ask({ request: 'eyJhbGciOiJub25lIn0.e30.' })).toEqual([400, 'invalid_request_object']);
    expect(await ask({ request_uri: 'urn:ietf:params:oauth:request_uri:x' })).toEqual([
      400,
      'request_uri_not_supported',
    ]);
  });
});
