import { rateLimits } from '../../server/http/index.ts';
import { production, site } from '../attacks/production.ts';
import { Visitor } from '../attacks/wire.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';

const visitorsRequestsAMinute = rateLimits.authorizationRequest.counters[0].max;
const membersQuestionsAMinute = rateLimits.userAuthorizationRequest.counters[0].max;

describe.each(backends)('rate limit of authorization requests on $name', (backend) => {
  let foyer: TestFoyer;
  let query: URLSearchParams;
  beforeAll(async () => {
    foyer = await startFoyer(backend, production);
    const { id, redirectUri } = await foyer.addClient({ redirectUris: ['https://app.example.com/back'] });
    query = new URLSearchParams({ client_id: id, redirect_uri: redirectUri, response_type: 'code', scope: 'openid' });
    query.set('code_challenge', 'x'.repeat(43));
    query.set('code_challenge_method', 'S256');
  });
  afterAll(() => foyer?.close());

  const visitor = (address: string) =>
    new Visitor(foyer.deps.config.PORT, site, { 'x-forwarded-for': address, 'sec-fetch-site': 'none' });
  const begin = (address: string, who = visitor(address), path = '/oauth2/authorize') => who.get(`${path}?${query}`);
  /** Makes this address have started so many requests in this minute. */
  const haveBegun = (address: string, times: number) =>
    foyer.deps.kv.consumeCount(`rate:authorize:${address}`, 60_000, times);

  it('The last allowed request passes, the next gets 429 with Retry-After, and other addresses are not limited', async () => {
    await haveBegun('203.0.113.1', visitorsRequestsAMinute - 1);
    expect((await begin('203.0.113.1')).status).toBe(303);
    const refused = await begin('203.0.113.1');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.text).toMatch(/<h1/);
    expect(refused.headers.location).toBeUndefined();
    expect((await begin('203.0.113.2')).status).toBe(303);
  });

  it('Attack: another form of the endpoint, a forged hop or a forged session does not bypass the limit', async () => {
    await haveBegun('203.0.113.3', visitorsRequestsAMinute);
    const forger = visitor('203.0.113.3');
    await forger.jar.setCookie('__Host-foyer_session=s%3Aforged.forged; Path=/; Secure', site);
    const answers = [
      await begin('203.0.113.3', undefined, '/oauth2/authorize/'),
      await begin('198.51.100.7, 203.0.113.3'),
      await visitor('203.0.113.3').send(`/oauth2/authorize?${query}`, { method: 'HEAD' }),
      await begin('203.0.113.3', forger),
    ];
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 429, 429]);
  });

  it('The device page and the logout page count toward the same limit', async () => {
    const stranger = () => visitor('203.0.113.7');
    for (const path of ['/oauth2/device', '/oauth2/logout']) expect((await stranger().get(path)).status).not.toBe(429);
    await haveBegun('203.0.113.7', visitorsRequestsAMinute);
    for (const path of ['/oauth2/device', '/oauth2/logout']) expect((await stranger().get(path)).status).toBe(429);
  });

  it('An IPv6 network of 64 bits counts as one address', async () => {
    await haveBegun('2001:db8:0:1::/64', visitorsRequestsAMinute);
    expect((await begin('2001:db8:0:1::77')).status).toBe(429);
    expect((await begin('2001:db8:0:2::77')).status).toBe(303);
  });

  it('A signed-in user still gets a code when other visitors of the same address are limited', async () => {
    const member = visitor('203.0.113.4');
    await member.get('/');
    await member.post('/sign-in', { username: (await foyer.addUser()).email, password });
    await haveBegun('203.0.113.4', visitorsRequestsAMinute);
    expect((await begin('203.0.113.4', member)).headers.location).toMatch(/^https:\/\/app\.example\.com\/back\?code=/);
    expect((await begin('203.0.113.4')).status).toBe(429);
  });

  it('A signed-in user with too many open requests gets temporarily_unavailable, but still gets a code silently', async () => {
    const [user, member] = [await foyer.addUser(), visitor('203.0.113.5')];
    await member.post('/sign-in', { username: user.email, password });
    const ask = () => member.get(`/oauth2/authorize?${query}&prompt=login`);
    expect(String((await ask()).headers.location)).toMatch(/^\/\?/);
    await foyer.deps.kv.consumeCount(`rate:authorize:member:${user.id}`, 60_000, membersQuestionsAMinute - 1);
    const refused = new URL(String((await ask()).headers.location));
    expect([refused.host, refused.searchParams.get('error')]).toEqual(['app.example.com', 'temporarily_unavailable']);
    expect((await begin('203.0.113.5', member)).headers.location).toMatch(/^https:\/\/app\.example\.com\/back\?code=/);
  });
});
