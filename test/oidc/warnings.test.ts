import * as oidc from 'openid-client';
import { startFoyer } from '../support/foyer.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';

/**
 // he OpenID library warns on the console about defaults that are meant for trials (at construction, or when it first
 // uses
 * one), and Node warns about deprecated calls. No such warning may appear.
 */
it('Foyer uses no default of the OpenID library that it warns about, and no deprecated API', async () => {
  const said: unknown[] = [];
  const spies = (['log', 'info', 'warn', 'error'] as const).map((name) =>
    jest.spyOn(console, name).mockImplementation((...words: unknown[]) => said.push(words)),
  );
  const onWarning = (warning: Error) => said.push(warning);
  process.on('warning', onWarning);
  const foyer = await startFoyer(anyBackend);
  try {
    const user = await foyer.addUser();
    const browser = foyer.browser();
    const client = await relyingParty(foyer, await foyer.addClient({ logoutUris: ['http://127.0.0.1:9/bye'] }));
    const third = await relyingParty(foyer, await foyer.addClient({ thirdParty: true }));
    const native = await foyer.addClient({ native: true, redirectUris: ['com.example.quiet:/cb'] });
    const implicit = await relyingParty(foyer, await foyer.addClient({ responseTypes: ['id_token'] }));
    const tokens = await tokensFor(client, browser, user);
    await tokensFor(third, browser, user);
    await tokensFor(await relyingParty(foyer, native), browser, user);
    const posted = await implicit.begin({ response_type: 'id_token', response_mode: 'form_post' });
    expect((await browser.get(posted.url)).status).toBe(200);
    await oidc.fetchUserInfo(client.config, tokens.access_token, user.id);
    await oidc.tokenIntrospection(client.config, tokens.access_token);
    const refreshed = await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '');
    await oidc.tokenRevocation(client.config, refreshed.refresh_token ?? '');
    await browser.get('/oauth2/authorize?client_id=unknown-client');
    await sendRequest(`${foyer.url}/oauth2/token`, { method: 'POST', headers: { origin: 'http://127.0.0.1:9' } });
    await browser.get(oidc.buildEndSessionUrl(client.config, { id_token_hint: tokens.id_token ?? '' }).href);
  } finally {
    await foyer.close();
    process.off('warning', onWarning);
    for (const spy of spies) spy.mockRestore();
  }
  expect(said).toEqual([]);
});
