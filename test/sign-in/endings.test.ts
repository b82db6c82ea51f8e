import type { Browser } from '../support/browser.ts';
import { locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { memberWithTotp, toChallenge } from './factor-steps.ts';

const minuteMs = 60_000;
const tooLong = 'Your sign-in took too long';
const signedOut = 'You’ve been signed out. Please sign in again.';

describe.each(backends)('notices of an ended sign-in or session, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const pathOf = (answer: Response) => locationOf(answer).slice(foyer.url.length);
  /** The page after all redirects. */
  async function arrive(browser: Browser, path: string): Promise<string> {
    let answer = await browser.get(path);
    for (let hops = 0; answer.status === 303 && hops < 5; hops += 1) answer = await browser.get(pathOf(answer));
    expect(answer.status).toBe(200);
    return answer.text();
  }

  it('Opening or reloading the page of an expired challenge gives the notice that the sign-in took too long', async () => {
    const { user } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await toChallenge(browser, user, '?redirect=/settings');
    expect((await browser.get('/second-factor?redirect=/settings')).status).toBe(200);
    foyer.passTime(10 * minuteMs + 1_000);
    const answer = await browser.get('/second-factor?redirect=/settings');
    expect(pathOf(answer)).toBe('/?redirect=%2Fsettings#second-factor-over');
    expect(await arrive(browser, '/second-factor?redirect=/settings')).toContain(tooLong);
    // This also holds after the browser has deleted the cookie of the challenge.
    expect(await arrive(foyer.browser(), '/second-factor')).toContain(tooLong);
  });

  it('A user who is signed in already is redirected from the challenge page without a notice', async () => {
    const browser = await foyer.signedIn(await foyer.addUser());
    expect(pathOf(await browser.get('/second-factor?redirect=/settings'))).toBe('/settings');
  });

  it('A session that another device ended gives one notice on the next page, which leads on after the sign-in', async () => {
    const user = await foyer.addUser();
    const [here, there] = [await foyer.signedIn(user), await foyer.signedIn(user)];
    await there.post('/settings/devices/sign-out-others');
    const page = await arrive(here, '/settings/name');
    expect(page).toContain(signedOut);
    expect(page).toContain('redirect=%2Fsettings%2Fname');
    // The notice appears once, also on other pages that need a session.
    expect(await arrive(here, '/settings/name')).not.toContain(signedOut);
    expect(await arrive(here, '/')).not.toContain(signedOut);
    // Neither the browser that ended the session nor a visitor gets the notice.
    expect((await there.get('/settings')).status).toBe(200);
    expect(await arrive(foyer.browser(), '/')).not.toContain(signedOut);

    await here.post('/sign-in', { username: user.email, password });
    expect((await here.get('/settings')).status).toBe(200);
    // The next end gets a notice of its own.
    await there.post('/settings/devices/sign-out-others');
    expect(await arrive(here, '/settings')).toContain(signedOut);
  });

  it('The user’s own sign-out and a new password give no such notice', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    await browser.post('/logout');
    expect(await arrive(browser, '/')).not.toContain(signedOut);
    const after = await foyer.signedIn(user);
    await after.announce('password:reset');
    expect(await arrive(after, '/')).not.toContain(signedOut);
  });

  it('Attack: a forged session cookie gets a notice but no session', async () => {
    const browser = foyer.browser();
    await browser.jar.setCookie('foyer_session=s%3Amade-up.signature', foyer.url);
    expect(await arrive(browser, '/')).toContain(signedOut);
    expect(await arrive(browser, '/')).not.toContain(signedOut);
    expect(pathOf(await browser.get('/settings'))).toMatch(/^\/\?redirect=/);
  });

  it('The notice of an ended session sets only its own cookie, so a sign-in in another tab is kept', async () => {
    const user = await foyer.addUser();
    const [here, there] = [await foyer.signedIn(user), await foyer.signedIn(user)];
    await there.post('/settings/devices/sign-out-others');
    const told = await here.get('/');
    expect(told.headers.getSetCookie().map((line) => line.split('=', 1)[0])).toEqual(['foyer_signed_out']);
  });
});
