import type { User } from '../../server/users/index.ts';
import { appCode, memberWithTotp, show, toChallenge } from '../sign-in/factor-steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type Begun, type RelyingParty, relyingParty, store, type Tokens } from '../support/relying-party.ts';
import type { Backend } from '../support/stores.ts';

export const minuteMs = 60_000;

/** A Foyer with a client app, and the steps of a request that requires a stronger sign-in. */
export function setUpStepUp(backend: Backend) {
  let foyer: TestFoyer;
  let client: RelyingParty;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000' });
    client = await relyingParty(foyer, await foyer.addClient());
  });
  afterAll(() => foyer?.close());

  /** The first redirect of a started request. */
  const lead = async (browser: Browser, begun: Begun) =>
    new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
  /** The tokens of a request that shows no page. */
  async function atOnce(browser: Browser, parameters: Record<string, string> = {}): Promise<Tokens> {
    const begun = await client.begin(parameters);
    return client.redeem((await lead(browser, begun)).href, begun);
  }
  async function errorOf(browser: Browser, parameters: Record<string, string>): Promise<string | null> {
    const at = await lead(browser, await client.begin(parameters));
    expect(at.origin + at.pathname).toBe(client.redirectUri);
    return at.searchParams.get('error');
  }
  /** Continues from /verify-user. @returns the address at the client app */
  const home = async (browser: Browser, verifyUser: string) =>
    locationOf(await browser.get(await store(browser, verifyUser)));
  const how = (tokens: Tokens) => {
    const claims = tokens.claims();
    return { amr: claims?.amr, acr: claims?.acr };
  };

  /** A user of a remembered browser, signed in with the password alone. */
  async function remembered(): Promise<{ user: User; secret: string; browser: Browser }> {
    const { user, secret } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    await show(browser, await appCode(foyer, secret), { rememberDevice: '1' });
    await browser.post('/logout');
    foyer.passTime(minuteMs);
    const answer = await browser.post('/sign-in', { username: user.email, password });
    expect(answer.headers.get('location')).not.toContain('second-factor');
    return { user, secret, browser };
  }
  /** Expects that the landing page redirects a signed-in user to re-authentication. @returns the address */
  async function askedAgain(browser: Browser, landing: URL): Promise<URL> {
    expect(landing.pathname).toBe('/');
    const again = new URL(locationOf(await browser.get(landing.href)));
    expect(again.pathname).toBe('/re-authenticate');
    expect((await browser.get(again.href)).status).toBe(200);
    return again;
  }
  /** Enters password and code on the re-authentication pages. @returns the address of /verify-user */
  async function showAgain(browser: Browser, again: URL, secret: string): Promise<string> {
    const factor = new URL(locationOf(await browser.post(again.pathname + again.search, { password })));
    expect(factor.pathname).toBe('/second-factor');
    const at = locationOf(await show(browser, await appCode(foyer, secret), {}, factor.search));
    expect(new URL(at).pathname).toBe('/verify-user');
    return at;
  }

  return {
    get foyer() {
      return foyer;
    },
    get client() {
      return client;
    },
    lead,
    atOnce,
    errorOf,
    home,
    how,
    remembered,
    askedAgain,
    showAgain,
  };
}
