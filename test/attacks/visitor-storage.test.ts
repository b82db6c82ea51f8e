import { inspectVisitorData, visitorDataLevel } from '../../server/store/index.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { bytesOf, entriesIn } from '../support/stored.ts';
import { type Backend, backends } from '../support/stores.ts';
import { production, site } from './production.ts';
import { type Answer, Visitor } from './wire.ts';

const minuteMs = 60_000;
/** The smallest configurable size; one address may fill a twentieth of it. */
const smallMb = 10;
const shareBytes = (smallMb * 1_000_000) / 20;

interface Attack {
  foyer: TestFoyer;
  query: URLSearchParams;
  clientId: string;
  visitor(address?: string): Visitor;
}

async function attack(backend: Backend): Promise<Attack> {
  const foyer = await startFoyer(backend, { ...production, VISITOR_DATA_MAX_MB: String(smallMb) });
  const { id, redirectUri } = await foyer.addClient({
    public: true,
    redirectUris: ['https://app.example.com/back'],
  });
  const query = new URLSearchParams({ client_id: id, redirect_uri: redirectUri, response_type: 'code' });
  for (const [name, value] of [
    ['scope', 'openid'],
    ['code_challenge', 'x'.repeat(43)],
    ['code_challenge_method', 'S256'],
  ] as const)
    query.set(name, value);
  return {
    foyer,
    query,
    clientId: id,
    visitor: (address = '203.0.113.1') =>
      new Visitor(foyer.deps.config.PORT, site, { 'x-forwarded-for': address, 'sec-fetch-site': 'none' }),
  };
}

const authorize = (who: Visitor, query: URLSearchParams, state = 's') =>
  who.get(`/oauth2/authorize?${query}&state=${state}`);
const idIn = ({ headers }: Answer) =>
  new URL(String(headers.location), site).searchParams.get('authorization_code') ?? '';
const visitorsRows = async ({ stores }: TestFoyer) => [
  ...(await entriesIn(stores, 'oidc:')),
  ...(await entriesIn(stores, 'authorization-request:')),
];

