import { setTimeout as sleep } from 'node:timers/promises';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { locationOf } from '../support/browser.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { prepareRunningFoyer, refreshSeconds } from './running-foyer.ts';

describe.each(backends)('signing keys of a running Foyer on $name', (backend) => {
  const { running, foyer, register, tokensOf, isSignedIn } = prepareRunningFoyer(backend);

  it('Rotating keys with --now gives new tokens the new key within the promised seconds, and old tokens still verify', async () => {
    const { client } = await register('keys', '--id-token-alg', 'ES256');
    const user = await running().addUser();
    const browser = await running().signedIn(user);
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
    const published = createRemoteJWKSet(new URL(`${running().url}/oauth2/jwks`));
    for (const { id_token: token = '' } of [before, after]) {
      const { payload } = await jwtVerify(token, published, { issuer: running().url });
      expect(payload.sub).toBe(user.id);
    }
    // An old id token still proves who signs out.
    const signedOut = await browser.get(`/oauth2/logout?id_token_hint=${before.id_token}`, { from: 'cross-site' });
    expect(locationOf(signedOut)).toBe(`${running().url}/`);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('Rotating keys publishes them at once and signs only when every cache has them', async () => {
    const { client } = await register('patient', '--id-token-alg', 'ES256');
    const user = await running().addUser();
    const browser = await running().signedIn(user);
    const rotated = (await foyer('keys', 'rotate', '--json')).json<{
      signs_from: number;
      keys: { kid: string; alg: string; state: string }[];
    }>();
    const next = rotated.keys.find(({ alg, state }) => alg === 'ES256' && state === 'next')?.kid;
    await sleep(refreshSeconds * 1000 + 250);
    const { keys } = (await (await sendRequest(`${running().url}/oauth2/jwks`)).json()) as { keys: { kid: string }[] };
    expect(keys.map(({ kid }) => kid)).toContain(next);
    const early = await tokensOf(client, user, browser);
    expect(decodeProtectedHeader(early.id_token ?? '').kid).not.toBe(next);

    running().passTime((60 + 2 * refreshSeconds) * 1000);
    await running().app.oauth.refreshKeys();
    const late = await oidc.refreshTokenGrant(client.config, early.refresh_token ?? '');
    expect(decodeProtectedHeader(late.id_token ?? '').kid).toBe(next);
  });
});
