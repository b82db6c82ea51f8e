import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { newKey } from '../support/proofs.ts';
import { homeFrom } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { type CallChange, errorOf, type Fapi2Client, fapi2Client, startFapi2Plan } from './fapi2-client.ts';
import { secondsFromNow } from './key-client.ts';

describe('FAPI 2.0 Security Profile, modules of the conformance plan', () => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  let app: Fapi2Client;
  const flow = startFapi2Plan((setting) => {
    ({ foyer, user, browser, app } = setting);
  });

  describe('well-behaved clients', () => {
    it('discovery-end-point-verification: discovery names all that the profile demands', async () => {
      const answer = await sendRequest(`${foyer.url}/.well-known/openid-configuration`);
      const discovery = (await answer.json()) as Record<string, unknown>;
      expect(discovery).toMatchObject({
        issuer: foyer.url,
        authorization_response_iss_parameter_supported: true,
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt']),
        token_endpoint_auth_signing_alg_values_supported: expect.arrayContaining(['ES256', 'PS256']),
        dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']),
        id_token_signing_alg_values_supported: expect.arrayContaining(['ES256']),
        response_types_supported: expect.arrayContaining(['code']),
        grant_types_supported: expect.arrayContaining(['authorization_code']),
        pushed_authorization_request_endpoint: `${foyer.url}/oauth2/par`,
      });
    });

    it('happy-flow: a code by a 303, with iss and state, gives bound tokens and an ES256 id token', async () => {
      const { begun, parameters } = await app.parameters();
      const pushed = await app.push(parameters);
      expect([pushed.status, pushed.body.expires_in]).toEqual([201, 60]);
      const answer = await browser.get(app.addressOf(pushed.body.request_uri), { from: 'cross-site' });
      expect(answer.status).toBe(303);
      const back = new URL(locationOf(answer)).searchParams;
      expect([back.get('iss'), back.get('state')]).toEqual([foyer.url, begun.state]);
      const { status, body } = await app.redeem(back.get('code'), begun.verifier);
      expect([status, body.token_type]).toEqual([200, 'DPoP']);
      expect(decodeProtectedHeader(String(body.id_token)).alg).toBe('ES256');
      expect(decodeJwt(String(body.id_token))).toMatchObject({ aud: app.client.id, nonce: begun.nonce, sub: user.id });
      expect(await app.userInfo(String(body.access_token))).toBe(200);
    });

    it('user-rejects-authentication: a refused consent gives access_denied with iss and state', async () => {
      const third = await fapi2Client(foyer, { thirdParty: true });
      const { begun, parameters } = await third.parameters();
      const pushed = await third.push(parameters);
      const consent = locationOf(await browser.get(third.addressOf(pushed.body.request_uri), { from: 'cross-site' }));
      const id = new URL(consent).searchParams.get('authorization_code') ?? '';
      const page = await (await browser.post('/consent', { authorization_code: id, decision: 'deny' })).text();
      const href = /url=([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
      const back = new URL(await homeFrom(browser, href, user)).searchParams;
      expect([back.get('error'), back.get('iss'), back.get('state')]).toEqual([
        'access_denied',
        foyer.url,
        begun.state,
      ]);
    });

    it('ensure-authorization-request-without-state-success: an answer to a request without state has none', async () => {
      const { begun, parameters } = await app.parameters();
      const { state: _, ...stateless } = parameters;
      const back = await app.codeFor(browser, stateless);
      expect(back.has('state')).toBe(false);
      expect((await app.redeem(back.get('code'), begun.verifier)).status).toBe(200);
    });

    it('ensure-authorization-request-without-nonce-success: an id token of a request without nonce has none', async () => {
      const { begun, parameters } = await app.parameters();
      const { nonce: _, ...plain } = parameters;
      const back = await app.codeFor(browser, plain);
      const { body } = await app.redeem(back.get('code'), begun.verifier);
      expect(decodeJwt(String(body.id_token))).not.toHaveProperty('nonce');
    });

    it.each([
      ['ensure-authorization-request-with-64-char-nonce-success', 'nonce', 64],
      ['ensure-authorization-request-with-long-nonce', 'nonce', 384],
      ['ensure-authorization-request-with-long-state', 'state', 384],
    ] as const)('%s: a long %s comes back as it was sent', async (_module, name, length) => {
      const long = 'a'.repeat(length);
      const { parameters, begun } = await app.parameters({ [name]: long });
      const back = await app.codeFor(browser, parameters);
      const { body } = await app.redeem(back.get('code'), begun.verifier);
      expect(name === 'state' ? back.get('state') : decodeJwt(String(body.id_token)).nonce).toBe(long);
    });

    it('ensure-other-scope-order-succeeds: the order of the scopes does not matter', async () => {
      expect((await flow({ scope: 'email profile openid' })).tokens.status).toBe(200);
    });

    it('access-token-type-header-case-sensitivity: the scheme of the header has no case', async () => {
      const { tokens } = await flow();
      for (const scheme of ['dpop', 'DPOP', 'dPoP']) {
        expect([scheme, await app.userInfo(String(tokens.body.access_token), scheme)]).toEqual([scheme, 200]);
      }
    });

    it('refresh-token: a refresh token is bound to the client, and is not rotated', async () => {
      const { tokens } = await flow();
      const refresh = (token: unknown, client = app, change: CallChange = {}) =>
        client.call('/oauth2/token', { grant_type: 'refresh_token', refresh_token: String(token) }, change);
      const stranger = await fapi2Client(foyer);
      expect(errorOf(await refresh(tokens.body.refresh_token, stranger))).toEqual([400, 'invalid_grant']);
      for (let use = 0; use < 3; use += 1) {
        const again = await refresh(tokens.body.refresh_token);
        expect([again.status, again.body.token_type]).toEqual([200, 'DPoP']);
        expect(again.body.refresh_token).toBe(tokens.body.refresh_token);
      }
      expect(errorOf(await refresh(tokens.body.refresh_token, app, { proofKey: null }))[0]).toBe(400);
    });
  });

  describe('DPoP', () => {
    it('check-dpop-proof-nbf-exp: a proof may have nbf and exp', async () => {
      const times = { nbf: secondsFromNow(0), exp: secondsFromNow(300) };
      const { tokens } = await flow({}, { token: { proofClaims: times } });
      expect(tokens.status).toBe(200);
      expect(await app.userInfo(String(tokens.body.access_token), 'DPoP', times)).toBe(200);
    });

    it.each([
      ['ensure-dpopproof-with-iat-10seconds-before-succeeds', -10],
      ['ensure-dpopproof-with-iat-10seconds-after-succeeds', 10],
    ])('%s: clocks may differ by ten seconds', async (_module, seconds) => {
      const { tokens } = await flow({}, { token: { proofClaims: { iat: secondsFromNow(seconds) } } });
      expect(tokens.status).toBe(200);
    });

    it('ensure-mismatched-dpop-jkt-fails: a dpop_jkt of another key than the proof at the push is refused', async () => {
      const { parameters } = await app.parameters({ dpop_jkt: 'A'.repeat(43) });
      expect(errorOf(await app.push(parameters, { proofKey: app.proofKey }))).toEqual([400, 'invalid_request']);
    });

    it('ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt: a code is bound to the key of the push', async () => {
      const { tokens } = await flow({}, { push: { proofKey: app.proofKey }, token: { proofKey: await newKey() } });
      expect(errorOf(tokens)).toEqual([400, 'invalid_grant']);
    });

    it('ensure-token-endpoint-fails-with-mismatched-dpop-jkt: a code is bound to dpop_jkt', async () => {
      const { tokens } = await flow({ dpop_jkt: 'A'.repeat(43) });
      expect(errorOf(tokens)).toEqual([400, 'invalid_grant']);
    });

    it('ensure-dpopproof-at-par-endpoint-binding-success: the key of the push redeems the code', async () => {
      expect((await flow({}, { push: { proofKey: app.proofKey } })).tokens.status).toBe(200);
    });

    it('ensure-dpop-auth-code-binding-success: the key of dpop_jkt redeems the code', async () => {
      const { calculateJwkThumbprint, exportJWK } = await import('jose');
      const jkt = await calculateJwkThumbprint(await exportJWK(app.proofKey.publicKey));
      expect((await flow({ dpop_jkt: jkt })).tokens.status).toBe(200);
    });

    it('dpop-negative-tests: a bound token opens nothing as a bearer token or with a wrong proof', async () => {
      const { tokens } = await flow();
      const token = String(tokens.body.access_token);
      expect([400, 401]).toContain(await app.userInfo(token, 'Bearer'));
      for (const claims of [
        { htm: 'PUT' },
        { htu: 'https://other.example/' },
        { ath: 'x' },
        { jti: '' },
        { iat: 'x' },
      ]) {
        expect(await app.userInfo(token, 'DPoP', claims)).not.toBe(200);
      }
      expect((await sendRequest(`${foyer.url}/oauth2/userInfo?access_token=${token}`)).status).not.toBe(200);
    });

    it('ensure-holder-of-key-required: a code is not redeemed without a proof', async () => {
      const { tokens } = await flow({}, { token: { proofKey: null } });
      expect(tokens.status).toBe(400);
      expect(tokens.body).not.toHaveProperty('access_token');
    });
  });

  describe('authorization requests', () => {
    it.each(['nonce', 'state'])(
      'ensure-different-%s-inside-and-outside-request-object: the pushed value counts',
      async (name) => {
        const { begun, parameters } = await app.parameters();
        const pushed = await app.push(parameters);
        const url = `${app.addressOf(pushed.body.request_uri)}&${name}=outside`;
        const back = new URL(locationOf(await browser.get(url, { from: 'cross-site' }))).searchParams;
        const { body } = await app.redeem(back.get('code'), begun.verifier);
        expect([back.get('state'), decodeJwt(String(body.id_token)).nonce]).toEqual([begun.state, begun.nonce]);
      },
    );

    it('state-only-outside-request-object-not-used: a state beside the request_uri is not returned', async () => {
      const { parameters } = await app.parameters();
      const { state: _, ...stateless } = parameters;
      const pushed = await app.push(stateless);
      const url = `${app.addressOf(pushed.body.request_uri)}&state=outside`;
      const back = new URL(locationOf(await browser.get(url, { from: 'cross-site' }))).searchParams;
      expect([back.has('code'), back.has('state')]).toEqual([true, false]);
    });

    it.each(['ensure-request-object-without-redirect-uri-fails', 'ensure-redirect-uri-in-authorization-request'])(
      '%s: a push without redirect_uri is refused',
      async () => {
        const { parameters } = await app.parameters();
        const { redirect_uri: _, ...rest } = parameters;
        expect(errorOf(await app.push(rest))).toEqual([400, 'invalid_request']);
      },
    );

    it.each(['ensure-registered-redirect-uri', 'plain-fapi-tolerate-unregistered-redirect-uri'])(
      '%s: a push with a redirect_uri that is not registered is refused',
      async () => {
        const { parameters } = await app.parameters({ redirect_uri: 'https://evil.example/callback' });
        expect(errorOf(await app.push(parameters))).toEqual([400, 'invalid_request']);
      },
    );

    it('ensure-unsigned-authorization-request-without-using-par-fails: a request that was not pushed is refused', async () => {
      const { begun } = await app.parameters();
      const back = new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' }))).searchParams;
      expect([back.get('error'), back.has('code')]).toEqual(['invalid_request', false]);
    });

    it.each([
      ['ensure-response-type-code-idtoken-fails', 'code id_token'],
      ['ensure-response-type-token-fails', 'token'],
    ])('%s: the response type %s is refused', async (_module, type) => {
      const { parameters } = await app.parameters({ response_type: type });
      expect(errorOf(await app.push(parameters))).toEqual([400, 'unsupported_response_type']);
    });
  });
});
