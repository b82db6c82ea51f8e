import { exportJWK } from 'jose';
import * as oidc from 'openid-client';
import { newKey, proof } from '../support/proofs.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { setUpDpop } from './dpop-steps.ts';

/** RFC 9449: a bound token is worthless to an attacker who has only the token, or the token and one proof. */
describe.each(backends)('DPoP-bound tokens under attack on $name', (backend) => {
  const context = setUpDpop(backend);
  const { tokenUrl, post, freshNonce, code, bound } = context;
  /** The payload of a proof under another header, signed here because the library refuses to write such proofs. */
  async function signedAs(header: object, dpop: string): Promise<string> {
    const head = Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'dpop+jwt', ...header })).toString('base64url');
    const signed = `${head}.${dpop.split('.')[1]}`;
    const algorithm = { name: 'ECDSA', hash: 'SHA-256' };
    const signature = await crypto.subtle.sign(algorithm, context.key.privateKey, Buffer.from(signed));
    return `${signed}.${Buffer.from(signature).toString('base64url')}`;
  }

  const resources = [
    { at: 'userinfo', path: '/oauth2/userInfo' },
    { at: 'the JSON API', path: '/user/info' },
  ];

  describe.each(resources)('at $at', ({ path }) => {
    const call = (headers: Record<string, string>) => sendRequest(context.foyer.url + path, { headers });
    const withProof = async (dpop: string, token = context.tokens.access_token) =>
      call({ authorization: `DPoP ${token}`, dpop });
    const right = () => ({
      htm: 'GET',
      htu: context.foyer.url + path,
      accessToken: context.tokens.access_token,
      nonce: context.nonce,
    });
    async function expectRefused(answer: Response, error: string | RegExp = /./) {
      const challenge = answer.headers.get('www-authenticate') ?? '';
      expect([answer.status, challenge]).toEqual([401, expect.stringMatching(/^DPoP /)]);
      expect(/error="(\w+)"/.exec(challenge)?.[1]).toMatch(error);
      expect(await answer.text()).not.toContain(context.user.email);
    }

    it('The right proof is accepted once, and its replay is refused', async () => {
      const once = await proof(context.key, right());
      expect((await withProof(once)).status).toBe(200);
      await expectRefused(await withProof(once), 'invalid_token');
    });

    it('One proof sent many times at once is accepted once', async () => {
      const once = await proof(context.key, right());
      const answers = await Promise.all(Array.from({ length: 8 }, () => withProof(once)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 401 || status === 400)).toHaveLength(7);
    });

    it('A bound token sent as a bearer token is refused', async () => {
      await expectRefused(await call({ authorization: `Bearer ${context.tokens.access_token}` }), 'invalid_token');
    });

    it('A bound token sent as a bearer token beside a proof of another key is refused', async () => {
      const dpop = await proof(await newKey(), right());
      const answer = await call({ authorization: `Bearer ${context.tokens.access_token}`, dpop });
      expect([400, 401]).toContain(answer.status);
      expect(await answer.text()).not.toContain(context.user.email);
    });

    it.each([
      ['another htm', { htm: 'POST' }],
      ['the htu of another path', { htu: 'http://localhost/oauth2/token' }],
      ['the htu of another host', { htu: 'https://evil.example/user/info' }],
      ['no htu', { htu: undefined }],
      ['the ath of another token', { ath: 'A'.repeat(43) }],
      ['no ath', { ath: undefined }],
      ['no jti', { jti: undefined }],
      ['no iat', { iat: undefined }],
      ['a made-up nonce', { nonce: 'A'.repeat(43) }],
      ['a nonce that is no text', { nonce: 1 }],
    ])('A proof with %s is refused', async (_what, change) => {
      await expectRefused(
        await withProof(await proof(context.key, right(), change)),
        /invalid_dpop_proof|use_dpop_nonce/,
      );
    });

    it.each([
      ['an empty jti', { jti: '' }],
      ['a jti that is no text', { jti: 7 }],
      ['an iat that is no number', { iat: 'now' }],
      ['an htm in lower case', { htm: 'get' }],
      ['an htu that is no address', { htu: '/user/info' }],
      ['an htu that is no text', { htu: ['x'] }],
      ['an ath that is no text', { ath: null }],
      ['an empty nonce', { nonce: '' }],
      ['a start in an hour', { nbf: Math.floor(Date.now() / 1000) + 3_600 }],
      ['an expiry that has passed', { exp: Math.floor(Date.now() / 1000) - 3_600 }],
    ])('A proof with %s is refused, and the next right proof is accepted', async (_what, change) => {
      await expectRefused(
        await withProof(await proof(context.key, right(), change)),
        /invalid_dpop_proof|use_dpop_nonce/,
      );
      expect((await withProof(await proof(context.key, right()))).status).toBe(200);
    });

    it('The query and the fragment of htu do not count (RFC 9449, section 4.3)', async () => {
      const { htu } = right();
      for (const more of ['?a=b', '#c', '?a=b#c'])
        expect((await withProof(await proof(context.key, { ...right(), htu: htu + more }))).status).toBe(200);
    });

    it('A proof that shows its private key, names a symmetric key or demands an extension is refused', async () => {
      const { d, kty, crv, x, y } = await exportJWK(context.key.privateKey);
      const jwk = { kty, crv, x, y };
      for (const header of [
        { jwk: { ...jwk, d } },
        { jwk: { kty: 'oct', k: 'c2VjcmV0' } },
        { jwk: 'x' },
        { jwk, crit: ['b64'], b64: false },
        { jwk, crit: ['extension'], extension: 1 },
      ])
        await expectRefused(
          await withProof(await signedAs(header, await proof(context.key, right()))),
          'invalid_dpop_proof',
        );
    });

    it('A nonce of the token endpoint is accepted, and the returned nonce is accepted at the token endpoint', async () => {
      const { nonce: _, ...without } = right();
      const told = (await withProof(await proof(context.key, without))).headers.get('dpop-nonce') ?? '';
      expect(told).toBe(await freshNonce());
      const fields = { grant_type: 'refresh_token', refresh_token: (await bound(context.key)).refresh_token };
      const dpop = await proof(context.key, { htm: 'POST', htu: tokenUrl(), nonce: told });
      expect((await post(fields, dpop)).status).toBe(200);
    });

    it('A proof without a nonce is refused and gets one, however fresh its iat is', async () => {
      const { nonce: _, ...without } = right();
      for (const iat of [Math.floor(Date.now() / 1000), Math.floor(Date.now() / 1000) - 3600]) {
        const answer = await withProof(await proof(context.key, without, { iat }));
        expect(answer.headers.get('dpop-nonce')).toMatch(/^[\w-]{43}$/);
        await expectRefused(answer, 'use_dpop_nonce');
      }
    });

    it('A proof of another key is refused', async () => {
      await expectRefused(await withProof(await proof(await newKey(), right())), 'invalid_token');
    });

    it('A proof that is signed with another key than it names is refused', async () => {
      const [mine, theirs] = [await newKey(), context.key];
      const forged = await proof({ privateKey: mine.privateKey, publicKey: theirs.publicKey }, right());
      await expectRefused(await withProof(forged), 'invalid_dpop_proof');
    });

    it.each([
      ['another type', { typ: 'JWT' }],
      ['no key', { jwk: undefined }],
    ])('A proof with %s in its header is refused', async (_what, header) => {
      await expectRefused(
        await withProof(await proof(context.key, right(), {}, header as never)),
        'invalid_dpop_proof',
      );
    });

    it('An unsigned proof (alg none) and two proofs at once are refused', async () => {
      const [head, body] = (await proof(context.key, right())).split('.');
      const none = Buffer.from(
        JSON.stringify({ ...JSON.parse(Buffer.from(head ?? '', 'base64url').toString()), alg: 'none' }),
      ).toString('base64url');
      await expectRefused(await withProof(`${none}.${body}.`), 'invalid_dpop_proof');
      await expectRefused(
        await withProof(`${await proof(context.key, right())}, ${await proof(context.key, right())}`),
        'invalid_dpop_proof',
      );
    });

    it('An unbound token that is sent with a proof is refused', async () => {
      const answer = await post(await code());
      const { access_token: plain } = (await answer.json()) as { access_token: string };
      expect((await call({ authorization: `Bearer ${plain}` })).status).toBe(200);
      await expectRefused(
        await withProof(await proof(context.key, { ...right(), accessToken: plain }), plain),
        'invalid_token',
      );
    });
  });

  it('The JSON API refuses proofs that would fill the store, with a long jti or a long text', async () => {
    const right = {
      htm: 'GET',
      htu: `${context.foyer.url}/user/info`,
      accessToken: context.tokens.access_token,
      nonce: context.nonce,
    };
    const call = async (claims: object) =>
      sendRequest(`${context.foyer.url}/user/info`, {
        headers: {
          authorization: `DPoP ${context.tokens.access_token}`,
          dpop: await proof(context.key, right, { ...claims }),
        },
      });
    expect((await call({ jti: 'j'.repeat(256) })).status).toBe(200);
    for (const claims of [{ jti: 'j'.repeat(257) }, { jti: 'j'.repeat(10_000) }, { more: 'x'.repeat(4_096) }])
      expect((await call(claims)).status).toBe(401);
  });

  it('The JSON API asks for a proof when the scheme is DPoP and offers both schemes to a caller without a token', async () => {
    const without = await sendRequest(`${context.foyer.url}/user/info`, {
      headers: { authorization: `DPoP ${context.tokens.access_token}` },
    });
    expect([without.status, without.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^DPoP /)]);
    const withoutToken = await sendRequest(`${context.foyer.url}/user/info`);
    expect(withoutToken.headers.get('www-authenticate')).toBe('Bearer realm="api", DPoP realm="api", algs="ES256"');
  });

  it('A bound token does not authenticate its bearer at the introspection endpoint', async () => {
    const body = new URLSearchParams({ token: context.tokens.access_token });
    for (const authorization of [`Bearer ${context.tokens.access_token}`, `DPoP ${context.tokens.access_token}`]) {
      const answer = await sendRequest(`${context.foyer.url}/oauth2/introspect`, {
        method: 'POST',
        headers: { authorization },
        body,
      });
      expect([400, 401]).toContain(answer.status);
      expect(await answer.text()).not.toContain('"active":true');
    }
    // Introspection tells an authorized client that the token is bound.
    expect(await oidc.tokenIntrospection(context.client.config, context.tokens.access_token)).toMatchObject({
      token_type: 'DPoP',
      cnf: { jkt: expect.stringMatching(/^[\w-]{43}$/) },
    });
  });
});
