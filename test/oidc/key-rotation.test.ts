import { setTimeout as sleep } from 'node:timers/promises';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { rotateKeys, type SigningKeyInfo } from '../../server/oidc/index.ts';
import type { User } from '../../server/users/index.ts';
import { type SecondProcess, secondProcess } from '../attacks/second-process.ts';
import { Visitor } from '../attacks/wire.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, type Tokens, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

const minuteMs = 60_000;
const monthMs = 31 * 24 * 60 * minuteMs;
const refreshMs = 1_000;

describe.each(backends)('rotation of the signing keys on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  let client: RelyingParty;
  let secret: string;
  beforeEach(async () => {
    foyer = await startFoyer(backend, { KEYS_REFRESH_SECONDS: String(refreshMs / 1000) });
    user = await foyer.addUser();
    browser = await foyer.signedIn(user);
    const registered = await foyer.addClient({ logoutUris: ['http://127.0.0.1:9/bye'], idTokenAlg: 'ES256' });
    secret = registered.secret ?? '';
    client = await relyingParty(foyer, registered);
  });
  afterEach(() => foyer?.close());

  const jwks = async () => (await (await sendRequest(`${foyer.url}/oauth2/jwks`)).json()) as JSONWebKeySet;
  const kids = async () => (await jwks()).keys.map((key) => key.kid);
  const kidOf = (tokens: { id_token?: string | undefined }) => decodeProtectedHeader(tokens.id_token ?? '').kid;
  const verify = async (tokens: Tokens) =>
    jwtVerify(tokens.id_token ?? '', createLocalJWKSet(await jwks()), { issuer: foyer.url, audience: client.id });

  /** Rotates the keys as `foyer keys rotate` does; the new keys sign in `waitMs`. */
  function rotate(waitMs: number): Promise<SigningKeyInfo[]> {
    const nowMs = foyer.deps.now();
    return rotateKeys(foyer.stores.database, foyer.deps.boxes.keys, {
      nowMs,
      signsFrom: nowMs + waitMs,
      keptUntil: nowMs + waitMs + monthMs,
    });
  }

  it('New id tokens are signed with the new key of their algorithm and verify against the published keys', async () => {
    const rsa = await relyingParty(foyer, await foyer.addClient({ idTokenAlg: 'RS256' }));
    const before = [await tokensFor(client, browser, user), await tokensFor(rsa, browser, user)].map(kidOf);
    const signing = (await rotate(0)).filter((key) => key.state === 'active');
    await foyer.app.oauth.refreshKeys();
    const tokens = await tokensFor(client, browser, user);
    await verify(tokens);
    const after = [tokens, await tokensFor(rsa, browser, user)].map(kidOf);
    expect(after).toEqual(['ES256', 'RS256'].map((alg) => signing.find((key) => key.alg === alg)?.kid));
    expect(after).not.toEqual(before);
    const refreshed = await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '');
    expect(kidOf(refreshed)).toBe(after[0]);
  });

  it('Old id tokens still verify and serve as hints, and their access and refresh tokens stay valid', async () => {
    const old = await tokensFor(client, browser, user);
    await rotate(0);
    await foyer.app.oauth.refreshKeys();
    expect((await verify(old)).payload.sub).toBe(user.id);
    const silent = await client.begin({ prompt: 'none', id_token_hint: old.id_token ?? '' });
    expect(new URL(locationOf(await browser.get(silent.url))).searchParams.has('code')).toBe(true);
    await oidc.fetchUserInfo(client.config, old.access_token, user.id);
    expect((await oidc.refreshTokenGrant(client.config, old.refresh_token ?? '')).access_token).toBeTruthy();
    const bye = { id_token_hint: old.id_token ?? '', post_logout_redirect_uri: 'http://127.0.0.1:9/bye' };
    expect(locationOf(await browser.get(oidc.buildEndSessionUrl(client.config, bye).href))).toBe(
      'http://127.0.0.1:9/bye',
    );
  });

  it('The next key is published before it signs, and the previous one until the last session is over', async () => {
    const [es, rs] = await kids();
    const next = (await rotate(minuteMs)).filter((key) => key.state === 'next').map((key) => key.kid);
    expect(next).toHaveLength(2);
    await foyer.app.oauth.refreshKeys();
    expect(await kids()).toEqual(expect.arrayContaining([es, rs, ...next]));
    expect(kidOf(await tokensFor(client, browser, user))).toBe(es);

    foyer.passTime(minuteMs);
    await foyer.app.oauth.refreshKeys();
    expect(kidOf(await tokensFor(client, browser, user))).toBe(next[0]);
    expect(await kids()).toEqual(expect.arrayContaining([es, rs, ...next]));

    foyer.passTime(monthMs);
    await foyer.app.oauth.refreshKeys();
    expect((await kids()).toSorted()).toEqual(next.toSorted());
  });

  it('Private keys are encrypted in the database', async () => {
    await rotate(0);
    const rows = await foyer.stores.database.db.selectFrom('signingKeys').selectAll().execute();
    expect(rows).toHaveLength(4);
    for (const row of rows) expect(row.sealedJwk).not.toMatch(/"d"|"kty"|PRIVATE/);
  });

  describe('two processes', () => {
    let other: SecondProcess;
    beforeEach(async () => {
      other = await secondProcess(foyer);
    });
    afterEach(() => other?.close());

    /** A silent sign-in at the second process. @returns what it signs */
    async function signedByOther(): Promise<{ id_token: string }> {
      const visitor = new Visitor(other.port, foyer.url, {}, browser.jar);
      const begun = await client.begin();
      const callback = (await visitor.get(begun.url)).headers.location ?? '';
      const answer = await visitor.send('/oauth2/token', {
        method: 'POST',
        headers: {
          authorization: `Basic ${btoa(`${client.id}:${secret}`)}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          code: new URL(callback).searchParams.get('code') ?? '',
          redirect_uri: client.redirectUri,
          code_verifier: begun.verifier,
        }).toString(),
      });
      expect(answer.status).toBe(200);
      return JSON.parse(answer.text) as { id_token: string };
    }

    it('Both processes sign with the new key within KEYS_REFRESH_SECONDS, without a restart', async () => {
      const [before] = await kids();
      expect(kidOf(await signedByOther())).toBe(before);
      const next = (await rotate(0)).find((key) => key.state === 'active' && key.alg === 'ES256')?.kid;
      // The limit is the configured time and the time that the check takes on a busy machine.
      await sleep(refreshMs + 400);
      const [own, others] = [kidOf(await tokensFor(client, browser, user)), kidOf(await signedByOther())];
      expect([own, others]).toEqual([next, next]);
    });
  });
});
