import { recentAuthMs } from '../../server/http/index.ts';
import type { User } from '../../server/users/index.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { cards, startShop } from '../billing/steps.ts';
import { newPassword } from '../password/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { routesOf } from '../support/routes.ts';
import { anyBackend, backends } from '../support/stores.ts';

const terms = { number: 2, label: '2.0.0' };
const links = ['/settings/membership', '/settings/data', '/settings/delete-account'];
const open = [...links, '/settings/password'];
/** A user with nothing to cancel is redirected to the membership. */
const cancelPath = '/settings/membership/cancel';

const bodyOf = async (browser: Browser, path: string) => (await browser.get(path)).text();

describe.each(backends)('a user who has not accepted the new terms, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, {}, { terms });
  });
  afterAll(() => foyer?.close());

  const member = async () => {
    const user = await foyer.addUser({ acceptedTosVersion: 1 });
    return { user, browser: await foyer.signedIn(user) };
  };
  const toTerms = (path: string) => `/tos?${new URLSearchParams({ redirect: foyer.url + path })}`;
  const pathOf = (answer: Response) => locationOf(answer).slice(foyer.url.length);
  const canSignIn = async ({ email }: User, given: string) =>
    (await foyer.browser().post('/sign-in', { username: email, password: given })).headers.get('location') !== null;

  it('The terms page after Decline lists the three pages that stay open, and each opens', async () => {
    const { browser } = await member();
    expect(await bodyOf(browser, '/tos')).not.toContain('terms-leave');
    const declined = await browser.post('/tos', { decision: 'decline' });
    const html = await declined.text();
    expect(wordsOf(html)).toContain('The Terms of Service must be accepted.');
    expect(wordsOf(html)).toContain(
      'Without accepting you can still cancel your membership, download your data or delete your account.',
    );
    const list = /<div class="terms-leave">.*?<\/div>/s.exec(html)?.[0] ?? '';
    expect([...list.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toEqual(links);
    for (const path of links) expect([path, (await browser.get(path)).status]).toEqual([path, 200]);
    // The buttons to decide stay.
    expect(html).toContain('value="accept"');
  });

  it('A user without the new terms can download the data, change the password, sign out and delete the account', async () => {
    const { user, browser } = await member();
    const file = await browser.post('/settings/data');
    expect([file.status, await file.json()]).toEqual([200, expect.objectContaining({})]);
    expect(JSON.stringify(await (await browser.post('/settings/data')).json())).toContain(user.email);

    const change = { old_password: password, new_password: newPassword };
    const changed = await browser.post('/settings/password', change);
    expect(pathOf(changed)).toBe('/settings/password#password:changed');
    expect(wordsOf(await bodyOf(browser, pathOf(changed)))).toContain('Your password has been changed');
    expect([await canSignIn(user, password), await canSignIn(user, newPassword)]).toEqual([false, true]);

    await browser.post('/logout');
    expect(pathOf(await browser.get('/settings/data'))).toBe('/?redirect=%2Fsettings%2Fdata');
    await browser.post('/sign-in', { username: user.email, password: newPassword });
    const deleted = await browser.post('/settings/delete-account', { confirm: '1' });
    expect(pathOf(deleted)).toBe('/account-deletion');
  });

  it('A new sign-in or a reauthentication returns to the open page and not to the terms', async () => {
    const { user, browser } = await member();
    for (const path of [...open, cancelPath]) {
      const answer = await foyer
        .browser()
        .post(`/sign-in?${new URLSearchParams({ redirect: path })}`, { username: user.email, password });
      expect([path, pathOf(answer)]).toEqual([path, path]);
    }
    foyer.passTime(recentAuthMs + 60_000);
    const asked = pathOf(await browser.get('/settings/data'));
    expect(asked).toBe('/re-authenticate?redirect=%2Fsettings%2Fdata');
    expect(pathOf(await browser.post(asked, { password }))).toBe('/settings/data');
    expect((await browser.get('/settings/data')).status).toBe(200);
  });

  it('Every other page of signed-in users still redirects to the terms', async () => {
    const { browser } = await member();
    const pages = routesOf(foyer.app.express)
      .filter(({ path, methods }) => methods.includes('GET') && /^\/(settings|dashboard)(\/|$)/.test(path))
      .map(({ path }) => path)
      // Without plans for sale these pages do not exist; see below.
      .filter((path) => !open.includes(path) && !path.startsWith('/settings/membership/'));
    expect(pages.length).toBeGreaterThan(20);
    for (const path of pages) expect([path, pathOf(await browser.get(path))]).toEqual([path, toTerms(path)]);
    for (const path of ['/settings/name', '/settings/email', '/settings/mfa']) {
      expect([path, pathOf(await browser.post(path, { given_name: 'Eve' }))]).toEqual([path, toTerms(path)]);
    }
  });

  it('Attack: an address that only looks like an open page opens another page', async () => {
    const { user, browser } = await member();
    for (const redirect of [
      '/settings/data/../email',
      '/settings/data/..%2femail',
      '/settings/email?/settings/data',
      '/settings/email#/settings/data',
      '/settings/data/',
      '/settings/data/x',
      '/settings//data',
      '/SETTINGS/data',
      '//settings/data',
    ]) {
      const signedIn = await foyer
        .browser()
        .post(`/sign-in?${new URLSearchParams({ redirect })}`, { username: user.email, password });
      expect([redirect, pathOf(signedIn).startsWith('/tos?')]).toEqual([redirect, true]);
    }
    expect(pathOf(await browser.get('/settings/email?redirect=/settings/data'))).toMatch(/^\/tos\?/);
    // A client app gets nothing before the acceptance, whatever return page the request names.
    const app = await foyer
      .browser()
      .post('/sign-in?authorization_code=none&redirect=/settings/data', { username: user.email, password });
    expect(pathOf(app)).toMatch(/^\/tos\?/);
  });

  it('A second factor that a provider requires still comes first and can be set up', async () => {
    const { user, browser } = await member();
    await foyer.deps.database.db
      .updateTable('users')
      .set({ secondFactorRequired: 1 })
      .where('id', '=', user.id)
      .execute();
    const setUp = `/settings/mfa?${new URLSearchParams({ redirect: `${foyer.url}/settings/data` })}`;
    expect(pathOf(await browser.get('/settings/data'))).toBe(setUp);
    expect((await browser.get(setUp)).status).toBe(200);
    expect(pathOf(await browser.get('/settings/email'))).toBe(toTerms('/settings/email'));
  });
});

