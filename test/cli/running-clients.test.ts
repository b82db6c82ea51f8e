import { decodeProtectedHeader } from 'jose';
import * as oidc from 'openid-client';
import { locationOf } from '../support/browser.ts';
import { relyingParty, signInFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { prepareRunningFoyer, redirectUri } from './running-foyer.ts';

describe.each(backends)('clients of a running Foyer on $name', (backend) => {
  const { running, foyer, register, tokensOf, userinfoStatus } = prepareRunningFoyer(backend);

  it('A client that was added works at once', async () => {
    const { client } = await register('shop');
    const user = await running().addUser();
    const tokens = await tokensOf(client, user);
    expect(tokens.claims()).toMatchObject({ sub: user.id, aud: 'shop' });
    expect((await foyer('client', 'show', 'shop')).out).toMatch(/^Grants +1 from members$/m);
  });

  it.each([
    ['public', 'ES256', '--public'],
    ['signed with RS256', 'RS256', '--id-token-alg', 'RS256'],
    ['signed with ES256', 'ES256', '--id-token-alg', 'ES256'],
    ['a third party with consent', 'RS256', '--third-party'],
    ['native on a loopback address', 'ES256', '--native'],
  ])('A client that is %s works at once, with id tokens of %s', async (name, alg, ...options) => {
    const { client } = await register(name.replaceAll(' ', '-'), ...options);
    const user = await running().addUser();
    const tokens = await tokensOf(client, user);
    expect(tokens.claims()).toMatchObject({ sub: user.id });
    expect(decodeProtectedHeader(tokens.id_token ?? '').alg).toBe(alg);
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
    const answer = await running().browser().get(`/oauth2/authorize?${query}`);
    expect(new URL(locationOf(answer)).searchParams.get('client_id')).toBe(id);
  });

  it('A change of a client takes effect at once', async () => {
    const { client, secret } = await register('changed');
    const user = await running().addUser();
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
    const renewed = await relyingParty(running(), { id: 'changed', secret: newSecret, redirectUri });
    const after = await oidc.refreshTokenGrant(renewed.config, before.refresh_token ?? '');
    expect(await userinfoStatus(after.access_token)).toBe(200);
    await foyer('client', 'update', 'changed', '--redirect-uri', 'http://127.0.0.1:9/elsewhere');
    const answer = await running()
      .browser()
      .get((await renewed.begin()).url);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('location')).toBeNull();
  });

  it('Attack: a client keeps a scope that it lost, by its earlier tokens', async () => {
    const { client } = await register('narrowed');
    const tokens = await tokensOf(client, await running().addUser());
    const run = await foyer('client', 'update', 'narrowed', '--scope', 'openid');
    expect(run.out).toContain('what it had been given has ended: 1 grant.');
    expect(await userinfoStatus(tokens.access_token)).toBe(401);
    await expect(oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  it('Attack: a client that was removed continues with its earlier tokens', async () => {
    const { client, secret } = await register('removed');
    const user = await running().addUser();
    const tokens = await tokensOf(client, user);
    const begun = await client.begin();
    const callback = await signInFor(running().browser(), begun, user);
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
    const answer = await running()
      .browser()
      .get((await client.begin()).url);
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
});
