import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { comeBy, somebody } from '../federation/steps.ts';
import { faultsOf } from '../http/header-faults.ts';
import { appCode, memberWithTotp } from '../sign-in/factor-steps.ts';
import { begin as beginSignUp, newAddress } from '../sign-up/steps.ts';
import { type Asking, Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { type RelyingParty, refreshOf, relyingParty, store } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

const popup = { display: 'popup' };
const opener = 'cross-origin-opener-policy';

/** Records the opener policy of each answer: one other value on the way breaks the link to the opener. */
class Window extends Browser {
  readonly seen: string[] = [];
  override async request(path: string, asking?: Asking): Promise<Response> {
    const answer = await super.request(path, asking);
    this.seen.push(`${answer.headers.get(opener)} ${new URL(answer.url).pathname.replaceAll(/[\w-]{43}/g, 'ID')}`);
    const policy = answer.headers.get(opener);
    const header = (name: string) => answer.headers.get(name) ?? undefined;
    const known = { what: path, path: new URL(answer.url).pathname, status: answer.status, text: '' };
    // All other headers are those of every page, also `frame-ancestors 'none'`.
    const faults = faultsOf({ ...known, header, setCookies: [], popup: policy === 'unsafe-none' }, false);
    expect(faults).toEqual([]);
    return answer;
  }
  /** The answers with another value. */
  otherThan(policy: string): string[] {
    return this.seen.filter((line) => !line.startsWith(`${policy} `));
  }
}

/** The fields of the form that accepts the terms. */
const termsShown = (html: string) =>
  Object.fromEntries(
    [...html.matchAll(/<input[^>]* name="(\w+)"[^>]* value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  );

describe.each(backends)('sign-in in a popup on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  let client: RelyingParty;
  let stranger: RelyingParty;
  beforeAll(async () => {
    providers = await startProviders();
    foyer = await startFoyer(backend, { ...providers.environment(), SIGN_UP_LIMIT_ADDRESS: '1000' });
    client = await relyingParty(foyer, await foyer.addClient());
    stranger = await relyingParty(foyer, await foyer.addClient({ thirdParty: true }));
  });
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  const open = () => new Window(foyer.url);
  const start = async (at: Browser, url: string) => locationOf(await at.get(url, { from: 'cross-site' }));
  const signIn = async (at: Browser, landing: string, user: User) => {
    await at.get(landing);
    const { search } = new URL(landing);
    return locationOf(await at.submit(`/sign-in${search}`, { username: user.email, password }));
  };
  /** Follows redirects and redirect pages as long as they stay at Foyer. */
  async function follow(at: Browser, address: string): Promise<string> {
    let next = address;
    for (let hops = 0; hops < 12 && new URL(next).origin === new URL(foyer.url).origin; hops += 1) {
      if (new URL(next).pathname === '/verify-user') {
        await at.get(next);
        next = await store(at, next);
        continue;
      }
      const answer = await at.get(next);
      if (answer.status !== 303 && answer.status !== 302) return next;
      next = locationOf(answer);
    }
    return next;
  }

  it.each([
    ['display=popup: every answer keeps the link to the opener', popup, 'unsafe-none'],
    ['no display: every answer breaks the link to the opener', {}, 'same-origin'],
    ['display=page: every answer breaks the link to the opener', { display: 'page' }, 'same-origin'],
  ])(
    'The opener policy follows the display parameter: %s',
    async (_what, parameters: Record<string, string>, policy) => {
      const at = open();
      const landing = await start(at, (await client.begin(parameters)).url);
      await at.submit(`/sign-in${new URL(landing).search}`, { username: 'unknown@example.com', password: 'wrong' });
      await at.submit('/language', { lang: 'de', redirect: landing });
      const home = await follow(at, await signIn(at, landing, await foyer.addUser()));
      expect(home).toMatch(/[?&]code=/);
      expect(at.otherThan(policy)).toEqual([]);
      expect(at.seen.length).toBeGreaterThan(6);
    },
  );

  it('Second factor, new terms and consent of a request with display=popup keep the link to the opener', async () => {
    const at = open();
    const { user, secret } = await memberWithTotp(foyer, { acceptedTosVersion: 0 });
    const landing = await start(at, (await stranger.begin(popup)).url);
    const challenge = await signIn(at, landing, user);
    expect(challenge).toContain('/second-factor');
    await at.get(challenge);
    const { search } = new URL(challenge);
    const terms = await follow(
      at,
      locationOf(await at.submit(`/second-factor${search}`, { code: await appCode(foyer, secret) })),
    );
    expect(terms).toContain('/tos');
    const accepted = await at.submit(`/tos${new URL(terms).search}`, {
      ...termsShown(await (await at.get(terms)).text()),
      decision: 'accept',
    });
    const consent = await follow(at, locationOf(accepted));
    expect(consent).toContain('/consent');
    const id = new URL(consent).searchParams.get('authorization_code') ?? '';
    const allowed = await at.submit('/consent', { authorization_code: id, decision: 'allow' });
    const home = await follow(at, new URL(refreshOf(await allowed.text()), foyer.url).href);
    expect(home).toMatch(/[?&]code=/);
    expect(at.otherThan('unsafe-none')).toEqual([]);
  });

  it('The sign-up for a request with display=popup keeps the link to the opener', async () => {
    const at = open();
    const landing = await start(at, (await client.begin(popup)).url);
    const { search } = new URL(landing);
    await at.get(`/signup${search}`);
    const code = await beginSignUp(foyer, at, newAddress(), search);
    await at.get(`/signup/emailCaptured${search}`);
    const verified = await follow(at, locationOf(await at.submit(`/signup/emailCaptured${search}`, { code })));
    expect(verified).toContain('/signup/verifiedCode');
    const [, on = ''] = /href="([^"]*verify-user[^"]*)"/.exec(await (await at.get(verified)).text()) ?? [];
    expect(await follow(at, new URL(on.replaceAll('&amp;', '&'), foyer.url).href)).toMatch(/[?&]code=/);
    expect(at.otherThan('unsafe-none')).toEqual([]);
  });

  it.each(['google', 'oidc', 'saml'] as const)(
    'A sign-in through %s with display=popup keeps the link to the opener',
    async (kind) => {
      const at = open();
      const landing = await start(at, (await client.begin(popup)).url);
      const { search } = new URL(landing);
      const answer = await comeBy(providers, at, kind, somebody(providers, kind), { search });
      const terms = await follow(at, locationOf(answer));
      expect(terms).toContain('/tos?');
      expect(at.otherThan('unsafe-none')).toEqual([]);
    },
  );

  it('The offer to link an account during a request with display=popup keeps the link to the opener', async () => {
    const at = open();
    const who = somebody(providers, 'google');
    const user = await foyer.addUser({ email: who.email ?? '' });
    const landing = await start(at, (await client.begin(popup)).url);
    const answer = await comeBy(providers, at, 'google', who, { search: new URL(landing).search });
    const form = await follow(at, locationOf(answer));
    expect(form).toContain('federation:offer');
    const offer = await follow(at, await signIn(at, form, user));
    expect(offer).toContain('/federation/link');
    const home = await follow(at, locationOf(await at.submit('/federation/link', { act: 'link' })));
    expect(home).toMatch(/[?&]code=/);
    expect(at.otherThan('unsafe-none')).toEqual([]);
  });

  it('Pushed and posted requests with display=popup keep the link to the opener', async () => {
    const user = await foyer.addUser();
    const asked = Object.fromEntries(new URL((await client.begin(popup)).url).searchParams);
    const pushed = open();
    const landing = await start(pushed, (await oidc.buildAuthorizationUrlWithPAR(client.config, asked)).href);
    expect(await follow(pushed, await signIn(pushed, landing, user))).toMatch(/[?&]code=/);
    expect(pushed.otherThan('unsafe-none')).toEqual([]);
    const posted = open();
    const kept = await posted.submit('/oauth2/authorize', asked, { 'sec-fetch-site': 'cross-site' });
    expect(await follow(posted, await signIn(posted, locationOf(await posted.get(locationOf(kept))), user))).toContain(
      'code=',
    );
    expect(posted.otherThan('unsafe-none')).toEqual([]);
  });

  it('The form_post answer and the error page of a request with display=popup keep the link to the opener', async () => {
    const at = open();
    await at.post('/sign-in', { username: (await foyer.addUser()).email, password });
    at.seen.length = 0;
    const page = await at.get((await client.begin({ ...popup, response_mode: 'form_post' })).url);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('name="code"')]);
    const refused = await at.get((await client.begin({ ...popup, redirect_uri: 'https://evil.example/' })).url);
    expect(refused.status).toBe(400);
    expect(at.otherThan('unsafe-none')).toEqual([]);
  });

  it('A link with display=popup does not weaken the isolation of the settings or of other requests’ pages', async () => {
    const at = open();
    await at.post('/sign-in', { username: (await foyer.addUser()).email, password });
    const request = new URL(await start(at, (await client.begin({ ...popup, prompt: 'login' })).url));
    const other = new URL(await start(at, (await client.begin({ prompt: 'login' })).url));
    at.seen.length = 0;
    for (const address of [
      ...['/', '/settings', `/settings${request.search}`, '/settings?display=popup', '/?display=popup'],
      ...[
        `/${other.search}`,
        `/dashboard${request.search}`,
        '/settings?pending=x',
        `/${request.search}&authorization_code=x`,
      ],
      `/settings/password${request.search}`,
    ])
      await at.get(address);
    await at.submit('/language', { lang: 'de', redirect: `/settings${request.search}` });
    expect(at.otherThan('same-origin')).toEqual([]);
  });

  it('The id of a popup’s request does not weaken the isolation of a page in another browser', async () => {
    const request = new URL(await start(open(), (await client.begin(popup)).url));
    const victim = open();
    await victim.get(`/${request.search}`);
    await victim.get(`/oauth2/authorize/${request.searchParams.get('authorization_code')}`);
    expect(victim.otherThan('same-origin')).toEqual([]);
  });

  it('A request whose cookie has changed traits does not continue', async () => {
    const at = foyer.browser();
    const landing = await start(at, (await client.begin()).url);
    const [name, value = ''] = Object.entries(await at.cookies()).find(([key]) => key.includes('foyer_request_')) ?? [];
    const [time, secret, ...copy] = value.split('.');
    await at.jar.setCookie(`${name}=${[time, `${secret}~p~`, ...copy].join('.')}; Path=/`, foyer.url);
    expect((await at.get(landing)).status).not.toBe(200);
  });
});
