import { listIdentities } from '../../server/federation/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, type TestFoyer } from '../support/foyer.ts';
import { startWithProviders } from '../support/foyer-with-providers.ts';
import { toUserId } from '../support/ids.ts';
import type { TestProviders } from '../support/providers.ts';
import { relyingParty, store } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { comeBy, pathOf, somebody } from './steps.ts';

const offerPath = '/federation/link';
const signInFirst = `/?${new URLSearchParams({ redirect: offerPath })}#federation:offer/google`;

describe.each(backends)('/federation/link on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  startWithProviders(
    backend,
    (started) => ({ ...started.environment(), GUESS_LIMIT_ADDRESS: '1000' }),
    (setting) => {
      ({ foyer, providers } = setting);
    },
  );

  const path = (answer: Response) => pathOf(foyer, answer);
  const linksOf = ({ id }: { id: string }) => listIdentities(foyer.stores.database.db, toUserId(id));
  const decide = (browser: Browser, act: string) => browser.post(offerPath, { act });
  /** Signs in by Google with the address of a user, and then with the password. */
  async function offered(search = '') {
    const user = await foyer.addUser();
    const ada = somebody(providers, 'google', { email: user.email });
    const browser = foyer.browser();
    const first = path(await comeBy(providers, browser, 'google', ada, { search }));
    expect(first).toBe(signInFirst);
    const page = await (await browser.get(first)).text();
    expect(page).toContain('You already have an account with the email address from Google.');
    expect(page).toMatch(new RegExp(`<input(?=[^>]* name="username")(?=[^>]* value="${user.email}")`));
    // Anyone can write that address: another browser is told nothing.
    expect(await (await foyer.browser().get(first)).text()).not.toContain(user.email);
    expect(await linksOf(user)).toEqual([]);
    const answer = await browser.post(`/sign-in?redirect=${offerPath}`, { username: user.email, password });
    expect(path(answer)).toBe(offerPath);
    return { user, ada, browser };
  }

  it('A reload, and a refused sign-in, still explain the offered link and fill in its address; a page without it does not', async () => {
    const user = await foyer.addUser();
    const browser = foyer.browser();
    await comeBy(providers, browser, 'google', somebody(providers, 'google', { email: user.email }));
    const explained = 'You already have an account with the email address from Google.';
    const path = `/?${new URLSearchParams({ redirect: offerPath })}`;
    for (const visit of ['first', 'reload']) {
      const html = await (await browser.get(path)).text();
      expect([visit, html.includes(explained), html.includes(user.email)]).toEqual([visit, true, true]);
      expect(html).not.toContain('/federation/google');
    }
    const wrong = await browser.post(`/sign-in${path.slice(1)}`, { username: user.email, password: 'wrong' });
    expect(await wrong.text()).toContain(explained);
    for (const [other, where] of [
      [browser, '/'],
      [foyer.browser(), path],
    ] as const)
      expect(await (await other.get(where)).text()).not.toContain(explained);
  });

  it('A link is created after the user signed in and agreed, and from then on it signs in', async () => {
    const { user, ada, browser } = await offered('?redirect=%2Fsettings%2Fdevices');
    const page = await (await browser.get(offerPath)).text();
    for (const said of ['Link Google?', 'Account at Google', `Ada Lovelace · ${user.email}`, 'Not now']) {
      expect(page).toContain(said);
    }
    expect(path(await decide(browser, 'link'))).toBe('/settings/devices');
    expect(await linksOf(user)).toMatchObject([{ kind: 'google', email: ada.email, lastUsedAt: expect.any(Number) }]);
    expect((await foyer.mails(user.email)).at(-1)).toMatchObject({
      template: 'security-notice',
      values: { change: 'provider-linked', detail: expect.stringContaining('Google') },
    });
    expect(path(await browser.get(offerPath))).toBe('/');
    const elsewhere = foyer.browser();
    await comeBy(providers, elsewhere, 'google', ada);
    expect((await elsewhere.get('/settings')).status).toBe(200);
  });

  it('A client’s request waits for the answer and gets a code, also when the user declines', async () => {
    for (const act of ['link', 'not-now']) {
      const client = await relyingParty(foyer, await foyer.addClient());
      const user = await foyer.addUser();
      const browser = foyer.browser();
      const begun = await client.begin();
      const { search } = new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
      await comeBy(providers, browser, 'google', somebody(providers, 'google', { email: user.email }), { search });
      await browser.post(`/sign-in?redirect=${offerPath}`, { username: user.email, password });
      const at = path(await decide(browser, act));
      expect(at).toBe(`/verify-user${search}`);
      const home = locationOf(await browser.get(await store(browser, foyer.url + at)));
      expect((await client.redeem(home, begun)).claims()).toMatchObject({ sub: user.id, amr: ['pwd'] });
      expect(await linksOf(user)).toHaveLength(act === 'link' ? 1 : 0);
    }
  });

  it('A declined link is not created and is offered again next time', async () => {
    const { user, ada, browser } = await offered();
    expect((await decide(browser, 'not-now')).status).toBe(303);
    expect(await linksOf(user)).toEqual([]);
    expect(path(await browser.get(offerPath))).toBe('/');
    expect(path(await comeBy(providers, foyer.browser(), 'google', ada))).toBe(signInFirst);
  });

  it('A user who is already signed in must authenticate again before the link is offered', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    foyer.passTime(1000);
    const ada = somebody(providers, 'google', { email: user.email });
    const first = path(await comeBy(providers, browser, 'google', ada));
    expect(path(await browser.get(first))).toBe(offerPath);
    const again = path(await browser.get(offerPath));
    expect(again).toBe(signInFirst.replace('/?', '/re-authenticate?'));
    expect(await (await browser.get(again)).text()).toContain('you can link Google.');
    expect(path(await browser.post(again, { password }))).toBe(offerPath);
    expect((await browser.get(offerPath)).status).toBe(200);
  });

  it('Concurrent answers create one link', async () => {
    const { user, browser } = await offered();
    const answers = await Promise.all(['link', 'link', 'link'].map((act) => decide(browser, act)));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect(await linksOf(user)).toHaveLength(1);
  });

  it('An answer that neither agrees nor declines gets 400', async () => {
    const { user, browser } = await offered();
    for (const act of ['', 'unlink']) expect((await decide(browser, act)).status).toBe(400);
    expect(await linksOf(user)).toEqual([]);
  });
});
