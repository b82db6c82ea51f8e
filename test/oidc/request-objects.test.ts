import { type JWTPayload, UnsecuredJWT } from 'jose';
import * as oidc from 'openid-client';
import { type Browser, locationOf } from '../support/browser.ts';
import { homeFrom, type RelyingParty, relyingParty, signInFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { clientKey, type KeyClient, keyClient, parametersOf, secondsFromNow } from './key-client.ts';
import { setUpUser } from './user-and-client.ts';

/** The address of a request that has only an object, and its own client_id. */
function withObject(client: RelyingParty, url: string, request: string, beside: Record<string, string> = {}): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}?${new URLSearchParams({ client_id: client.id, request, ...beside })}`;
}

/** The parameters of an answer in the query or fragment of the redirect. */
function answerOf(location: string): URLSearchParams {
  const url = new URL(location);
  return url.hash === '' ? url.searchParams : new URLSearchParams(url.hash.slice(1));
}

describe.each(backends)('request objects by value on $name', (backend) => {
  const context = setUpUser(backend);
  let app: KeyClient;
  let browser: Browser;
  beforeAll(async () => {
    app = await keyClient(context.foyer);
    browser = await context.foyer.signedIn(context.user);
  });

  const askWith = async (url: string) => browser.get(url, { from: 'cross-site' });

  it('openid-client signs its request (RFC 9101), and a user who has to sign in comes back with a code', async () => {
    const begun = await app.client.begin();
    const url = await oidc.buildAuthorizationUrlWithJAR(app.client.config, parametersOf(begun.url), app.key);
    expect([...url.searchParams.keys()].toSorted()).toEqual(['client_id', 'request']);
    const callback = await signInFor(context.foyer.browser(), { url: url.href }, context.user);
    const tokens = await app.client.redeem(callback, begun);
    expect(tokens.claims()).toMatchObject({ sub: context.user.id, nonce: begun.nonce });
  });

  it('A signed request can be pushed, and the pushed one gives a code', async () => {
    const begun = await app.client.begin();
    const signed = await oidc.buildAuthorizationUrlWithJAR(app.client.config, parametersOf(begun.url), app.key);
    const url = await oidc.buildAuthorizationUrlWithPAR(app.client.config, signed.searchParams);
    expect(url.searchParams.get('request_uri')).toMatch(/^urn:/);
    const tokens = await app.client.redeem(await signInFor(browser, { url: url.href }, context.user), begun);
    expect(tokens.claims()?.nonce).toBe(begun.nonce);
  });

  it.each(['RS256', 'PS256', 'EdDSA'] as const)('A request object that is signed with %s is accepted', async (alg) => {
    const { key, jwk } = await clientKey(alg);
    const other = await keyClient(context.foyer, { jwks: { keys: [jwk] } });
    const begun = await other.client.begin();
    const request = await other.sign(parametersOf(begun.url), { alg }, key);
    const back = answerOf(locationOf(await askWith(withObject(other.client, begun.url, request))));
    expect(back.get('state')).toBe(begun.state);
    expect(back.has('code')).toBe(true);
  });

  it('An object alone carries response_mode, redirect_uri, state, display, ui_locales and login_hint', async () => {
    const begun = await app.client.begin({
      response_mode: 'form_post',
      display: 'popup',
      ui_locales: 'de',
      login_hint: 'vera@example.com',
      prompt: 'login',
    });
    const url = withObject(app.client, begun.url, await app.sign(parametersOf(begun.url)));
    const visitor = context.foyer.browser();
    const first = await visitor.get(url, { from: 'cross-site' });
    expect(first.headers.get('cross-origin-opener-policy')).toBe('unsafe-none');
    const page = await visitor.get(locationOf(first));
    const html = await page.text();
    expect(page.headers.get('cross-origin-opener-policy')).toBe('unsafe-none');
    expect(html).toContain('<html lang="de"');
    expect(html).toContain('value="vera@example.com"');
  });

  it('The answer to an object with response_mode=form_post and prompt=none is a form, also for an error', async () => {
    const begun = await app.client.begin({ response_mode: 'form_post', prompt: 'none' });
    const url = withObject(app.client, begun.url, await app.sign(parametersOf(begun.url)));
    const good = await askWith(url);
    expect([good.status, await good.text()]).toEqual([200, expect.stringContaining('name="code"')]);
    const refused = await context.foyer.browser().get(url, { from: 'cross-site' });
    expect(await refused.text()).toContain('value="login_required"');
  });

  it('Parameters beside an object do not count: the redirect_uri of the object is used', async () => {
    const begun = await app.client.begin();
    const request = await app.sign(parametersOf(begun.url));
    const beside = { redirect_uri: 'https://evil.example/', state: 'outer', scope: 'openid phone', prompt: 'login' };
    const location = locationOf(await askWith(withObject(app.client, begun.url, request, beside)));
    expect(location.startsWith(app.client.redirectUri)).toBe(true);
    expect(answerOf(location).get('state')).toBe(begun.state);
  });

  it('The claims of an object step up as those of a query do', async () => {
    const begun = await app.client.begin({ prompt: 'none' });
    const claims = { id_token: { acr: { essential: true, value: 'aal2' } } };
    const request = await app.sign({ ...parametersOf(begun.url), claims });
    const back = answerOf(locationOf(await askWith(withObject(app.client, begun.url, request))));
    expect(back.get('error')).toBe('unmet_authentication_requirements');
  });

  it('A posted request with an object gives a code', async () => {
    const begun = await app.client.begin();
    const request = await app.sign(parametersOf(begun.url));
    const posted = await browser.post(
      '/oauth2/authorize',
      { client_id: app.client.id, request },
      { from: 'cross-site' },
    );
    const back = answerOf(locationOf(await askWith(locationOf(posted))));
    expect([back.get('state'), back.has('code')]).toEqual([begun.state, true]);
  });

  it('An expired request that was signed starts again without its parameters in the address', async () => {
    const begun = await app.client.begin();
    const url = withObject(app.client, begun.url, await app.sign(parametersOf(begun.url)));
    const visitor = context.foyer.browser();
    const page = locationOf(await visitor.get(url, { from: 'cross-site' }));
    context.foyer.passTime(60 * 60_000);
    const again = locationOf(await visitor.get(page));
    const html = await (await visitor.get(again)).text();
    expect(html).toContain('request_uri=urn');
    expect(html).not.toContain(begun.state);
    const tokens = await app.client.redeem(await homeFrom(visitor, again, context.user), begun);
    expect(tokens.claims()?.nonce).toBe(begun.nonce);
  });

  describe('refusals', () => {
    const refusals: [what: string, claims: JWTPayload, header?: Record<string, string>][] = [
      ['is expired', { exp: secondsFromNow(-60) }],
      ['has no expiry', { exp: undefined }],
      ['lives longer than an hour', { exp: secondsFromNow(2 * 60 * 60) }],
      ['was valid an hour ago and lives on', { nbf: secondsFromNow(-65 * 60) }],
      ['is not valid yet', { nbf: secondsFromNow(70), exp: secondsFromNow(300) }],
      ['is issued in the future', { iat: secondsFromNow(70) }],
      ['is for another audience', { aud: 'https://other.example' }],
      ['has no audience', { aud: undefined }],
      ['is from another issuer', { iss: 'other' }],
      ['has no issuer', { iss: undefined }],
      ['has another client_id', { client_id: 'other' }],
      ['has another response_type', { response_type: 'id_token' }],
      ['has a subject, as a client assertion does', { sub: 'x' }],
      ['is a JWT of another type', {}, { typ: 'logout+jwt' }],
      ['contains an object', { request: 'x' }],
      ['contains a request_uri', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }],
    ];
    it.each(refusals)(
      'Attack: a request object that %s is refused with invalid_request_object',
      async (_what, bad, header) => {
        const begun = await app.client.begin();
        const request = await app.sign({ ...parametersOf(begun.url), ...bad }, header);
        const url = new URL(begun.url);
        url.searchParams.set('request', request);
        const location = locationOf(await askWith(url.href));
        expect(location.startsWith(app.client.redirectUri)).toBe(true);
        expect(answerOf(location).get('error')).toBe('invalid_request_object');
        const pushed = await sendRequest(`${context.foyer.url}/oauth2/par`, {
          method: 'POST',
          body: new URLSearchParams({
            client_id: app.client.id,
            client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
            client_assertion: await app.sign({ sub: app.client.id }),
            request,
          }),
        });
        const isTyped = 'response_type' in bad;
        // At the push nothing stands beside the object.
        const error = isTyped ? 'invalid_request' : 'invalid_request_object';
        expect([pushed.status, await pushed.json()]).toEqual([400, expect.objectContaining({ error })]);
      },
    );

    it('Attack: a request object that another key has signed is refused with invalid_request_object', async () => {
      const begun = await app.client.begin();
      const { key } = await clientKey();
      const url = new URL(begun.url);
      url.searchParams.set('request', await app.sign(parametersOf(begun.url), {}, key));
      expect(answerOf(locationOf(await askWith(url.href))).get('error')).toBe('invalid_request_object');
    });

    it('Attack: the hash of a client secret is no key of a request object', async () => {
      const registered = await context.foyer.addClient();
      const client = await relyingParty(context.foyer, registered);
      const begun = await client.begin();
      const { createHash, createHmac } = await import('node:crypto');
      const part = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url');
      const claims = { ...parametersOf(begun.url), iss: client.id, aud: context.foyer.url, exp: secondsFromNow(60) };
      const signed = `${part({ alg: 'HS256' })}.${part(claims)}`;
      const secret = registered.secret ?? '';
      for (const key of [secret, createHash('sha256').update(secret).digest('base64url')]) {
        const url = new URL(begun.url);
        url.searchParams.set('request', `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`);
        expect(answerOf(locationOf(await askWith(url.href))).get('error')).toBe('invalid_request_object');
      }
    });

    it('Attack: a client assertion is no request object, and a request object is no client assertion', async () => {
      const begun = await app.client.begin();
      const assertion = await app.sign({ sub: app.client.id });
      const url = withObject(app.client, begun.url, assertion, { redirect_uri: app.client.redirectUri });
      expect(answerOf(locationOf(await askWith(url))).get('error')).toBe('invalid_request_object');
      const answer = await sendRequest(`${context.foyer.url}/oauth2/par`, {
        method: 'POST',
        body: new URLSearchParams({
          ...parametersOf(begun.url),
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: await app.sign(parametersOf(begun.url)),
        }),
      });
      expect(answer.status).toBe(401);
    });

    it('A client that must sign gets invalid_request for a request without an object', async () => {
      const strict = await keyClient(context.foyer, { requireSignedRequests: true });
      const begun = await strict.client.begin();
      expect(answerOf(locationOf(await askWith(begun.url))).get('error')).toBe('invalid_request');
      const signed = withObject(strict.client, begun.url, await strict.sign(parametersOf(begun.url)));
      expect(answerOf(locationOf(await askWith(signed))).has('code')).toBe(true);
    });
  });

  describe('without a signature', () => {
    const unsigned = (claims: JWTPayload) => new UnsecuredJWT(claims).encode();
    const register = async (request = {}) => relyingParty(context.foyer, await context.foyer.addClient(request));

    it('An unsigned object of a client that may send one gives a code, with redirect_uri and state inside', async () => {
      const client = await register({ unsignedRequestObjects: true });
      const begun = await client.begin();
      const url = withObject(client, begun.url, unsigned(parametersOf(begun.url)), {
        redirect_uri: 'https://evil.example/',
        response_type: 'code',
        scope: 'openid',
      });
      const tokens = await client.redeem(locationOf(await askWith(url)), begun);
      expect(tokens.claims()?.nonce).toBe(begun.nonce);
    });

    it('The answer to an unsigned object comes by its own response_mode, whether it is accepted or refused', async () => {
      for (const unsignedRequestObjects of [true, false]) {
        const client = await register({ unsignedRequestObjects });
        const begun = await client.begin({ response_mode: 'form_post', prompt: 'none' });
        const url = withObject(client, begun.url, unsigned(parametersOf(begun.url)), {
          redirect_uri: client.redirectUri,
          response_type: 'code',
        });
        const html = await (await askWith(url)).text();
        expect(html).toContain(unsignedRequestObjects ? 'name="code"' : 'value="invalid_request_object"');
        expect(html).toContain(begun.state);
      }
    });

    it.each([
      ['of another client', { client_id: 'other' }],
      ['from another issuer', { iss: 'other' }],
      ['for another audience', { aud: 'https://other.example' }],
      ['that is expired', { exp: secondsFromNow(-60) }],
      ['that is not valid yet', { nbf: secondsFromNow(60) }],
      ['with another response_type', { response_type: 'id_token' }],
      ['with an object inside', { request: 'x' }],
    ])('Attack: an unsigned request object %s is refused with invalid_request_object', async (_what, bad) => {
      const client = await register({ unsignedRequestObjects: true });
      const begun = await client.begin();
      const url = new URL(begun.url);
      url.searchParams.set('request', unsigned({ ...parametersOf(begun.url), ...bad }));
      expect(answerOf(locationOf(await askWith(url.href))).get('error')).toBe('invalid_request_object');
    });

    it('Attack: an unsigned object does not replace a push, a signature or PKCE', async () => {
      const pushing = await register({ unsignedRequestObjects: true, requirePushedRequests: true });
      const begun = await pushing.begin();
      const first = withObject(pushing, begun.url, unsigned(parametersOf(begun.url)), {
        redirect_uri: pushing.redirectUri,
      });
      expect(answerOf(locationOf(await askWith(first))).get('error')).toBe('invalid_request');
      const client = await register({ unsignedRequestObjects: true });
      const without = await client.begin();
      const { code_challenge: _c, code_challenge_method: _m, ...parameters } = parametersOf(without.url);
      const url = withObject(client, without.url, unsigned(parameters), parametersOf(without.url));
      expect(answerOf(locationOf(await askWith(url))).get('error')).toBe('invalid_request');
    });
  });
});
