import { languages } from '../../server/http/index.ts';
import { setProfile } from '../../server/users/index.ts';
import { giveRecoveryCodes, giveTotp } from '../sign-in/factor-steps.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { rawKeys } from '../views/raw-keys.ts';

const backend = anyBackend;

describe('the settings home', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { USER_MANAGEMENT_URL: 'https://account.example.com' });
  });
  afterAll(() => foyer?.close());

  const member = async (user: Parameters<TestFoyer['addUser']>[0] = {}) => {
    const added = await foyer.addUser(user);
    return { user: added, browser: await foyer.signedIn(added) };
  };

  it('The settings ask a visitor to sign in and return to the address', async () => {
    const answer = await foyer.browser().get('/settings?tab=user-data');
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe(`/?redirect=${encodeURIComponent('/settings?tab=user-data')}`);
  });

  it('Password, passkeys, linked accounts and recovery codes each have one row, and no switch is on and disabled', async () => {
    const { browser, user } = await member();
    await giveTotp(foyer, user);
    await giveRecoveryCodes(foyer, user);
    const panel = async (tab: string) => {
      const html = await (await browser.get(`/settings?tab=${tab}`)).text();
      expect(html).not.toMatch(/<input(?=[^>]* checked="")(?=[^>]* disabled="")/);
      return html.slice(html.indexOf('<main'), html.indexOf('</main>'));
    };
    const panels = await Promise.all(['sign-in', 'mfa-data', 'device-data', 'user-data'].map(panel));
    for (const [path, place] of [
      ['password', 0],
      ['passkeys', 0],
      ['apps', 0],
      ['recovery-codes', 1],
      ['data', 3],
      ['delete-account', 3],
    ] as const) {
      const counts = panels.map((html) => html.split(`href="/settings/${path}"`).length - 1);
      expect([path, ...counts]).toEqual([path, ...[0, 1, 2, 3].map((index) => (index === place ? 1 : 0))]);
    }
    // The deletion is the last of all.
    expect(panels[3]?.lastIndexOf('<section')).toBeLessThan(panels[3]?.indexOf('/settings/delete-account') ?? 0);
  });

  it('The password’s row says when it was last changed, unless that is unknown', async () => {
    const { browser, user } = await member();
    const row = async () => {
      const html = (await (await browser.get('/settings')).text()).replaceAll('<!-- -->', '');
      return /<p class="item-label">Password<\/p><p class="item-value">([^<]*)/
        .exec(html)?.[1]
        ?.replaceAll('\u00a0', ' ')
        .trim();
    };
    const { db } = foyer.deps.database;
    await db.updateTable('users').set({ passwordChangedAt: null }).where('id', '=', user.id).execute();
    expect(await row()).toBe('Encrypted');
    await browser.post('/settings/password', { old_password: password, new_password: 'plenty of horses 7' });
    const today = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' }).format(foyer.deps.now());
    expect(await row()).toBe(`Encrypted, last changed on ${today}`);
  });

  it('The settings ask for new terms first', async () => {
    const { browser } = await member({ acceptedTosVersion: null });
    const answer = await browser.get('/settings');
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toMatch(/^\/tos\?redirect=/);
  });

  it('The settings home has breadcrumb, heading, name, cards, side menu and footer as specified', async () => {
    const { browser, user } = await member({ givenName: 'Vera', familyName: 'Fyfe', phone: '+31612345642' });
    const html = await (await browser.get('/settings')).text();
    expect(html).toMatch(/<nav class="breadcrumb".*Account settings.*aria-current="page">Security</s);
    expect(html).toContain('<h1>Security settings</h1>');
    expect(html).toMatch(/<dt>First name<\/dt><dd>Vera<\/dd>.*<dt>Last name<\/dt><dd>Fyfe<\/dd>/s);
    for (const path of ['name', 'email', 'phone', 'password']) {
      expect(html).toMatch(new RegExp(`href="/settings/${path}"[^>]*>Edit<`));
    }
    const userData = await (await browser.get('/settings?tab=user-data')).text();
    expect(userData).toMatch(/href="\/settings\/profile"[^>]*>Edit</);
    expect(html).toMatch(
      /Email address.*member\d+@example\.com.*Verified.*Phone number.*\+31 6 12345642.*Not verified/s,
    );
    expect(html).toMatch(/Password<.*Encrypted/s);
    for (const name of ['Profile', 'Wallet', 'Team', 'Membership', 'Payment methods']) {
      expect(html).toMatch(
        new RegExp(`<nav class="side-menu".*href="https://account\\.example\\.com/[^"]*"[^>]*>${name}<`, 's'),
      );
    }
    expect(html).toMatch(/href="\/settings" aria-current="page">Security</);
    expect(html).toContain('Terms of Service');
    expect(html).toMatch(/© (?:<!-- -->)?Foyer/);
    expect(html).toContain(user.email);
  });

  it('The settings are linked from the menu of every page of a signed-in user', async () => {
    const { browser } = await member();
    const html = await (await browser.get('/tos')).text();
    expect(html).toMatch(/class="menu-panel".*href="\/settings">Security</s);
  });

  it('The settings home shows the panel of its address and links to all four', async () => {
    const { browser, user } = await member();
    await foyer.deps.database.transaction((trx) =>
      setProfile(trx, user.id, {
        change: { birthdate: '1984-02-29', gender: '1', jobTitle: '<b>Joiner</b>' },
        nowMs: foyer.deps.now(),
      }),
    );
    const shown = async (address: string) => {
      const html = await (await browser.get(address)).text();
      const panels = [...html.matchAll(/<div class="stack" id="panel-([\w-]+)"( hidden="")?>/g)];
      const links = [...html.matchAll(/<a id="panel-([\w-]+)-tab" href="\/settings\?tab=([\w-]+)#panel-([\w-]+)"/g)];
      expect(links.map((link) => link.slice(1))).toEqual(
        ['sign-in', 'mfa-data', 'device-data', 'user-data'].map((name) => [name, name, name]),
      );
      expect(panels.filter(([, , hidden]) => hidden !== undefined)).toEqual([]);
      return { html, shown: panels.map(([, name]) => name) };
    };
    expect((await shown('/settings')).shown).toEqual(['sign-in']);
    const { html, shown: panels } = await shown('/settings?tab=user-data');
    expect(panels).toEqual(['user-data']);
    expect(html).toMatch(/Date of birth<\/dt><dd>(?:29\sFebruary\s1984|February\s29,\s1984)/);
    expect(html).toContain('<dd>Female</dd>');
    expect(html).toContain('&lt;b&gt;Joiner&lt;/b&gt;');
    expect((await shown('/settings?tab=nothing')).shown).toEqual(['sign-in']);
  });

  it('The settings home shows only known notices', async () => {
    const { browser } = await member();
    const said = async (notice: string) => {
      await browser.announce(`settings:${notice}`);
      return (await (await browser.get('/settings')).text()).includes('class="snackbar"');
    };
    expect(await said('name')).toBe(true);
    expect(await said('toString')).toBe(false);
    expect(await said('You have won')).toBe(false);
  });

  it.each(languages)('The settings are complete in the language %s', async (lang) => {
    const { browser } = await member({ locale: lang });
    for (const path of [
      '/settings',
      '/settings?tab=user-data',
      '/settings/name',
      '/settings/profile',
      '/settings/password',
    ]) {
      const html = await (await browser.get(path)).text();
      expect(html).toContain(`<html lang="${lang}"`);
      expect(rawKeys(html)).toEqual([]);
    }
  });
});
