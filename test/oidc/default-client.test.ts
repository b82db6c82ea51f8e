import { ensureDefaultClient, findClient, updateClient } from '../../server/oidc/index.ts';
import { toClientId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('the default client on $name', (backend) => {
  it('The default client is created once by concurrent processes and keeps what an operator changed', async () => {
    const stores = await backend.open();
    const settings = { id: 'web', name: 'Lobby', publicUrl: 'https://login.example.com', development: false };
    await Promise.all([1, 2, 3].map(() => ensureDefaultClient(stores.database, settings, 1)));
    const made = await findClient(stores.database.db, toClientId('web'));
    expect(made).toMatchObject({
      client_name: 'Lobby',
      redirect_uris: ['https://login.example.com/'],
      token_endpoint_auth_method: 'client_secret_basic',
      scope: 'openid profile email phone',
      first_party: true,
      // Short enough for a cookie.
      id_token_signed_response_alg: 'ES256',
    });
    if (!made) throw new Error('not made');
    await updateClient(stores.database.db, { ...made, scope: 'openid' }, { nowMs: 2 });
    await ensureDefaultClient(stores.database, settings, 3);
    expect((await findClient(stores.database.db, toClientId('web')))?.scope).toBe('openid');
    await stores.destroy();
  });
});
