import { exportJWK } from 'jose';
import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { withDefaultClient } from '../oidc/token-cookie-tools.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { newKey, type ProofKey, proof } from '../support/proofs.ts';
import { type RelyingParty, relyingParty, signInFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

const scope = 'openid email account';

/** RFC 9449: a token that is bound to a key is worth nothing to whoever has the token alone, or one proof. */
describe.each(backends)('DPoP-bound tokens under attack on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let client: RelyingParty;
  let key: ProofKey;
  let tokens: { access_token: string; refresh_token: string };
  let nonce: string;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
    client = await relyingParty(foyer, await foyer.addClient({ public: true, scopes: scope.split(' ') }), scope);
    key = await newKey();
    nonce = await freshNonce();
    tokens = await bound(key);
  });
  afterAll(() => foyer?.close());

  const tokenUrl = () => `${foyer.url}/oauth2/token`;
  const post = (fields: Record<string, string>, dpop?: string) =>
    sendRequest(tokenUrl(), {
      method: 'POST',
      headers: dpop === undefined ? {} : { dpop },
      body: new URLSearchParams({ client_id: client.id, ...fields }),
    });
  async function freshNonce(): Promise<string> {
    const { status, headers } = await post(
      { grant_type: 'refresh_token', refresh_token: 'x' },
      await proof(await newKey(), { htm: 'POST', htu: tokenUrl() }),
    );
    expect(status).toBe(400);
    return headers.get('dpop-nonce') ?? '';
  }
  const forToken = async (of: ProofKey, change = {}, header = {}) =>
    proof(of, { htm: 'POST', htu: tokenUrl(), nonce }, change, header);

  async function code(parameters: Record<string, string> = {}) {
    const begun = await client.begin(parameters);
    const callback = new URL(await signInFor(foyer.browser(), begun, user));
    return {
      grant_type: 'authorization_code',
      code: callback.searchParams.get('code') ?? '',
      redirect_uri: client.redirectUri,
      code_verifier: begun.verifier,
    };
  }
  async function bound(to: ProofKey) {
    const answer = await post(await code(), await forToken(to));
    expect(answer.status).toBe(200);
    const got = (await answer.json()) as typeof tokens & { token_type: string };
    expect(got.token_type).toBe('DPoP');
    return got;
  }

  /** The payload of a proof under another header, signed by hand: the library that makes proofs refuses to write these. */
  async function signedAs(header: object, dpop: string): Promise<string> {
    const head = Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'dpop+jwt', ...header })).toString('base64url');
    const signed = `${head}.${dpop.split('.')[1]}`;
    const algorithm = { name: 'ECDSA', hash: 'SHA-256' };
    const signature = await crypto.subtle.sign(algorithm, key.privateKey, Buffer.from(signed));
    return `${signed}.${Buffer.from(signature).toString('base64url')}`;
  }

  const resources = [
    { at: 'userinfo', path: '/oauth2/userInfo' },
    { at: 'the JSON API', path: '/user/info' },
  ];

  describe.each(resources)('at $at', ({ path }) => {
    const call = (headers: Record<string, string>) => sendRequest(foyer.url + path, { headers });
    const withProof = async (dpop: string, token = tokens.access_token) =>
      call({ authorization: `DPoP ${token}`, dpop });
    const right = () => ({ htm: 'GET', htu: foyer.url + path, accessToken: tokens.access_token, nonce });
    async function expectRefused(answer: Response, error: string | RegExp = /./) {
      const challenge = answer.headers.get('www-authenticate') ?? '';
      expect([answer.status, challenge]).toEqual([401, expect.stringMatching(/^DPoP /)]);
      expect(/error="(\w+)"/.exec(challenge)?.[1]).toMatch(error);
      expect(await answer.text()).not.toContain(user.email);
    }

    it('The right proof is accepted once, and its replay is refused', async () => {
      const once = await proof(key, right());
      expect((await withProof(once)).status).toBe(200);
      await expectRefused(await withProof(once), 'invalid_token');
    });

    it('One proof sent many times at once is accepted once', async () => {
      const once = await proof(key, right());
      const answers = await Promise.all(Array.from({ length: 8 }, () => withProof(once)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 401 || status === 400)).toHaveLength(7);
    });

    it('A bound token sent as a bearer token is refused', async () => {
      await expectRefused(await call({ authorization: `Bearer ${tokens.access_token}` }), 'invalid_token');
    });

    it('A bound token sent as a bearer token beside a proof of another key is refused', async () => {
      const dpop = await proof(await newKey(), right());
      const answer = await call({ authorization: `Bearer ${tokens.access_token}`, dpop });
      expect([400, 401]).toContain(answer.status);
      expect(await answer.text()).not.toContain(user.email);
    });

    it.each([
      ['wrong htm', { htm: 'POST' }],
      ['wrong htu: another path', { htu: 'http://localhost/oauth2/token' }],
      ['wrong htu: another host', { htu: 'https://evil.example/user/info' }],
      ['no htu', { htu: undefined }],
      ['ath of another token', { ath: 'A'.repeat(43) }],
      ['no ath', { ath: undefined }],
      ['no jti', { jti: undefined }],
      ['no iat', { iat: undefined }],
      ['a nonce of its own', { nonce: 'A'.repeat(43) }],
      ['a nonce that is no text', { nonce: 1 }],
    ])('A proof with %s is refused', async (_what, change) => {
      await expectRefused(await withProof(await proof(key, right(), change)), /invalid_dpop_proof|use_dpop_nonce/);
    });

    it.each([
      ['an empty jti', { jti: '' }],
      ['a jti that is no text', { jti: 7 }],
      ['an iat that is no number', { iat: 'now' }],
      ['an htm in other letters', { htm: 'get' }],
      ['an htu that is no address', { htu: '/user/info' }],
      ['an htu that is no text', { htu: ['x'] }],
      ['an ath that is no text', { ath: null }],
      ['an empty nonce', { nonce: '' }],
      ['the time of an hour from now as its start', { nbf: Math.floor(Date.now() / 1000) + 3_600 }],
      ['an end that has passed', { exp: Math.floor(Date.now() / 1000) - 3_600 }],
    ])('A proof with %s is refused, and the next right proof is accepted', async (_what, change) => {
      await expectRefused(await withProof(await proof(key, right(), change)), /invalid_dpop_proof|use_dpop_nonce/);
      expect((await withProof(await proof(key, right()))).status).toBe(200);
    });

    it('The query and the fragment of htu do not count (RFC 9449, section 4.3)', async () => {
      const { htu } = right();
      for (const more of ['?a=b', '#c', '?a=b#c'])
        expect((await withProof(await proof(key, { ...right(), htu: htu + more }))).status).toBe(200);
    });

    it('A proof that shows its private key, names a symmetric key or demands an extension is refused', async () => {
      const { d, kty, crv, x, y } = await exportJWK(key.privateKey);
      const jwk = { kty, crv, x, y };
      for (const header of [
        { jwk: { ...jwk, d } },
        { jwk: { kty: 'oct', k: 'c2VjcmV0' } },
        { jwk: 'x' },
        { jwk, crit: ['b64'], b64: false },
        { jwk, crit: ['extension'], extension: 1 },
      ])
        await expectRefused(await withProof(await signedAs(header, await proof(key, right()))), 'invalid_dpop_proof');
    });

    it('A nonce of the token endpoint is accepted, and the returned nonce is accepted at the token endpoint', async () => {
      const { nonce: _, ...without } = right();
      const told = (await withProof(await proof(key, without))).headers.get('dpop-nonce') ?? '';
      expect(told).toBe(await freshNonce());
      const fields = { grant_type: 'refresh_token', refresh_token: (await bound(key)).refresh_token };
      const dpop = await proof(key, { htm: 'POST', htu: tokenUrl(), nonce: told });
      expect((await post(fields, dpop)).status).toBe(200);
    });

    it('A proof without a nonce is refused and gets one, however fresh its iat is', async () => {
      const { nonce: _, ...without } = right();
      for (const iat of [Math.floor(Date.now() / 1000), Math.floor(Date.now() / 1000) - 3600]) {
        const answer = await withProof(await proof(key, without, { iat }));
        expect(answer.headers.get('dpop-nonce')).toMatch(/^[\w-]{43}$/);
        await expectRefused(answer, 'use_dpop_nonce');
      }
    });

    it('A proof of another key is refused', async () => {
      await expectRefused(await withProof(await proof(await newKey(), right())), 'invalid_token');
    });

    it('A proof that is signed with another key than it names is refused', async () => {
      const [mine, theirs] = [await newKey(), key];
      const forged = await proof({ privateKey: mine.privateKey, publicKey: theirs.publicKey }, right());
      await expectRefused(await withProof(forged), 'invalid_dpop_proof');
    });

    it.each([
      ['another type', { typ: 'JWT' }],
      ['no key', { jwk: undefined }],
    ])('A proof with %s in its header is refused', async (_what, header) => {
      await expectRefused(await withProof(await proof(key, right(), {}, header as never)), 'invalid_dpop_proof');
    });

    it('An unsigned proof (alg none) and two proofs at once are refused', async () => {
      const [head, body] = (await proof(key, right())).split('.');
      const none = Buffer.from(
        JSON.stringify({ ...JSON.parse(Buffer.from(head ?? '', 'base64url').toString()), alg: 'none' }),
      ).toString('base64url');
      await expectRefused(await withProof(`${none}.${body}.`), 'invalid_dpop_proof');
      await expectRefused(
        await withProof(`${await proof(key, right())}, ${await proof(key, right())}`),
        'invalid_dpop_proof',
      );
    });

    it('An unbound token that is sent with a proof is refused', async () => {
      const answer = await post(await code());
      const { access_token: plain } = (await answer.json()) as { access_token: string };
      expect((await call({ authorization: `Bearer ${plain}` })).status).toBe(200);
      await expectRefused(
        await withProof(await proof(key, { ...right(), accessToken: plain }), plain),
        'invalid_token',
      );
    });
  });

  it('The JSON API refuses proofs that would fill the store, with a long jti or a long text', async () => {
    const right = { htm: 'GET', htu: `${foyer.url}/user/info`, accessToken: tokens.access_token, nonce };
    const call = async (claims: object) =>
      sendRequest(`${foyer.url}/user/info`, {
        headers: { authorization: `DPoP ${tokens.access_token}`, dpop: await proof(key, right, { ...claims }) },
      });
    expect((await call({ jti: 'j'.repeat(256) })).status).toBe(200);
    for (const claims of [{ jti: 'j'.repeat(257) }, { jti: 'j'.repeat(10_000) }, { more: 'x'.repeat(4_096) }])
      expect((await call(claims)).status).toBe(401);
  });

  it('The JSON API asks for a proof when the scheme is DPoP and offers both schemes to a caller without a token', async () => {
    const without = await sendRequest(`${foyer.url}/user/info`, {
      headers: { authorization: `DPoP ${tokens.access_token}` },
    });
    expect([without.status, without.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^DPoP /)]);
    const nobody = await sendRequest(`${foyer.url}/user/info`);
    expect(nobody.headers.get('www-authenticate')).toBe('Bearer realm="api", DPoP realm="api", algs="ES256"');
  });

  it('A bound token does not authenticate its bearer at the introspection endpoint', async () => {
    const body = new URLSearchParams({ token: tokens.access_token });
    for (const authorization of [`Bearer ${tokens.access_token}`, `DPoP ${tokens.access_token}`]) {
      const answer = await sendRequest(`${foyer.url}/oauth2/introspect`, {
        method: 'POST',
        headers: { authorization },
        body,
      });
      expect([400, 401]).toContain(answer.status);
      expect(await answer.text()).not.toContain('"active":true');
    }
    // And whoever may ask is told that it is bound.
    expect(await oidc.tokenIntrospection(client.config, tokens.access_token)).toMatchObject({
      token_type: 'DPoP',
      cnf: { jkt: expect.stringMatching(/^[\w-]{43}$/) },
    });
  });

  it('A public client’s refresh token is refused with another key or none and stays valid for its own key', async () => {
    const fields = { grant_type: 'refresh_token', refresh_token: (await bound(key)).refresh_token };
    for (const dpop of [await forToken(await newKey()), undefined]) {
      const answer = await post(fields, dpop);
      expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_grant' })]);
    }
    const good = await post(fields, await forToken(key));
    expect([good.status, await good.json()]).toEqual([200, expect.objectContaining({ token_type: 'DPoP' })]);
  });

  it('A proof replayed at the token endpoint gets no second token', async () => {
    const once = await forToken(key);
    const fields = { grant_type: 'refresh_token', refresh_token: (await bound(key)).refresh_token };
    const first = await post(fields, once);
    const { refresh_token: next } = (await first.json()) as { refresh_token: string };
    const again = await post({ ...fields, refresh_token: next }, once);
    expect([again.status, await again.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_grant' })]);
  });

  it('A code requested with a key (dpop_jkt) is redeemed with no other key', async () => {
    const other = await newKey();
    for (const dpop of [undefined, await forToken(other)]) {
      const answer = await post(await code({ dpop_jkt: 'A'.repeat(43) }), dpop);
      expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_grant' })]);
    }
  });

  it('A client registered for bound tokens only gets no token without a proof', async () => {
    const registered = await foyer.addClient({ dpopBound: true });
    const strict = await relyingParty(foyer, registered);
    const begun = await strict.begin();
    await expect(strict.redeem(await signInFor(foyer.browser(), begun, user), begun)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  it('The site’s own client gets no token cookies without a proof once it is registered for bound tokens', async () => {
    const { db } = foyer.deps.database;
    await withDefaultClient(foyer);
    expect(Object.keys(await (await foyer.signedIn(user)).cookies())).toContain('foyer_access_token');
    const { metadata } = await db
      .selectFrom('clients')
      .selectAll()
      .where('id', '=', toClientId('web'))
      .executeTakeFirstOrThrow();
    const strict = JSON.stringify({ ...JSON.parse(metadata), dpop_bound_access_tokens: true });
    await db.updateTable('clients').set({ metadata: strict }).where('id', '=', toClientId('web')).execute();
    expect(Object.keys(await (await foyer.signedIn(user)).cookies())).not.toContain('foyer_access_token');
  });
});
