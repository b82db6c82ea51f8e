import { providerKinds, standardKinds, standardProviders } from '../../config/standard-providers.ts';
import { findUser } from '../../server/users/index.ts';
import { comeBy, somebody } from '../federation/steps.ts';
import { addPasskey, memberWithPasskey } from '../passkeys/steps.ts';
import { read } from '../password/steps.ts';
import { Authenticator } from '../support/authenticator.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startWithProviders } from '../support/foyer-with-providers.ts';
import { toProviderId } from '../support/ids.ts';
import type { TestProviders } from '../support/providers.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';
import { sidOf, toldApp } from '../support/told-app.ts';
import {
  beginLink,
  ledTo,
  link,
  linkPath,
  linksOf,
  memberBy,
  providersPath,
  removePath,
  toldOf,
} from './provider-steps.ts';

const backend = anyBackend;

const done = (act: string) => [303, `${providersPath}#providers:${act}`];

describe('linked accounts in the settings', () => {
  let foyer: TestFoyer;
  let providers: TestProviders;
  startWithProviders(
    backend,
    (started) => ({ ...started.environment(), GUESS_LIMIT_ADDRESS: '100000' }),
    (setting) => {
      ({ foyer, providers } = setting);
    },
  );

  const page = async (browser: Awaited<ReturnType<TestFoyer['signedIn']>>, path = providersPath) =>
    read(await browser.get(path));

  it('The settings greet a member whom a provider has brought in the first hour, with a link to the marketplace', async () => {
    const { user, browser } = await memberBy(foyer, providers, 'google', somebody(providers, 'google'));
    const html = await (await browser.get('/settings')).text();
    expect(html).toContain(`Welcome, ${user.givenName}`);
    expect(html).toMatch(/<a href="\/sandbox\/search">Go to the marketplace<\/a>/);
    const byPassword = await foyer.signedIn(await foyer.addUser());
    expect(await page(byPassword, '/settings')).not.toContain('Go to the marketplace');
    const { db } = foyer.deps.database;
    await db
      .updateTable('users')
      .set({ createdAt: foyer.deps.now() - 61 * 60_000 })
      .where('id', '=', user.id)
      .execute();
    expect(await page(browser, '/settings')).not.toContain('Go to the marketplace');
  });

  it('Each provider is offered, linked by a sign-in at it, reported by mail, and then signs the user in', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const before = await page(browser);
    expect(before).toContain('No linked account yet');
    for (const name of [...standardKinds.map((kind) => standardProviders[kind].name), 'Acme', 'Acme Corporate'])
      expect(before).toContain(`Link ${name}`);
    expect(before).toContain('Signing out here doesn’t sign you out there.');
    expect(await page(browser, '/settings')).toContain('Linked accounts None yet Manage');

    const who = somebody(providers, 'google');
    expect(await page(browser, linkPath('google'))).toContain('Sign in at Google, then come back.');
    expect(ledTo(await link(providers, browser, 'google', who))).toEqual(done('linked'));
    const after = await page(browser, `${providersPath}#providers:linked`);
    expect(after).toContain('The account has been linked.');
    expect(after).toMatch(new RegExp(`Google ${who.email} Linked .*, not used yet`));
    expect(after).not.toContain('Link Google');
    expect(await page(browser, '/settings')).toContain('Linked accounts Google Manage');
    expect(await toldOf(foyer, user.email)).toEqual([['provider-linked', `Google (${who.email})`]]);

    expect((await comeBy(providers, foyer.browser(), 'google', who)).status).toBe(303);
    expect(await page(browser)).toMatch(/Linked .*, last used /);
    expect(await linksOf(foyer, user)).toMatchObject([{ provider: 'google', email: who.email }]);
  });

  it.each(providerKinds.filter((kind) => kind !== 'google'))('An account of %s can be linked', async (kind) => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    expect(ledTo(await link(providers, browser, kind, somebody(providers, kind)))).toEqual(done('linked'));
    expect(await linksOf(foyer, user)).toMatchObject([{ kind }]);
    // Only the SAML provider has a single logout.
    expect((await page(browser)).includes('Signing out here signs you out at Acme Corporate, too')).toBe(
      kind === 'saml',
    );
  });

  it('An account with another address or none can be linked, because the user is signed in', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const who = somebody(providers, 'facebook', { email: undefined, emailVerified: false });
    expect(ledTo(await link(providers, browser, 'facebook', who))).toEqual(done('linked'));
    expect(await page(browser)).toMatch(/Facebook Linked /);
    expect((await findUser(foyer.deps.database.db, user.id))?.email).toBe(user.email);
  });

  it('Linking the same account twice gives one link and one mail', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const who = somebody(providers, 'google');
    for (const _ of [1, 2]) expect(ledTo(await link(providers, browser, 'google', who))).toEqual(done('linked'));
    expect(await linksOf(foyer, user)).toHaveLength(1);
    expect(await toldOf(foyer, user.email)).toHaveLength(1);
  });

  it('A link attempt that ends at the provider returns with the reason and links nothing', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    providers.answerAs('refuse', 'google');
    const refused = await sendRequest(await beginLink(browser, 'google'), { redirect: 'manual' });
    const back = await browser.get(refused.headers.get('location') ?? '');
    expect(ledTo(back)).toEqual([303, `${providersPath}#federation:cancelled/google`]);
    const text = await page(browser, back.headers.get('location') ?? '');
    expect(text).toContain('You came back from Google without signing in there.');
    expect(await linksOf(foyer, user)).toEqual([]);
  });

  it('In a browser inside another app the page says what to do and has no button', async () => {
    const browser = await foyer.signedIn(await foyer.addUser());
    const inApp = {
      'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Instagram 300',
    };
    const html = await (await browser.get(linkPath('google'), { headers: inApp })).text();
    expect(html).toContain('doesn’t work inside another app');
    expect(html).not.toContain('Go to Google');
  });

  it('A link that is removed is reported by mail and no longer signs the user in', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const who = somebody(providers, 'google');
    await link(providers, browser, 'google', who);
    const [made] = await linksOf(foyer, user);
    const path = removePath(made?.id ?? '');
    const elsewhere = foyer.browser();
    await comeBy(providers, elsewhere, 'google', who);
    const app = await toldApp(foyer);
    await app.tokens(browser, user);
    const there = sidOf(await app.tokens(elsewhere, user));
    expect(await page(browser, path)).toContain(`Google (${who.email}) won’t sign you in here any more.`);
    for (const [status] of [done('removed'), [404]]) expect((await browser.post(path)).status).toBe(status);
    expect(await linksOf(foyer, user)).toEqual([]);
    expect((await toldOf(foyer, user.email)).at(-1)).toEqual(['provider-removed', `Google (${who.email})`]);
    // Sessions of this provider end, and client apps are notified.
    expect(await app.heard()).toEqual([there]);
    await app.close();
    // The unlinked account now creates a new user.
    const visitor = foyer.browser();
    await comeBy(providers, visitor, 'google', who);
    expect(await linksOf(foyer, user)).toEqual([]);
  });

  describe('the last sign-in method', () => {
    it('The last link cannot be removed until there is a password', async () => {
      const { user, browser } = await memberBy(foyer, providers, 'google', somebody(providers, 'google'));
      // The mail must not say that somebody knows a password that does not exist.
      const newDevice = (await foyer.mails(user.email)).find(({ template }) => template === 'new-device');
      expect(newDevice?.text).toContain('Set a password now');
      expect(newDevice?.text).not.toContain('knows your password');
      const path = removePath((await linksOf(foyer, user))[0]?.id ?? '');
      const text = await page(browser, path);
      expect(text).toContain('You have no other way to sign in yet. Set a password first');
      const refused = await browser.post(path);
      expect(refused.status).toBe(409);
      expect(await read(refused)).toContain('Set a password first');
      expect(await linksOf(foyer, user)).toHaveLength(1);

      expect(await page(browser, '/settings')).toContain('Password None Set Password');
      const form = await page(browser, '/settings/password');
      expect(form).toContain('Set a password');
      expect(form).not.toContain('Current password');
      expect((await browser.post('/settings/password', { new_password: 'short' })).status).toBe(400);
      const set = await browser.post('/settings/password', { new_password: 'plenty of horses 7' });
      expect(ledTo(set)).toEqual([303, '/settings#settings:password-first']);
      expect(await page(browser, '/settings#settings:password-first')).toContain('Your password has been set.');
      const signIn = { username: user.email, password: 'plenty of horses 7' };
      expect((await foyer.browser().post('/sign-in', signIn)).status).toBe(303);
      expect(ledTo(await browser.post(path))).toEqual(done('removed'));
    });

    it('The last link can be removed when another link or a passkey remains', async () => {
      const { user, browser } = await memberBy(foyer, providers, 'google', somebody(providers, 'google'));
      await link(providers, browser, 'oidc', somebody(providers, 'oidc'));
      const [google, acme] = (await linksOf(foyer, user)).map(({ id }) => removePath(id));
      expect((await browser.post(google ?? '')).status).toBe(303);
      expect((await browser.post(acme ?? '')).status).toBe(409);
      await addPasskey(browser, new Authenticator(foyer.url));
      expect((await browser.post(acme ?? '')).status).toBe(303);
      expect(await page(browser, '/settings')).toContain('Passkeys 1 passkey Manage Passkeys Linked accounts None yet');
    });

    it('The last passkey cannot be removed', async () => {
      const { user, browser } = await memberWithPasskey(foyer);
      const { db } = foyer.deps.database;
      const { id } = await db
        .selectFrom('passkeys')
        .select('id')
        .where('userId', '=', user.id)
        .executeTakeFirstOrThrow();
      const path = `/settings/passkeys/remove?${new URLSearchParams({ passkey: id })}`;
      await db.updateTable('users').set({ passwordHash: null }).where('id', '=', user.id).execute();
      expect(await page(browser, path)).toContain('Set a password first');
      expect((await browser.post(path)).status).toBe(409);
      await db.updateTable('users').set({ passwordHash: user.passwordHash }).where('id', '=', user.id).execute();
      expect((await browser.post(path)).status).toBe(303);
    });

    it('A link of a provider that is no longer configured can be removed and does not count as a sign-in method', async () => {
      const { user, browser } = await memberBy(foyer, providers, 'google', somebody(providers, 'google'));
      await link(providers, browser, 'oidc', somebody(providers, 'oidc'));
      const { db } = foyer.deps.database;
      const gone = { provider: toProviderId('closed-shop'), issuer: 'https://shop.example/realm', email: null };
      await db
        .updateTable('federatedIdentities')
        .set(gone)
        .where('userId', '=', user.id)
        .where('kind', '=', 'oidc')
        .execute();
      expect(await page(browser)).toMatch(/S shop\.example Linked [^<]*Not offered any more/);
      const [google, shop] = await linksOf(foyer, user);
      expect((await browser.post(removePath(google?.id ?? ''))).status).toBe(409);
      expect((await browser.post(removePath(shop?.id ?? ''))).status).toBe(303);
    });
  });
});

describe('linked accounts without a configured provider', () => {
  it('Without a provider the page says so, and the settings home has no row for it', async () => {
    const foyer = await startFoyer(backend);
    try {
      const browser = await foyer.signedIn(await foyer.addUser());
      expect(await read(await browser.get(providersPath))).toContain('No provider is offered here at present.');
      expect(await read(await browser.get('/settings'))).not.toContain('Linked accounts');
      expect((await browser.get(linkPath('google'))).status).toBe(404);
    } finally {
      await foyer.close();
    }
  });
});
