import { rateLimits } from '../../server/http/index.ts';
import type { User } from '../../server/users/index.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { entriesIn } from '../support/stored.ts';
import { backends } from '../support/stores.ts';
import { production, site } from './production.ts';
import { type Answer, Visitor } from './wire.ts';

const visitorsRequestsAMinute = rateLimits.authorizationRequest.counters[0].max;

const back = 'https://app.example.com/back';
const goodbye = 'https://app.example.com/goodbye';

describe.each(backends)('protocol requests by POST, on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let client: { id: string };
  beforeAll(async () => {
    foyer = await startFoyer(backend, { ...production, VISITOR_DATA_MAX_MB: '10' });
    user = await foyer.addUser({ givenName: 'Hintgiven' });
    client = await foyer.addClient({
      redirectUris: [back],
      logoutUris: [goodbye],
      public: true,
      responseTypes: ['code', 'id_token'],
    });
  });
  afterAll(() => foyer?.close());

  const visitor = (address: string) =>
    new Visitor(foyer.deps.config.PORT, site, { 'x-forwarded-for': address, 'sec-fetch-site': 'none' });
  async function member(address: string): Promise<Visitor> {
    const who = visitor(address);
    await who.post('/sign-in', { username: user.email, password });
    return who;
  }
  /** Posts as a form of another site does: the browser sends no `SameSite=Lax` cookies. */
  const postFromElsewhere = (address: string, path: string, fields: Record<string, string>) =>
    visitor(address).post(path, fields, { origin: 'https://app.example.com', 'sec-fetch-site': 'cross-site' });
  const request = (more: Record<string, string> = {}): Record<string, string> => ({
    client_id: client.id,
    redirect_uri: back,
    response_type: 'code',
    scope: 'openid',
    state: 'own-state',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
    ...more,
  });
  const locationOf = ({ headers }: Answer) => String(headers.location);
  const idToken = async (who: Visitor) => {
    const {
      code_challenge: _,
      code_challenge_method: __,
      ...rest
    } = request({ response_type: 'id_token', nonce: 'n' });
    const answer = await who.get(
      `/oauth2/authorize?${new URLSearchParams({ ...rest, scope: 'openid profile email' })}`,
    );
    return new URLSearchParams(new URL(locationOf(answer)).hash.slice(1)).get('id_token') ?? '';
  };

  it('Sign-out by POST signs the user out and shows the ID token in no address and not readably in the store', async () => {
    const who = await member('203.0.113.20');
    const hint = await idToken(who);
    expect(hint.length).toBeGreaterThan(100);
    const fields = { id_token_hint: hint, post_logout_redirect_uri: goodbye, state: 'own-state' };
    const posted = await postFromElsewhere('203.0.113.20', '/oauth2/logout', fields);
    expect([posted.status, locationOf(posted)]).toEqual([
      303,
      expect.stringMatching(/^\/oauth2\/logout\?posted=[\w-]{43}$/),
    ]);
    const rows = await entriesIn(foyer.stores, 'posted-fields:');
    expect(rows.every(({ ttlMs }) => ttlMs <= 60_000)).toBe(true);
    const stored = await Promise.all(rows.map(({ key }) => foyer.deps.kv.get(key)));
    expect(stored.join()).not.toContain(hint.split('.')[1]);
    const out = await who.get(locationOf(posted));
    expect([out.status, locationOf(out)]).toEqual([303, `${goodbye}?state=own-state`]);
    expect((await who.get('/settings')).status).toBe(303);
  });

  it('Authorization by POST gives a user a code with the state unchanged', async () => {
    const who = await member('203.0.113.21');
    const posted = await postFromElsewhere('203.0.113.21', '/oauth2/authorize', request({ state: 'a b&c=ü' }));
    expect(locationOf(posted)).toMatch(/^\/oauth2\/authorize\?posted=[\w-]{43}$/);
    const home = new URL(locationOf(await who.get(locationOf(posted))));
    expect([home.origin + home.pathname, home.searchParams.get('state')]).toEqual([back, 'a b&c=ü']);
    expect(home.searchParams.get('code')).not.toBeNull();
  });

  it('The id of posted fields works once, even of many uses at once, and only at its own path', async () => {
    const who = await member('203.0.113.22');
    const post = async () => locationOf(await postFromElsewhere('203.0.113.22', '/oauth2/authorize', request()));
    const address = await post();
    const answers = await Promise.all(Array.from({ length: 10 }, () => who.get(address)));
    expect(answers.filter((answer) => locationOf(answer).startsWith(`${back}?code=`))).toHaveLength(1);
    expect(answers.filter(({ status, text }) => status === 400 && /<h1/.test(text))).toHaveLength(9);
    const elsewhere = (await post()).replace('/oauth2/authorize', '/oauth2/logout');
    expect((await who.get(elsewhere)).status).toBe(400);
    expect((await who.get('/settings')).status).toBe(200);
    expect((await who.get(`/oauth2/authorize?posted=${'a'.repeat(43)}`)).status).toBe(400);
  });

  it('A state of 15,500 characters comes back unchanged, and a body over 16 KB gets the error page', async () => {
    const who = await member('203.0.113.23');
    const state = 'x'.repeat(15_500);
    const posted = await postFromElsewhere('203.0.113.23', '/oauth2/authorize', request({ state }));
    const home = await who.get(locationOf(posted));
    expect(new URL(locationOf(home)).searchParams.get('state')).toBe(state);
    // Here the user must sign in first.
    const stranger = visitor('203.0.113.24');
    const waiting = await postFromElsewhere('203.0.113.24', '/oauth2/authorize', request({ state }));
    const landing = locationOf(await stranger.get(locationOf(waiting)));
    expect((await stranger.get(landing)).status).toBe(200);
    const verify = await stranger.post(`/sign-in${new URL(landing, site).search}`, { username: user.email, password });
    const id = new URL(locationOf(verify), site).searchParams.get('authorization_code') ?? '';
    const on = await stranger.post('/storage', { authorization_code: id });
    const resume = /url=([^"]+)"/.exec(on.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(new URL(locationOf(await stranger.get(resume))).searchParams.get('state')).toBe(state);

    const long = await postFromElsewhere('203.0.113.23', '/oauth2/authorize', request({ state: 'x'.repeat(16_500) }));
    expect([long.status, /<h1/.test(long.text)]).toEqual([413, true]);
  });

  it('Posts of one address count with its authorization requests and are limited in bytes', async () => {
    await foyer.deps.kv.consumeCount('rate:authorize:203.0.113.25', 60_000, visitorsRequestsAMinute);
    expect((await postFromElsewhere('203.0.113.25', '/oauth2/logout', {})).status).toBe(429);
    const statuses: number[] = [];
    for (let sent = 0; sent < 250; sent += 1) {
      const answer = await postFromElsewhere('203.0.113.26', '/oauth2/logout', { state: 'x'.repeat(15_500) });
      statuses.push(answer.status);
    }
    expect(new Set(statuses)).toEqual(new Set([303, 429]));
    const rows = await entriesIn(foyer.stores, 'posted-fields:');
    expect(rows.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(5_000_000);
  });

  it('Stored requests by POST count with their fields in the share of the address, as those by GET do', async () => {
    const who = visitor('203.0.113.27');
    const statuses: number[] = [];
    for (let sent = 0; sent < 150; sent += 1) {
      const posted = await postFromElsewhere(
        '203.0.113.27',
        '/oauth2/authorize',
        request({ state: 'x'.repeat(15_500) }),
      );
      const address = locationOf(posted);
      statuses.push(posted.status === 303 ? (await who.get(address)).status : posted.status);
    }
    expect(new Set(statuses)).toEqual(new Set([303, 429]));
    const rows = await entriesIn(foyer.stores, 'oidc:Interaction:');
    // One address may fill a twentieth of the storage of visitors.
    expect(rows.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(500_000);
  });

  it('A store over its limit for visitors refuses posts and keeps nothing of them', async () => {
    const bucket = Math.floor(Date.now() / 300_000) + 1;
    await foyer.deps.kv.consumeCount(`visitor-data:${bucket}`, 600_000, 13_000_000);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const before = (await entriesIn(foyer.stores, 'posted-fields:')).length;
    const refused = await postFromElsewhere('203.0.113.27', '/oauth2/authorize', request());
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '60']);
    const device = await visitor('203.0.113.28').send('/oauth2/par', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams(request()).toString(),
    });
    expect([device.status, JSON.parse(device.text).error]).toEqual([503, 'temporarily_unavailable']);
    expect((await entriesIn(foyer.stores, 'posted-fields:')).length).toBeLessThanOrEqual(before);
  });
});