describe.each(backends)('visitors who fill the key-value store, on $name', (backend) => {
  let site1: Attack;
  beforeAll(async () => {
    site1 = await attack(backend);
  });
  afterAll(() => site1?.foyer.close());

  it('Both rows of an authorization request of a visitor who posts nothing live at most an hour', async () => {
    const { foyer, query, visitor } = site1;
    await authorize(visitor('203.0.113.10'), query);
    const rows = await visitorsRows(foyer);
    expect(rows.map(({ key }) => key.split(':').slice(0, -1).join(':')).toSorted()).toEqual([
      'authorization-request',
      'oidc:Interaction',
    ]);
    for (const { ttlMs } of rows) expect(ttlMs).toBeLessThanOrEqual(60 * minuteMs);
  });

  it('Long states from one address stay within its share, and other addresses still get through', async () => {
    const { foyer, query, visitor } = site1;
    const before = bytesOf(await visitorsRows(foyer));
    const statuses: number[] = [];
    let refused: Answer | undefined;
    for (let sent = 0; sent < 300; sent += 1) {
      const answer = await authorize(visitor('203.0.113.11'), query, 'x'.repeat(3_400));
      statuses.push(answer.status);
      if (answer.status !== 303) refused ??= answer;
    }
    expect(new Set(statuses)).toEqual(new Set([303, 429]));
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
    // 300 of these records would be 1.9 MB.
    expect(bytesOf(await visitorsRows(foyer)) - before).toBeLessThan(shareBytes);
    expect((await authorize(visitor('203.0.113.12'), query)).status).toBe(303);
  });

  it('Long states from many networks of one /48 stay within six shares, and other networks still get through', async () => {
    const { foyer, query, visitor } = site1;
    const before = bytesOf(await visitorsRows(foyer));
    const statuses: number[] = [];
    for (let sent = 0; sent < 800; sent += 1) {
      const answer = await authorize(visitor(`2001:db8:9:${(sent % 40).toString(16)}00::1`), query, 'x'.repeat(3_400));
      statuses.push(answer.status);
    }
    expect(new Set(statuses)).toEqual(new Set([303, 429]));
    expect(bytesOf(await visitorsRows(foyer)) - before).toBeLessThan(6 * shareBytes);
    expect((await authorize(visitor('2001:db8:a::1'), query)).status).toBe(303);
  });

  it('Beyond half of its share an address gets rows of ten minutes, which begin again from the browser’s copy', async () => {
    const { foyer, query, visitor } = site1;
    await foyer.deps.kv.consumeCount('visitor-share:203.0.113.13', 10 * minuteMs, shareBytes / 2);
    const before = new Set((await visitorsRows(foyer)).map(({ key }) => key));
    const who = visitor('203.0.113.13');
    const id = idIn(await authorize(who, query));
    const added = (await visitorsRows(foyer)).filter(({ key }) => !before.has(key));
    expect(added.map(({ ttlMs }) => ttlMs <= 10 * minuteMs)).toEqual([true, true]);
    // This ends the records as ten minutes do.
    await foyer.deps.kv.delete(...added.map(({ key }) => key));
    const landing = await who.get(`/?${new URLSearchParams({ authorization_code: id })}`);
    const again = await who.get(String(landing.headers.location));
    expect([landing.status, again.text]).toEqual([303, expect.stringContaining('/oauth2/authorize?client_id=')]);
  });

  it('The browser keeps two copies of at most 1,000 characters to begin again and none of a longer request', async () => {
    const { foyer, query, visitor } = site1;
    const who = visitor('203.0.113.14');
    for (const state of ['a', 'b', 'x'.repeat(2_000), 'c']) await authorize(who, query, state);
    const cookies = (await who.jar.getCookies(site)).filter(({ key }) => key.includes('foyer_request_'));
    const lengths = cookies.map(({ value }) => value.length).toSorted((a, b) => a - b);
    expect(lengths).toHaveLength(4);
    expect(lengths.slice(0, 2).every((length) => length < 60)).toBe(true);
    expect(lengths.slice(2).every((length) => length > 300 && length < 1_500)).toBe(true);
    expect(JSON.stringify(await entriesIn(foyer.stores, 'authorization-request:'))).not.toContain('begunWith');
  });

  it('A copy that is of another browser, moved to another request or forged begins nothing again', async () => {
    const { foyer, query, visitor } = site1;
    const [own, other] = [visitor('203.0.113.15'), visitor('203.0.113.16')];
    const [id, otherId] = [idIn(await authorize(own, query)), idIn(await authorize(other, query))];
    const [mine] = (await own.jar.getCookies(site)).filter(({ key }) => key.includes('foyer_request_'));
    const [theirs] = (await other.jar.getCookies(site)).filter(({ key }) => key.includes('foyer_request_'));
    for (const { key } of await visitorsRows(foyer)) await foyer.deps.kv.delete(key);
    const begins = async (who: Visitor, requestId: string) =>
      (await who.get(`/begin-again?${new URLSearchParams({ authorization_code: requestId })}`)).text.includes(
        '/oauth2/authorize?client_id=',
      );
    const with_ = async (value = '') => {
      const who = visitor('203.0.113.17');
      await who.jar.setCookie(`${mine?.key}=${value}; Path=/; Secure`, site);
      return who;
    };
    expect(await begins(own, id)).toBe(true);
    expect(await begins(own, otherId)).toBe(false);
    expect(await begins(visitor('203.0.113.17'), id)).toBe(false);
    expect(await begins(await with_(theirs?.value), id)).toBe(false);
    expect(await begins(await with_(`${mine?.value.slice(0, -4)}AAAA`), id)).toBe(false);
  });

  it('A pushed request of 4,800 characters by a public client lives 60 seconds, and longer once it is opened', async () => {
    const { foyer, query, clientId, visitor } = site1;
    const before = new Set((await visitorsRows(foyer)).map(({ key }) => key));
    const request = { ...Object.fromEntries(query), state: 'x'.repeat(4_800) };
    const pushed = await visitor('203.0.113.18').send('/oauth2/par', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams(request).toString(),
    });
    expect([pushed.status, JSON.parse(pushed.text).expires_in]).toEqual([201, 60]);
    const rows = (await visitorsRows(foyer)).filter(({ key }) => !before.has(key));
    expect(rows).toHaveLength(1);
    expect(rows[0]?.ttlMs).toBeLessThanOrEqual(60_000);
    const uri = new URLSearchParams({ client_id: clientId, request_uri: JSON.parse(pushed.text).request_uri });
    expect((await visitor('203.0.113.18').get(`/oauth2/authorize?${uri}`)).status).toBe(303);
    const opened = (await entriesIn(foyer.stores, rows[0]?.key))[0];
    expect(opened?.ttlMs).toBeGreaterThan(9 * minuteMs);
  });
});

