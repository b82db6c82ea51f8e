import type { Cookie } from 'tough-cookie';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

const rememberDays = 20;
const daySeconds = 24 * 60 * 60;

describe.each(backends)('Remember Me on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let client: RelyingParty;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { REMEMBER_ME_DAYS: String(rememberDays), SESSION_IDLE_MINUTES: '30' });
    user = await foyer.addUser();
    client = await relyingParty(foyer, await foyer.addClient());
  });
  afterAll(() => foyer?.close());

  async function signedIn(remember: boolean): Promise<Browser> {
    const browser = foyer.browser();
    const fields = { username: user.email, password, ...(remember && { remember: '1' }) };
    expect((await browser.post('/sign-in', fields)).status).toBe(303);
    return browser;
  }

  const sessionNames = ['foyer_session', 'foyer_op', 'foyer_op.sig'];
  async function sessionCookies(browser: Browser): Promise<Cookie[]> {
    const cookies = await browser.jar.getCookies(foyer.url);
    const found = sessionNames.map((name) => cookies.find((cookie) => cookie.key === name));
    return found.filter((cookie) => cookie !== undefined);
  }
  /** Seconds until the cookie expires, or undefined for a session cookie. */
  const lifetimes = async (browser: Browser) =>
    (await sessionCookies(browser)).map((cookie) => {
      const ttl = cookie.TTL();
      return Number.isFinite(ttl) ? Math.round(ttl / 1000) : undefined;
    });
  /** Closes and opens the browser: session cookies are gone. */
  async function reopened(browser: Browser): Promise<Browser> {
    const later = foyer.browser();
    for (const cookie of await browser.jar.getCookies(foyer.url)) {
      if (Number.isFinite(cookie.TTL())) await later.jar.setCookie(cookie, foyer.url);
    }
    return later;
  }
  const knows = async (browser: Browser) => {
    const begun = await client.begin({ prompt: 'none' });
    return new URL(locationOf(await browser.get(begun.url))).searchParams.has('code');
  };

  it('Without Remember Me the cookies of Foyer and of the provider end with the browser', async () => {
    const browser = await signedIn(false);
    expect(await lifetimes(browser)).toEqual([undefined, undefined, undefined]);
    await tokensFor(client, browser, user);
    expect(await lifetimes(browser)).toEqual([undefined, undefined, undefined]);
    expect(await knows(await reopened(browser))).toBe(false);
  });

  it('With Remember Me the cookies last as long as configured, also after a sign-in to a client', async () => {
    const browser = await signedIn(true);
    const promised = rememberDays * daySeconds;
    for (const seconds of await lifetimes(browser)) {
      expect(seconds).toBeGreaterThan(promised - 60);
      expect(seconds).toBeLessThanOrEqual(promised);
    }
    await tokensFor(client, browser, user);
    const later = await reopened(browser);
    expect(await lifetimes(later)).toHaveLength(3);
    for (const seconds of await lifetimes(later)) expect(seconds).toBeGreaterThan(promised - 60);
    expect(await knows(later)).toBe(true);
  });

  it('Remember Me on the form of a client’s sign-in works in the same way', async () => {
    const browser = foyer.browser();
    const { search } = new URL(locationOf(await browser.get((await client.begin()).url)));
    const verifyUser = locationOf(
      await browser.post(`/sign-in${search}`, { username: user.email, password, remember: '1' }),
    );
    const id = new URL(verifyUser).searchParams.get('authorization_code') ?? '';
    await browser.postJson('/storage', { authorization_code: id });
    await browser.get(`/oauth2/authorize/${id}`);
    expect(await knows(await reopened(browser))).toBe(true);
  });

  it('A later sign-in without Remember Me ends it', async () => {
    const browser = await signedIn(true);
    await browser.post('/sign-in', { username: user.email, password });
    expect(await lifetimes(browser)).toEqual([undefined, undefined, undefined]);
    await tokensFor(client, browser, user);
    expect(await knows(await reopened(browser))).toBe(false);
  });

  it('Every session cookie is HttpOnly, SameSite=Lax and limited to this host', async () => {
    const browser = await signedIn(true);
    for (const cookie of await sessionCookies(browser)) {
      expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'lax', path: '/', hostOnly: true });
    }
  });
});
