import { type Browser, locationOf } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { type Begun, store } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { setUpUserAndClient } from './user-and-client.ts';

const minuteMs = 60_000;

/** Only a sign-in that is newer than the request satisfies it (`security.md`, rule 2). */
describe.each(backends)('fresh authentication on $name', (backend) => {
  const context = setUpUserAndClient(backend);

  let browser: Browser;

  let signedInMs: number;

  beforeEach(async () => {
    // The user signed in ten minutes ago.
    context.foyer.passTime(-10 * minuteMs);
    browser = await context.foyer.signedIn(context.user);
    signedInMs = context.foyer.deps.now();
    context.foyer.passTime(10 * minuteMs);
  });

  const lead = async (begun: Begun) => new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
  const signIn = async (landing: URL, member = context.user) =>
    locationOf(await browser.post(`/sign-in${landing.search}`, { username: member.email, password }));
  const finish = async (begun: Begun, verifyUser: string) =>
    context.client.redeem(locationOf(await browser.get(await store(browser, verifyUser))), begun);

  it.each([
    ['prompt=login', { prompt: 'login' }],
    ['max_age of five minutes', { max_age: '300' }],
    ['max_age=0', { max_age: '0' }],
    ['max_age=1', { max_age: '1' }],
    ['prompt=login and max_age', { prompt: 'login', max_age: '3600' }],
    ['prompt=login consent', { prompt: 'login consent' }],
  ])(
    'A request with %s shows the form to a signed-in user and gives an auth_time after the request',
    async (_what, asked) => {
      const begunSeconds = Math.floor(context.foyer.deps.now() / 1000);
      const begun = await context.client.begin(asked as Record<string, string>);
      const landing = await lead(begun);
      expect(landing.pathname).toBe('/');
      const page = await browser.get(landing.href);
      expect(page.status).toBe(200);
      expect(await page.text()).toContain('name="password"');
      let at = await browser.get(await store(browser, await signIn(landing)));
      if (new URL(locationOf(at)).pathname === '/consent') {
        const id = new URL(locationOf(at)).searchParams.get('authorization_code') ?? '';
        await browser.post('/consent', { authorization_code: id, decision: 'allow' });
        at = await browser.get(`/oauth2/authorize/${id}`);
      }
      const tokens = await context.client.redeem(locationOf(at), begun);
      expect(Number(tokens.claims()?.auth_time)).toBeGreaterThanOrEqual(begunSeconds);
      expect(Number(tokens.claims()?.auth_time)).toBeLessThanOrEqual(Math.floor(context.foyer.deps.now() / 1000));
    },
  );

  it('A sign-in younger than max_age gives a code at once, with the old auth_time', async () => {
    const begun = await context.client.begin({ max_age: '3600' });
    const tokens = await context.client.redeem((await lead(begun)).href, begun);
    expect(Math.abs(Number(tokens.claims()?.auth_time) - signedInMs / 1000)).toBeLessThan(5);
  });

  it.each<Record<string, string>>([{ prompt: 'login' }, { max_age: '300' }])(
    'Attack: the earlier session does not satisfy %j, also through /storage and the resumed request',
    async (asked) => {
      const landing = await lead(await context.client.begin(asked));
      const id = landing.searchParams.get('authorization_code') ?? '';
      const stored = await browser.postJson('/storage', {
        authorization_code: id,
        id_token: 'x',
        access_token: 'y',
        auth_time: Math.floor(Date.now() / 1000),
      });
      const { data } = (await stored.json()) as { data: { location: string } };
      expect(new URL(data.location, context.foyer.url).pathname).toBe('/');
      expect((await browser.get(data.location)).status).toBe(200);
      const resumed = await browser.get(`/oauth2/authorize/${id}`);
      expect(new URL(locationOf(resumed)).pathname).toBe('/');
    },
  );

  it('A sign-in in another tab before the request does not satisfy prompt=login', async () => {
    await browser.post('/sign-in', { username: context.user.email, password });
    context.foyer.passTime(1000);
    const landing = await lead(await context.client.begin({ prompt: 'login' }));
    expect((await browser.get(landing.href)).status).toBe(200);
    context.foyer.passTime(-1000);
  });

  it('A sign-in in another tab after the request satisfies prompt=login, so the user is not asked twice', async () => {
    const begun = await context.client.begin({ prompt: 'login' });
    const landing = await lead(begun);
    context.foyer.passTime(1000);
    await browser.post('/sign-in', { username: context.user.email, password });
    const tokens = await finish(begun, locationOf(await browser.get(landing.href)));
    expect(Number(tokens.claims()?.auth_time)).toBeGreaterThan(signedInMs / 1000 + 500);
    context.foyer.passTime(-1000);
  });

  it('prompt=none gets login_required when the sign-in is older than max_age', async () => {
    const begun = await context.client.begin({ prompt: 'none', max_age: '300' });
    expect((await lead(begun)).searchParams.get('error')).toBe('login_required');
    const young = await context.client.begin({ prompt: 'none', max_age: '3600' });
    expect((await lead(young)).searchParams.has('code')).toBe(true);
  });

  it.each(['-1', 'x', '1.5', '99999999999999999999'])('max_age=%s is refused with invalid_request', async (age) => {
    const begun = await context.client.begin({ max_age: age });
    expect((await lead(begun)).searchParams.get('error')).toBe('invalid_request');
  });

  it('prompt=login lets another user sign in, who then owns the tokens', async () => {
    const other = await context.foyer.addUser();
    const begun = await context.client.begin({ prompt: 'login' });
    const tokens = await finish(begun, await signIn(await lead(begun), other));
    expect(tokens.claims()?.sub).toBe(other.id);
  });

  it('Wrong passwords during prompt=login do not end the earlier session', async () => {
    const landing = await lead(await context.client.begin({ prompt: 'login' }));
    const wrong = await browser.post(`/sign-in${landing.search}`, { username: context.user.email, password: 'wrong' });
    expect(wrong.status).toBe(400);
    const silent = await context.client.begin({ prompt: 'none' });
    expect((await lead(silent)).searchParams.has('code')).toBe(true);
  });
});
