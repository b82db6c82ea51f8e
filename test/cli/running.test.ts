import { setTimeout as sleep } from 'node:timers/promises';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { locationOf } from '../support/browser.ts';
import { type Cli, cliOf } from '../support/cli.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, signInFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

const redirectUri = 'http://127.0.0.1:9/cli/callback';
const refreshSeconds = 1;

/** Every command acts on a Foyer that runs, without a restart. */
describe.each(backends)('a running Foyer on $name', (backend) => {
  let house: TestFoyer;
  let foyer: Cli;
  beforeAll(async () => {
    house = await startFoyer(backend, { KEYS_REFRESH_SECONDS: String(refreshSeconds) });
    foyer = cliOf(house);
  });
  afterAll(() => house?.close());

  /** Registers a client by the command; answers it as its developers have it. */
  async function register(id: string, ...options: string[]): Promise<{ client: RelyingParty; secret: string }> {
    const run = await foyer(
      'client',
      'add',
      '--id',
      id,
      '--name',
      id,
      '--redirect-uri',
      redirectUri,
      '--json',
      ...options,
    );
    const { client_secret: secret = '' } = run.json<{ client_secret?: string }>();
    return { client: await relyingParty(house, { id, secret: secret || null, redirectUri }), secret };
  }

  async function tokensOf(
    client: RelyingParty,
    user: Awaited<ReturnType<TestFoyer['addUser']>>,
    browser = house.browser(),
  ) {
    const begun = await client.begin();
    return client.redeem(await signInFor(browser, begun, user), begun);
  }

  const userinfoStatus = async (token: string) =>
    (await sendRequest(`${house.url}/oauth2/userInfo`, { headers: { authorization: `Bearer ${token}` } })).status;

  /** The address of a page that only members see leads to the sign-in form once the session has ended. */
  const isSignedIn = async (browser: ReturnType<TestFoyer['browser']>) => (await browser.get('/')).status === 303;

  it('A client that was added works at once', async () => {
    const { client } = await register('shop');
    const user = await house.addUser();
    const tokens = await tokensOf(client, user);
    expect(tokens.claims()).toMatchObject({ sub: user.id, aud: 'shop' });
    expect((await foyer('client', 'show', 'shop')).out).toMatch(/^Grants +1 from members$/m);
  });

  it.each([
    ['public', '--public'],
    ['signed with RS256', '--id-token-alg', 'RS256'],
    ['a third party with consent', '--third-party'],
    ['native on a loopback address', '--native'],
  ])('A client that is %s works at once', async (name, ...options) => {
    const { client } = await register(name.replaceAll(' ', '-'), ...options);
    const user = await house.addUser();
    const tokens = await tokensOf(client, user);
    expect(tokens.claims()).toMatchObject({ sub: user.id });
    expect(decodeProtectedHeader(tokens.id_token ?? '').alg).toBe(options.includes('RS256') ? 'RS256' : 'ES256');
  });

  it.each([
    ['id_token alone', ['--response-type', 'id_token']],
    ['both response types', ['--response-type', 'code', 'id_token']],
    [
      'every address',
      [
        '--logout-uri',
        'http://127.0.0.1:9/out',
        '--logback-uri',
        'http://127.0.0.1:9/in',
        '--logo',
        'https://a.example/l.png',
      ],
    ],
    [
      'native with a private scheme',
      ['--native', '--redirect-uri', 'com.example.app:/cb', '--logout-uri', 'com.example.app:/out'],
    ],
    ['offline access', ['--third-party', '--scope', 'openid offline_access']],
    ['legacy', ['--legacy']],
  ])('The provider accepts what the command registers: %s', async (name, options) => {
    const id = `takes-${name.replaceAll(' ', '-')}`;
    expect(
      await foyer('client', 'add', '--id', id, '--name', id, '--redirect-uri', redirectUri, ...options),
    ).toMatchObject({ code: 0 });
    const query = new URLSearchParams({
      client_id: id,
      redirect_uri: options.includes('com.example.app:/cb') ? 'com.example.app:/cb' : redirectUri,
      response_type: options.includes('id_token') && !options.includes('code') ? 'id_token' : 'code',
      scope: 'openid',
      nonce: 'n'.repeat(20),
      code_challenge: 'c'.repeat(43),
      code_challenge_method: 'S256',
    });
    const answer = await house.browser().get(`/oauth2/authorize?${query}`);
    expect(new URL(locationOf(answer)).searchParams.get('client_id')).toBe(id);
  });

  it('A change of a client takes effect at once', async () => {
    const { client, secret } = await register('changed');
    const user = await house.addUser();
    const before = await tokensOf(client, user);
    const { client_secret: newSecret } = (
      await foyer('client', 'update', 'changed', '--new-secret', '--old-secret-for', '0', '--json')
    ).json<{
      client_secret: string;
    }>();
    expect(newSecret).not.toBe(secret);
    await expect(oidc.refreshTokenGrant(client.config, before.refresh_token ?? '')).rejects.toMatchObject({
      status: 401,
    });
    const renewed = await relyingParty(house, { id: 'changed', secret: newSecret, redirectUri });
    const after = await oidc.refreshTokenGrant(renewed.config, before.refresh_token ?? '');
    expect(await userinfoStatus(after.access_token)).toBe(200);
    await foyer('client', 'update', 'changed', '--redirect-uri', 'http://127.0.0.1:9/elsewhere');
    const answer = await house.browser().get((await renewed.begin()).url);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('location')).toBeNull();
  });

  it('Attack: a client keeps a scope that it lost, by its earlier tokens', async () => {
    const { client } = await register('narrowed');
    const tokens = await tokensOf(client, await house.addUser());
    const run = await foyer('client', 'update', 'narrowed', '--scope', 'openid');
    expect(run.out).toContain('what it had been given has ended: 1 grant.');
    expect(await userinfoStatus(tokens.access_token)).toBe(401);
    await expect(oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  it('Attack: a client that was removed continues with its earlier tokens', async () => {
    const { client, secret } = await register('removed');
    const user = await house.addUser();
    const tokens = await tokensOf(client, user);
    const begun = await client.begin();
    const callback = await signInFor(house.browser(), begun, user);
    expect(await userinfoStatus(tokens.access_token)).toBe(200);

    const run = await foyer('client', 'remove', 'removed');
    expect(run.out).toMatch(
      /^Client removed is removed\. 2 grants ended, with all codes and tokens that hung on them\.$/m,
    );
    expect(await userinfoStatus(tokens.access_token)).toBe(401);
    await expect(oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '')).rejects.toMatchObject({
      status: 401,
    });
    await expect(client.redeem(callback, begun)).rejects.toMatchObject({ status: 401 });
    const answer = await house.browser().get((await client.begin()).url);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('location')).toBeNull();

    // The same id again, even with the same secret's owner, brings nothing back.
    const again = (await register('removed')).client;
    expect(secret).not.toBe('');
    await expect(oidc.refreshTokenGrant(again.config, tokens.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    expect(await userinfoStatus(tokens.access_token)).toBe(401);
  });

  it('A user who was added signs in at once, by address and by number', async () => {
    const added = await foyer(
      'user',
      'add',
      '--email',
      'grace@example.com',
      '--password',
      password,
      '--phone',
      '+41791234567',
      '--verified',
      '--accept-terms',
    );
    expect(added.code).toBe(0);
    for (const username of ['Grace@example.com', '+41 79 123 45 67']) {
      const browser = house.browser();
      expect((await browser.post('/sign-in', { username, password })).status).toBe(303);
      expect(await isSignedIn(browser)).toBe(true);
    }
    expect((await foyer('user', 'show', 'grace@example.com', '--json')).json()).toMatchObject({
      sessions: 2,
      grants: 0,
    });
  });

  it('Attack: a disabled user continues in open pages and with the tokens of client apps', async () => {
    const { client } = await register('disabling');
    const user = await house.addUser();
    const bystander = await house.addUser();
    const [phone, desk, other] = await Promise.all([
      house.signedIn(user),
      house.signedIn(user),
      house.signedIn(bystander),
    ]);
    const tokens = await tokensOf(client, user, desk);
    const others = await tokensOf(client, bystander, other);
    expect(await isSignedIn(phone)).toBe(true);

    const run = await foyer('user', 'disable', user.email);
    expect(run.out).toBe(
      `Member ${user.email} is disabled. Ended: 2 sessions, 1 grant to client apps with all tokens.\n`,
    );
    for (const browser of [phone, desk]) expect(await isSignedIn(browser)).toBe(false);
    expect(await userinfoStatus(tokens.access_token)).toBe(401);
    await expect(oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    const silent = await desk.get((await client.begin({ prompt: 'none' })).url, { from: 'cross-site' });
    expect(new URL(locationOf(silent)).searchParams.get('error')).toBe('login_required');

    const refused = await house.browser().post('/sign-in', { username: user.email, password });
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain('User is disabled.');
    // Only whoever knows the password is told so.
    const guess = await house.browser().post('/sign-in', { username: user.email, password: 'wrong horse 9' });
    expect(await guess.text()).not.toContain('User is disabled.');

    expect(await isSignedIn(other)).toBe(true);
    expect(await userinfoStatus(others.access_token)).toBe(200);

    expect((await foyer('user', 'enable', user.email)).out).toContain('is enabled');
    for (const browser of [phone, desk]) expect(await isSignedIn(browser)).toBe(false);
    expect(await userinfoStatus(tokens.access_token)).toBe(401);
    expect(await isSignedIn(await house.signedIn(user))).toBe(true);
  });

  it('Attack: sign-ins run while the user is being disabled', async () => {
    const user = await house.addUser();
    const browsers = Array.from({ length: 8 }, () => house.browser());
    const answers = Promise.all(
      browsers.map((browser) => browser.post('/sign-in', { username: user.email, password })),
    );
    await foyer('user', 'disable', user.email);
    await answers;
    for (const browser of browsers) expect(await isSignedIn(browser)).toBe(false);
    await foyer('user', 'enable', user.email);
    for (const browser of browsers) expect(await isSignedIn(browser)).toBe(false);
  });

  it('Setting a password signs the user out everywhere, allows the new password and sends a mail', async () => {
    const user = await house.addUser();
    const browser = await house.signedIn(user);
    const run = await foyer('user', 'set-password', user.email, '--password', 'a walk in the rain 4', '--json');
    expect(run.json()).toMatchObject({ sub: user.id, ended: { sessions: 1, grants: 0 } });
    expect(await isSignedIn(browser)).toBe(false);
    const signIn = (given: string) => house.browser().post('/sign-in', { username: user.email, password: given });
    expect([(await signIn(password)).status, (await signIn('a walk in the rain 4')).status]).toEqual([400, 303]);
    expect((await house.mails(user.email)).map(({ template }) => template)).toContain('password-changed');
  });

  it('Rotating keys with --now gives new tokens the new key within the promised seconds, and old tokens still verify', async () => {
    const { client } = await register('keys');
    const user = await house.addUser();
    const browser = await house.signedIn(user);
    const before = await tokensOf(client, user, browser);
    const { kid: oldKid } = decodeProtectedHeader(before.id_token ?? '');

    const { keys } = (await foyer('keys', 'rotate', '--now', '--json')).json<{
      keys: { kid: string; alg: string; state: string }[];
    }>();
    const newKid = keys.find(({ alg, state }) => alg === 'ES256' && state === 'active')?.kid;
    expect(newKid).not.toBe(oldKid);
    await sleep(refreshSeconds * 1000 + 250);

    const after = await tokensOf(client, user, browser);
    expect(decodeProtectedHeader(after.id_token ?? '').kid).toBe(newKid);
    const published = createRemoteJWKSet(new URL(`${house.url}/oauth2/jwks`));
    for (const { id_token: token = '' } of [before, after]) {
      const { payload } = await jwtVerify(token, published, { issuer: house.url });
      expect(payload.sub).toBe(user.id);
    }
    // An old id token still proves who signs out.
    const signedOut = await browser.get(`/oauth2/logout?id_token_hint=${before.id_token}`, { from: 'cross-site' });
    expect(locationOf(signedOut)).toBe(`${house.url}/`);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('Rotating keys publishes them at once and signs only when every cache has them', async () => {
    const { client } = await register('patient');
    const user = await house.addUser();
    const browser = await house.signedIn(user);
    const rotated = (await foyer('keys', 'rotate', '--json')).json<{
      signs_from: number;
      keys: { kid: string; alg: string; state: string }[];
    }>();
    const next = rotated.keys.find(({ alg, state }) => alg === 'ES256' && state === 'next')?.kid;
    await sleep(refreshSeconds * 1000 + 250);
    const { keys } = (await (await sendRequest(`${house.url}/oauth2/jwks`)).json()) as { keys: { kid: string }[] };
    expect(keys.map(({ kid }) => kid)).toContain(next);
    const early = await tokensOf(client, user, browser);
    expect(decodeProtectedHeader(early.id_token ?? '').kid).not.toBe(next);

    house.passTime((60 + 2 * refreshSeconds) * 1000);
    await house.app.oauth.refreshKeys();
    const late = await oidc.refreshTokenGrant(client.config, early.refresh_token ?? '');
    expect(decodeProtectedHeader(late.id_token ?? '').kid).toBe(next);
  });
});