describe.each(backends)('the key-value store at its limit for visitors, on $name', (backend) => {
  let full: Attack;
  let returning: Visitor;
  let member: Visitor;
  let email: string;
  const fill = async (part: number) => {
    const bucket = Math.floor(Date.now() / (5 * minuteMs)) + 1;
    const have = await full.foyer.deps.kv.count(`visitor-data:${bucket}`);
    await full.foyer.deps.kv.consumeCount(`visitor-data:${bucket}`, 10 * minuteMs, part * smallMb * 1_000_000 - have);
    // One reading of the size serves all requests of a second.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
  };
  beforeAll(async () => {
    full = await attack(backend);
    ({ email } = await full.foyer.addUser());
    const signedIn = async () => {
      const who = full.visitor('203.0.113.2');
      await who.post('/sign-in', { username: email, password });
      return who;
    };
    [member, returning] = [await signedIn(), await signedIn()];
    await returning.post('/logout', {});
  });
  afterAll(() => full?.foyer.close());

  const isCode = ({ headers }: Answer) => String(headers.location).startsWith('https://app.example.com/back?code=');

  it('A half-full store accepts requests, which live ten minutes', async () => {
    await fill(0.5);
    const before = new Set((await visitorsRows(full.foyer)).map(({ key }) => key));
    expect((await authorize(full.visitor(), full.query)).status).toBe(303);
    const added = (await visitorsRows(full.foyer)).filter(({ key }) => !before.has(key));
    expect(added.map(({ ttlMs }) => ttlMs <= 10 * minuteMs)).toEqual([true, true]);
  });

  it('A full store refuses visitors without a cookie of an earlier sign-in with 503 and keeps nothing', async () => {
    await fill(1);
    const before = (await visitorsRows(full.foyer)).length;
    const forger = full.visitor('203.0.113.3');
    await forger.jar.setCookie(`__Host-foyer_returning=${'a'.repeat(12)}.${'b'.repeat(43)}; Path=/; Secure`, site);
    for (const refused of [
      await authorize(full.visitor(), full.query),
      await authorize(forger, full.query),
      await full.visitor().get('/oauth2/device'),
      await full.visitor().get('/oauth2/logout'),
      await full.visitor().post('/signup', { email: 'a@example.com' }),
      await full.visitor().post('/forgot-password', { username: email }),
      await full.visitor().post('/federation/google', {}),
      await full.visitor().post('/identity/signUp', {}),
    ]) {
      expect([refused.status, Number(refused.headers['retry-after'])]).toEqual([503, 60]);
    }
    expect(await visitorsRows(full.foyer)).toHaveLength(before);
  });

  it('A full store serves browsers with an earlier sign-in, gives users codes and lets users sign in', async () => {
    await fill(1);
    expect(String((await authorize(returning, full.query)).headers.location)).toMatch(/^\/\?/);
    expect(isCode(await authorize(member, full.query))).toBe(true);
    const fresh = full.visitor('203.0.113.4');
    await fresh.post('/sign-in', { username: email, password });
    expect(isCode(await authorize(fresh, full.query))).toBe(true);
  });

  it('A store a quarter above its limit refuses all visitors, still gives a user a code and warns the operator', async () => {
    await fill(1.3);
    expect((await authorize(returning, full.query)).status).toBe(503);
    expect(isCode(await authorize(member, full.query))).toBe(true);
    const { redisUrl, dataDir } = full.foyer.stores.urls;
    const bytes = (await inspectVisitorData(redisUrl || undefined, dataDir)) ?? 0;
    expect(visitorDataLevel(bytes, smallMb * 1_000_000)).toBe('over');
  });
});
