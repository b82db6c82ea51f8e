import * as oidc from 'openid-client';
import { locationOf } from '../support/browser.ts';
import { type RelyingParty, relyingParty, type Tokens, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { setUpUser } from './user-and-client.ts';

describe.each(backends)('revocation on $name', (backend) => {
  const context = setUpUser(backend);

  describe.each([
    { kind: 'a confidential client', registration: {} },
    { kind: 'a public client', registration: { public: true } },
  ])('by $kind', ({ registration }) => {
    let client: RelyingParty;
    let tokens: Tokens;
    beforeEach(async () => {
      client = await relyingParty(context.foyer, await context.foyer.addClient(registration));
      tokens = await tokensFor(client, context.foyer.browser(), context.user);
    });

    async function expectDead(): Promise<void> {
      await expect(oidc.fetchUserInfo(client.config, tokens.access_token, context.user.id)).rejects.toMatchObject({
        status: 401,
      });
      await expect(oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '')).rejects.toMatchObject({
        error: 'invalid_grant',
      });
    }

    it.each([undefined, 'refresh_token', 'access_token', 'nonsense'])(
      'Revoking the refresh token ends the access token with it (hint: %s)',
      async (hint) => {
        const parameters: Record<string, string> = hint === undefined ? {} : { token_type_hint: hint };
        await oidc.tokenRevocation(client.config, tokens.refresh_token ?? '', parameters);
        await expectDead();
      },
    );

    it('Revoking the access token ends the refresh token with it', async () => {
      await oidc.tokenRevocation(client.config, tokens.access_token);
      await expectDead();
    });

    it.each(['access_token', 'refresh_token'] as const)(
      'Revoking the %s also ends the other access tokens of the same sign-in',
      async (kind) => {
        const later = await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '');
        await oidc.fetchUserInfo(client.config, tokens.access_token, context.user.id);
        await oidc.tokenRevocation(client.config, later[kind] ?? '');
        await expectDead();
      },
    );

    it('Revoking an unknown token, or a token twice, succeeds alike (RFC 7009, section 2.2)', async () => {
      await oidc.tokenRevocation(client.config, 'no such token');
      await oidc.tokenRevocation(client.config, tokens.access_token);
      await oidc.tokenRevocation(client.config, tokens.access_token);
    });

    it('Attack: revoking the tokens of another client has no effect', async () => {
      const other = await relyingParty(context.foyer, await context.foyer.addClient());
      await oidc.tokenRevocation(other.config, tokens.access_token);
      await oidc.tokenRevocation(other.config, tokens.refresh_token ?? '');
      await oidc.fetchUserInfo(client.config, tokens.access_token, context.user.id);
      const refreshed = await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '');
      expect(refreshed.access_token).toBeTruthy();
    });
  });

  it('A confidential client without its secret gets 401, and the token stays valid', async () => {
    const client = await relyingParty(context.foyer, await context.foyer.addClient());
    const tokens = await tokensFor(client, context.foyer.browser(), context.user);
    const answer = await sendRequest(`${context.foyer.url}/oauth2/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: client.id, token: tokens.access_token }),
    });
    expect(answer.status).toBe(401);
    await oidc.fetchUserInfo(client.config, tokens.access_token, context.user.id);
  });

  it('Revoking tokens leaves the user signed in, so prompt=none still gives a code', async () => {
    const client = await relyingParty(context.foyer, await context.foyer.addClient());
    const browser = await context.foyer.signedIn(context.user);
    await oidc.tokenRevocation(client.config, (await tokensFor(client, browser, context.user)).refresh_token ?? '');
    const begun = await client.begin({ prompt: 'none' });
    const again = await client.redeem(locationOf(await browser.get(begun.url)), begun);
    expect((await oidc.fetchUserInfo(client.config, again.access_token, context.user.id)).sub).toBe(context.user.id);
  });
});