describe('a member with a paid plan who has not accepted the new terms', () => {
  it('A member without the new terms can cancel the membership', async () => {
    const shop = await startShop(anyBackend);
    try {
      const { foyer } = shop;
      const user = await foyer.addUser();
      await shop.membership.ensure(user, 7);
      await shop.saveCard(user, cards.visa);
      await shop.buy(user, 'm-99');
      await foyer.deps.database.db
        .updateTable('users')
        .set({ acceptedTosVersion: 0 })
        .where('id', '=', user.id)
        .execute();
      const browser = await foyer.signedIn(user);
      const declined = await (await browser.post('/tos', { decision: 'decline' })).text();
      expect(declined).toContain('href="/settings/membership"');
      expect(await bodyOf(browser, '/settings/membership')).toContain(cancelPath);
      const cancelled = locationOf(await browser.post(cancelPath));
      expect(cancelled).toBe(`${foyer.url}/settings/membership#membership:cancelled`);
      expect(wordsOf(await bodyOf(browser, cancelled))).toContain('Your membership is canceled.');
      expect((await shop.membership.getMembership(user.id))?.cancelAtPeriodEnd).toBe(true);
      for (const act of ['resume', 'pay', 'card']) {
        expect([act, locationOf(await browser.get(`/settings/membership/${act}`))]).toEqual([
          act,
          expect.stringContaining('/tos?'),
        ]);
      }
    } finally {
      await shop.close();
    }
  });
});
