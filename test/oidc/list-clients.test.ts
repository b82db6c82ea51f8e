import { ensureDefaultClient, findClient, updateClient } from '../../server/oidc/index.ts';
import { service } from '../api/callers.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('GET /clients on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const ids = async (answer: Response) =>
    ((await answer.json()) as { client_id: string }[]).map(({ client_id: id }) => id).toSorted();

  it('Users see the default client only after an operator sets its initiate_login_uri; services always see it', async () => {
    const { database, now } = foyer.deps;
    const web = { id: 'web', name: 'Foyer', publicUrl: foyer.url, development: true };
    await ensureDefaultClient(database, web, now());
    await foyer.addClient({ id: 'shop' });
    const browser = await foyer.signedIn(await foyer.addUser());
    const ofMember = async () => ids(await browser.get('/clients', { from: 'same-origin' }));
    const { token } = await service(foyer, ['clients:read']);
    const headers = { authorization: `Bearer ${token}` };
    expect(await ofMember()).toEqual(['shop']);
    expect(await ids(await sendRequest(`${foyer.url}/clients`, { headers }))).toEqual(['shop', 'web']);
    const registered = await findClient(database.db, toClientId('web'));
    if (!registered) throw new Error('no default client');
    const changed = { ...registered, initiate_login_uri: 'https://www.example.com/in' };
    await updateClient(database.db, changed, { nowMs: now() });
    expect(await ofMember()).toEqual(['shop', 'web']);
  });
});
