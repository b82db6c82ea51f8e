import * as oidc from 'openid-client';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, signInFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('code with PKCE on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  it('brings a member back to the client app with tokens that say who it is', async () => {
    const user = await foyer.addUser();
    const client = await relyingParty(foyer, await foyer.addClient());
    const begun = await client.begin();
    const tokens = await client.redeem(await signInFor(foyer.browser(), begun, user), begun);
    expect(tokens.claims()).toMatchObject({
      sub: user.id,
      email: user.email,
      amr: ['pwd'],
      aud: client.id,
      iss: foyer.url,
    });
    const info = await oidc.fetchUserInfo(client.config, tokens.access_token, user.id);
    expect(info).toMatchObject({ sub: user.id, email: user.email, email_verified: true });
    const refreshed = await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '');
    expect(refreshed.refresh_token).not.toBe(tokens.refresh_token);
  });
});
