import { Cookie, type SessionData } from 'express-session';
import { KeyValueSessionStore, sessionIdHash, sessionKey } from '../../server/session/session-store.ts';
import { backends, type OpenStores } from '../support/stores.ts';

describe.each(backends)('the session store on $name', ({ open }) => {
  let stores: OpenStores;
  beforeAll(async () => {
    stores = await open();
  });
  afterAll(() => stores?.destroy());

  const newSession = (): SessionData => ({ cookie: new Cookie() });

  it('attack: a session that was ended while its sign-in was answered is not brought back by the second saving', async () => {
    const store = new KeyValueSessionStore(stores.kv, { idleMs: 60_000 });
    const set = (id: string, session: SessionData) =>
      new Promise<void>((resolve, reject) => store.set(id, session, (error) => (error ? reject(error) : resolve())));
    const session = newSession();
    await set('under-way', session);
    await set('under-way', session);
    const key = sessionKey(sessionIdHash('under-way'));
    expect(await stores.kv.get(key)).not.toBeNull();
    await stores.kv.delete(key);
    await set('under-way', session);
    expect(await stores.kv.get(key)).toBeNull();
    await set('under-way', newSession());
    expect(await stores.kv.get(key)).not.toBeNull();
  });
});
