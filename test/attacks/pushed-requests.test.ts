import * as oidc from 'openid-client';
import { rateLimits } from '../../server/http/index.ts';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type Begun, type RelyingParty, relyingParty, store } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

const pushedRequestsAMinute = rateLimits.pushedRequest.counters[0].max;

const minuteMs = 60_000;
const own = 'http://127.0.0.1:9';

/** RFC 9126, section 7: attacks on pushed requests. */
describe.each(backends)('pushed requests under attack on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let client: RelyingParty;
  let browser: Browser;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
    const redirectUris = [`${own}/pushed`, `${own}/pushed-elsewhere`];
    client = await relyingParty(foyer, await foyer.addClient({ redirectUris }));
    browser = await foyer.signedIn(user);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(() => foyer?.close());

  async function pushed(parameters: Record<string, string> = {}): Promise<Begun> {
    const begun = await client.begin(parameters);
    const asked = Object.fromEntries(new URL(begun.url).searchParams);
    return { ...begun, url: (await oidc.buildAuthorizationUrlWithPAR(client.config, asked)).href };
  }

  /** Signs in for a started request. @returns where the browser ends */
  async function finish(visitor: Browser, landing: string, member: User): Promise<string> {
    const { search } = new URL(landing);
    const signedIn = await visitor.post(`/sign-in${search}`, { username: member.email, password });
    return locationOf(await visitor.get(await store(visitor, locationOf(signedIn))));
  }

  /** The refusal is a page of Foyer, because nothing in the address can be trusted. */
  async function expectRefused(answer: Response): Promise<void> {
    expect(answer.status).toBe(400);
    expect(answer.headers.get('location')).toBeNull();
    expect(await answer.text()).toContain('<h1');
  }

  it('A request_uri that is replayed after its code was given is refused', async () => {
    const { url } = await pushed();
    expect(locationOf(await browser.get(url))).toContain('code=');
    await expectRefused(await browser.get(url));
    await expectRefused(await (await foyer.signedIn(await foyer.addUser())).get(url));
  });

  it('One request_uri that is opened many times at once gives one code', async () => {
    const { url } = await pushed();
    const answers = await Promise.all(Array.from({ length: 8 }, () => browser.get(url)));
    const codes = answers.filter(({ headers }) => headers.get('location')?.includes('code='));
    expect(codes).toHaveLength(1);
    for (const answer of answers.filter((one) => !codes.includes(one))) {
      const location = answer.headers.get('location');
      const told = location === null ? null : new URL(location).searchParams.get('error');
      expect([400, 303]).toContain(answer.status);
      expect([null, 'invalid_request_uri']).toContain(told);
    }
  });

  it.each([0, 5 * minuteMs])(
    'Of two browsers that begin one pushed request and finish it %i ms later, one gets a code',
    async (ms) => {
      const begun = await pushed();
      const [first, second] = [foyer.browser(), foyer.browser()];
      const landings = [locationOf(await first.get(begun.url)), locationOf(await second.get(begun.url))];
      const realNow = Date.now.bind(Date);
      if (ms > 0) jest.spyOn(Date, 'now').mockImplementation(() => realNow() + ms);
      const [won, lost] = [
        await finish(first, landings[0] ?? '', user),
        await finish(second, landings[1] ?? '', await foyer.addUser()),
      ];
      expect(new URL(won).searchParams.has('code')).toBe(true);
      expect(new URL(lost).searchParams.get('error')).toBe('invalid_request_uri');
    },
  );

  it('An expired request_uri is refused', async () => {
    const { url } = await pushed();
    const realNow = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => realNow() + minuteMs + 20_000);
    await expectRefused(await browser.get(url));
  });

  it('The request_uri of another client app is refused and stays valid for its own', async () => {
    const { url } = await pushed();
    const other = await foyer.addClient();
    const stolen = new URL(url);
    stolen.searchParams.set('client_id', other.id);
    await expectRefused(await browser.get(stolen.href));
    expect(locationOf(await browser.get(url))).toContain('code=');
  });

  it('Request parameters beside the request_uri change nothing', async () => {
    const begun = await pushed({ scope: 'openid' });
    const url = new URL(begun.url);
    const beside = {
      redirect_uri: `${own}/pushed-elsewhere`,
      scope: 'openid email phone',
      state: 'theirs',
      nonce: 'theirs',
      response_mode: 'fragment',
      prompt: 'login',
      code_challenge: 'A'.repeat(43),
      claims: '{}',
    };
    for (const [name, value] of Object.entries(beside)) url.searchParams.set(name, value);
    const callback = locationOf(await browser.get(url.href));
    expect(callback.startsWith(`${own}/pushed?`)).toBe(true);
    const tokens = await client.redeem(callback, begun);
    expect(tokens.scope).toBe('openid');
  });

  it('A made-up request_uri, or one that leads elsewhere, is refused and never fetched', async () => {
    const fetched = jest.spyOn(globalThis, 'fetch');
    for (const uri of [`urn:ietf:params:oauth:request_uri:${'x'.repeat(43)}`, 'https://evil.example/request']) {
      const query = new URLSearchParams({ client_id: client.id, request_uri: uri });
      await expectRefused(await browser.get(`/oauth2/authorize?${query}`));
    }
    // The spy sees the test's own request, so it would see others.
    await fetch(`${foyer.url}/healthz`);
    expect(fetched.mock.calls.map(([url]) => String(url))).toEqual([`${foyer.url}/healthz`]);
  });

  it('A client app cannot push in the name of another app without that app’s secret', async () => {
    const asked = Object.fromEntries(new URL((await client.begin()).url).searchParams);
    const push = (headers: Record<string, string>, fields = asked) =>
      sendRequest(`${foyer.url}/oauth2/par`, { method: 'POST', headers, body: new URLSearchParams(fields) });
    expect((await push({})).status).toBe(401);
    expect((await push({ authorization: `Basic ${btoa(`${client.id}:guessed`)}` })).status).toBe(401);
    const mallory = await foyer.addClient({ public: true });
    expect((await push({}, { ...asked, client_id: mallory.id })).status).toBe(400);
  });

  it('A request that is longer than any client app’s is not stored, neither pushed nor for a device', async () => {
    const { id } = await foyer.addClient({ public: true, device: true, redirectUris: [`${own}/long`] });
    const asked = Object.fromEntries(new URL((await client.begin()).url).searchParams);
    const push = async (path: string, fields: Record<string, string>) => {
      const body = new URLSearchParams({ ...asked, client_id: id, redirect_uri: `${own}/long`, ...fields });
      const answer = await sendRequest(`${foyer.url}${path}`, { method: 'POST', body });
      return [answer.status, ((await answer.json()) as { error?: string }).error];
    };
    expect(await push('/oauth2/par', { state: 's'.repeat(1_000) })).toEqual([201, undefined]);
    expect(await push('/oauth2/par', { state: 's'.repeat(40_000) })).toEqual([413, 'invalid_request']);
    expect(await push('/oauth2/device_authorization', {})).toEqual([200, undefined]);
    const long = { login_hint: 's'.repeat(40_000) };
    expect(await push('/oauth2/device_authorization', long)).toEqual([413, 'invalid_request']);
  });

  it('An address that pushes without end gets 429 with Retry-After', async () => {
    await foyer.stores.kv.consumeCount('rate:pushed-requests:127.0.0.1', minuteMs, pushedRequestsAMinute);
    await foyer.stores.kv.consumeCount('rate:pushed-requests:::/64', minuteMs, pushedRequestsAMinute);
    const asked = Object.fromEntries(new URL((await client.begin()).url).searchParams);
    const answer = await sendRequest(`${foyer.url}/oauth2/par`, { method: 'POST', body: new URLSearchParams(asked) });
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
