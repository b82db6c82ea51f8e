import { sessionKey } from '../../server/sessions/session.ts';
import { findUpstreamSessions, indexUpstreamSession } from '../../server/sessions/upstream-sessions.ts';
import { toProviderId, toSessionIdHash, toUserId } from '../support/ids.ts';
import { backends, type OpenStores } from '../support/stores.ts';

const hourMs = 3_600_000;

/** A SAML provider finds the sessions that it ends in this index. */
const signedIn = { authTimeMs: 0, amr: ['fed'], remember: false };

describe.each(backends)('sessions by NameID of a provider on $name', (backend) => {
  let stores: OpenStores;
  beforeAll(async () => {
    stores = await backend.open();
  });
  afterAll(() => stores?.destroy());

  let sessions = 0;
  async function begin(provider: string, nameId: string, sessionIndex?: string) {
    sessions += 1;
    const [userId, idHash] = [`user-${sessions}`, `hash-${sessions}`];
    const saml = { nameId, nameIdFormat: '', ...(sessionIndex !== undefined && { sessionIndex }) };
    const upstream = { provider: toProviderId(provider), saml };
    await stores.kv.set(
      sessionKey(toSessionIdHash(idHash)),
      JSON.stringify({ user: { ...signedIn, userId, upstream } }),
      hourMs,
    );
    await indexUpstreamSession(
      stores.kv,
      { userId: toUserId(userId), idHash: toSessionIdHash(idHash), upstream },
      hourMs,
    );
    return { userId, idHash };
  }
  const find = async (provider: string, nameId: string, indexes: string[] = []) =>
    (await findUpstreamSessions(stores.kv, { provider: toProviderId(provider), nameId, indexes }))
      .map(({ idHash }) => idHash)
      .sort();

  it('The search finds all sessions of a NameID, or those of an index, and none of others', async () => {
    const [one, two, nameless] = [
      await begin('acme', 'ada', '1'),
      await begin('acme', 'ada', '2'),
      await begin('acme', 'ada'),
    ];
    await begin('acme', 'grace', '1');
    await begin('other', 'ada', '1');
    expect(await find('acme', 'ada')).toEqual([one.idHash, two.idHash, nameless.idHash].sort());
    // A session without a session index ends with the others.
    expect(await find('acme', 'ada', ['2'])).toEqual([two.idHash, nameless.idHash].sort());
    expect(await find('acme', 'unknown-user')).toEqual([]);
    // Names and providers cannot be shifted into each other.
    expect(await find('acm', 'eada')).toEqual([]);
  });

  it('The search omits ended sessions and sessions without a NameID', async () => {
    const gone = await begin('acme', 'vera', '1');
    await stores.kv.delete(sessionKey(toSessionIdHash(gone.idHash)));
    expect(await find('acme', 'vera')).toEqual([]);
    const again = await begin('acme', 'vera', '2');
    await stores.kv.set(
      sessionKey(toSessionIdHash(gone.idHash)),
      JSON.stringify({ user: { ...signedIn, userId: gone.userId } }),
      hourMs,
    );
    expect(await find('acme', 'vera')).toEqual([again.idHash]);
    await indexUpstreamSession(
      stores.kv,
      { userId: toUserId('u'), idHash: toSessionIdHash('h'), upstream: { provider: toProviderId('google') } },
      hourMs,
    );
    expect(await find('google', '')).toEqual([]);
  });
});
