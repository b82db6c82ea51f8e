import { findClient, updateClient } from '../../server/oidc/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend, backends } from '../support/stores.ts';
import { service, signedInto } from './callers.ts';

describe.each(backends)('calls per minute of a client on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const clients = async (token: string) => {
    const answer = await sendRequest(`${foyer.url}/clients`, { headers: { authorization: `Bearer ${token}` } });
    return [answer.status, answer.headers.get('ratelimit-policy')];
  };
  const allow = async (id: string, calls: number | undefined, byCall?: Record<string, number>) => {
    const { db } = foyer.deps.database;
    const client = await findClient(db, toClientId(id));
    if (!client) throw new Error('no such client');
    const { calls_per_minute: _, ...rest } = client;
    const own = byCall && { calls_per_minute_by_call: byCall };
    const changed = calls === undefined ? { ...rest, ...own } : { ...rest, ...own, calls_per_minute: calls };
    await updateClient(db, changed, { nowMs: foyer.deps.now() });
  };

  it('The limit in a client’s registration replaces the limit of the call, at once and for this client alone', async () => {
    const [limited, other] = [await service(foyer, ['clients:read']), await service(foyer, ['clients:read'])];
    expect((await clients(limited.token))[1]).toContain('q=300');
    await allow(limited.id, 3);
    expect((await clients(limited.token))[1]).toContain('q=3;');
    expect((await clients(limited.token))[0]).toBe(200);
    expect((await clients(limited.token))[0]).toBe(429);
    expect(await clients(other.token)).toEqual([200, expect.stringContaining('q=300')]);
    await allow(limited.id, 5_000);
    expect(await clients(limited.token)).toEqual([200, expect.stringContaining('q=5000')]);
  });

  it('A limit for one call wins over the limit for all calls, and RateLimit says so', async () => {
    const { id, token } = await service(foyer, ['clients:read', 'users:read']);
    await allow(id, 5, { listClients: 2 });
    expect((await clients(token))[1]).toContain('q=2;');
    expect((await clients(token))[0]).toBe(200);
    expect((await clients(token))[0]).toBe(429);
    const other = await foyer
      .browser()
      .postJson('/user/listUserWithPoolId', { userId: 'unknown' }, { authorization: `Bearer ${token}` });
    expect([other.status, other.headers.get('ratelimit-policy')]).toEqual([200, expect.stringContaining('q=5;')]);
    await allow(id, undefined, { listClients: 7 });
    expect((await clients(token))[1]).toContain('q=7;');
  });

  it('Tokens of users of the same client keep the limit of the call', async () => {
    const { clientId, tokens } = await signedInto(foyer);
    await allow(clientId, 1);
    for (let n = 0; n < 3; n += 1)
      expect(await clients(tokens.access_token)).toEqual([200, expect.stringContaining('q=300')]);
  });
});

describe('calls per minute by configuration', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend, {
      API_LIMIT_CALLER: '7',
      API_LIMIT_ADDRESS: '5',
      API_LIMIT_VISITORS: '2',
      API_LIMIT_CALLS: 'listClients=3,verifyClient=4',
    });
  });
  afterAll(() => foyer?.close());

  const policy = (answer: Response) => [
    answer.status,
    /q=(\d+)/.exec(answer.headers.get('ratelimit-policy') ?? '')?.[1],
  ];
  const ask = (path: string, headers: Record<string, string> = {}) => sendRequest(foyer.url + path, { headers });

  it('Members, services and addresses have the numbers of the configuration, and single calls their own', async () => {
    const { tokens } = await signedInto(foyer);
    const authorization = `Bearer ${tokens.access_token}`;
    expect(policy(await ask('/user/info', { authorization }))).toEqual([200, '7']);
    expect(policy(await ask('/clients', { authorization }))).toEqual([200, '3']);
    expect(policy(await ask('/verifyClient?client_id=a&logout_uri=b'))).toEqual([404, '4']);
    expect(policy(await foyer.browser().postJson('/user/listPlans', {}))).toEqual([200, '5']);
    const statuses: number[] = [];
    for (let times = 0; times < 4; times += 1) statuses.push((await ask('/clients', { authorization })).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
  });

  it('A call with a number in the code keeps it while the configuration does not name it', async () => {
    const answer = await foyer.browser().postJson('/identity/resendConfirmationCode', { flow: 'unknown' });
    expect(policy(answer)).toEqual([404, '30']);
  });

  it('A service’s own numbers win over those of the configuration', async () => {
    const { id, token } = await service(foyer, ['clients:read']);
    const client = await findClient(foyer.deps.database.db, toClientId(id));
    if (!client) throw new Error('no such client');
    const changed = { ...client, calls_per_minute: 9 };
    await updateClient(foyer.deps.database.db, changed, { nowMs: foyer.deps.now() });
    expect(policy(await ask('/clients', { authorization: `Bearer ${token}` }))).toEqual([200, '9']);
  });

  it('The calls of a service for its visitors have the number of the configuration', async () => {
    const { token } = await service(foyer, ['visitors:act-for']);
    const statuses: number[] = [];
    for (const address of ['192.0.2.1', '198.51.100.1', '203.0.113.1']) {
      const headers = { authorization: `Bearer ${token}`, 'foyer-visitor-address': address };
      statuses.push((await ask('/verifyClient?client_id=a&logout_uri=b', headers)).status);
    }
    expect(statuses).toEqual([404, 404, 429]);
  });
});
