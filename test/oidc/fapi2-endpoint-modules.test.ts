import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { homeFrom } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { errorOf, type Fapi2Client, fapi2Client, startFapi2Plan } from './fapi2-client.ts';
import { clientKey, secondsFromNow } from './key-client.ts';

describe('FAPI 2.0 Security Profile, modules of the token and push endpoints', () => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  let app: Fapi2Client;
  const flow = startFapi2Plan((setting) => {
    ({ foyer, user, browser, app } = setting);
  });

  describe('the token endpoint', () => {
    it('ensure-client-id-in-token-endpoint: another client_id beside the assertion is refused', async () => {
      const other = await fapi2Client(foyer);
      const { tokens } = await flow({}, { token: { fields: { client_id: other.client.id } } });
      expect(tokens.status).toBe(400);
    });

    it('ensure-authorization-code-is-bound-to-client: a code of another client is refused', async () => {
      const other = await fapi2Client(foyer);
      const { begun, parameters } = await other.parameters();
      const back = await other.codeFor(browser, parameters);
      expect(errorOf(await app.redeem(back.get('code'), begun.verifier))).toEqual([400, 'invalid_grant']);
    });

    it('attempt-reuse-authorization-code-after-one-second: a second use is refused and ends the tokens', async () => {
      const { begun, answer, tokens } = await flow();
      expect(errorOf(await app.redeem(answer.get('code'), begun.verifier))).toEqual([400, 'invalid_grant']);
      expect(await app.userInfo(String(tokens.body.access_token))).toBe(401);
    });

    it('ensure-token-endpoint-fails-with-expired-auth-code: a code is valid for at most 60 seconds', async () => {
      const { begun, parameters } = await app.parameters();
      const back = await app.codeFor(browser, parameters);
      const realNow = Date.now.bind(Date);
      jest.spyOn(Date, 'now').mockImplementation(() => realNow() + 61_000);
      const late = await app.redeem(back.get('code'), begun.verifier);
      expect(errorOf(late)).toEqual([400, 'invalid_grant']);
    });
  });

  describe('client assertions', () => {
    it('ensure-signed-client-assertion-with-RS256-fails: an assertion with RS256 is refused', async () => {
      const [allowed, refused] = [await clientKey('PS256', 'ps'), await clientKey('RS256', 'rs')];
      const rsa = await fapi2Client(foyer, { jwks: { keys: [allowed.jwk, refused.jwk] } });
      const { parameters } = await rsa.parameters();
      const header = { alg: 'PS256', kid: 'ps' };
      expect((await rsa.push(parameters, { key: allowed.key, header })).status).toBe(201);
      const answer = await rsa.push(parameters, { key: refused.key, header: { alg: 'RS256', kid: 'rs' } });
      expect(errorOf(answer)).toEqual([401, 'invalid_client']);
    });

    it('ensure-client-assertion-in-token-endpoint: a token request without an assertion is refused', async () => {
      const { tokens } = await flow({}, { token: { assertion: null } });
      expect(errorOf(tokens)).toEqual([401, 'invalid_client']);
    });

    it.each([
      ['ensure-client-assertion-with-exp-is-5-minutes-in-past-fails', { exp: secondsFromNow(-300) }],
      ['ensure-client-assertion-with-wrong-aud-fails', { aud: 'https://other.example' }],
      ['ensure-client-assertion-with-no-sub-fails', { sub: undefined }],
      ['ensure-invalid-client-assertions-fail (iss)', { iss: 'other' }],
      ['ensure-invalid-client-assertions-fail (no jti)', { jti: undefined }],
      ['ensure-invalid-client-assertions-fail (no exp)', { exp: undefined }],
      ['ensure-invalid-client-assertions-fail (iat in an hour)', { iat: secondsFromNow(3600) }],
    ])('%s: such an assertion is refused with invalid_client', async (_module, assertion) => {
      const { tokens } = await flow({}, { token: { assertion } });
      expect(errorOf(tokens)).toEqual([401, 'invalid_client']);
    });

    it('par-ensure-jwt-client-assertions-nbf-8-seconds-in-the-future-is-accepted: clocks may differ a little', async () => {
      const { parameters } = await app.parameters();
      const assertion = { iat: secondsFromNow(8), nbf: secondsFromNow(8) };
      expect((await app.push(parameters, { assertion })).status).toBe(201);
    });

    it('par-ensure-jwt-client-assertions-nbf-over-60-seconds-in-the-future-fails: but not by more than a minute', async () => {
      const { parameters } = await app.parameters();
      for (const assertion of [{ nbf: secondsFromNow(70) }, { iat: secondsFromNow(70) }]) {
        expect(errorOf(await app.push(parameters, { assertion }))).toEqual([401, 'invalid_client']);
      }
    });

    it.each([
      ['par-test-array-as-audience-fails', (issuer: string) => [issuer]],
      ['par-test-par-endpoint-url-as-audience-fails', (issuer: string) => `${issuer}/oauth2/par`],
      ['par-test-token-endpoint-url-as-audience-fails', (issuer: string) => `${issuer}/oauth2/token`],
    ])('%s: only the issuer as a string is the audience', async (_module, toAudience) => {
      const { parameters } = await app.parameters();
      const refused = await app.push(parameters, { assertion: { aud: toAudience(foyer.url) } });
      expect(errorOf(refused)).toEqual([401, 'invalid_client']);
    });
  });

  describe('pushed requests', () => {
    it('par-ensure-reused-request-uri-prior-to-auth-completion-succeeds: a page may be opened twice', async () => {
      const { begun, parameters } = await app.parameters();
      const url = app.addressOf((await app.push(parameters)).body.request_uri);
      const visitor = foyer.browser();
      await visitor.get(url, { from: 'cross-site' });
      const page = locationOf(await visitor.get(url, { from: 'cross-site' }));
      const back = new URL(await homeFrom(visitor, page, user)).searchParams;
      expect((await app.redeem(back.get('code'), begun.verifier)).status).toBe(200);
    });

    it('par-attempt-reuse-request_uri: a request_uri gives one code', async () => {
      const { parameters } = await app.parameters();
      const url = app.addressOf((await app.push(parameters)).body.request_uri);
      expect((await browser.get(url, { from: 'cross-site' })).status).toBe(303);
      const again = await browser.get(url, { from: 'cross-site' });
      expect([again.status, again.headers.get('location')]).toEqual([400, null]);
    });

    it('par-attempt-to-use-expired-request_uri: the lifetime of a request_uri is below 600 seconds', async () => {
      const { parameters } = await app.parameters();
      const { body } = await app.push(parameters);
      expect(body.expires_in).toBe(60);
      const realNow = Date.now.bind(Date);
      jest.spyOn(Date, 'now').mockImplementation(() => realNow() + 61_000);
      const answer = await browser.get(app.addressOf(body.request_uri), { from: 'cross-site' });
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    });

    it('par-attempt-to-use-request_uri-for-different-client: another client cannot use a request_uri', async () => {
      const other = await fapi2Client(foyer);
      const { parameters } = await app.parameters();
      const { body } = await app.push(parameters);
      const answer = await browser.get(app.addressOf(body.request_uri, other.client.id), { from: 'cross-site' });
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    });

    it('par-authorization-request-containing-request_uri-form-param: a request_uri cannot be pushed', async () => {
      const { parameters } = await app.parameters();
      const refused = await app.push({ ...parameters, request_uri: 'urn:ietf:params:oauth:request_uri:x' });
      expect(refused.status).toBe(400);
    });

    it.each(['GET', 'PUT'])(
      'par-attempt-invalid-http-method: %s at the endpoint of pushed requests is 405',
      async (method) => {
        expect((await sendRequest(`${foyer.url}/oauth2/par`, { method })).status).toBe(405);
      },
    );

    it('par-without-duplicate-parameters: client_id and request_uri suffice at the authorization endpoint', async () => {
      const { parameters } = await app.parameters();
      expect((await app.codeFor(browser, parameters)).has('code')).toBe(true);
    });
  });

  describe('PKCE', () => {
    it('par-ensure-pkce-required: a push without a challenge is refused', async () => {
      const { parameters } = await app.parameters();
      const { code_challenge: _c, code_challenge_method: _m, ...rest } = parameters;
      expect(errorOf(await app.push(rest))).toEqual([400, 'invalid_request']);
    });

    it('par-plain-pkce-rejected: a push with plain is refused', async () => {
      const { parameters } = await app.parameters({ code_challenge_method: 'plain' });
      expect(errorOf(await app.push(parameters))).toEqual([400, 'invalid_request']);
    });

    it.each([
      ['ensure-pkce-code-verifier-required', { code_verifier: '' }],
      ['incorrect-pkce-code-verifier-rejected', { code_verifier: 'a'.repeat(43) }],
    ])('%s: a code is not redeemed without its verifier', async (_module, fields) => {
      const { tokens } = await flow({}, { token: { fields } });
      expect(errorOf(tokens)).toEqual([400, 'invalid_grant']);
    });
  });
});
