import { sha256 } from '../../server/shared/index.ts';
import { findUser, setMfaPreference } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toSealedText, toUserId } from '../support/ids.ts';
import { routesOf } from '../support/routes.ts';
import { anyBackend } from '../support/stores.ts';

const backend = anyBackend;

/** Forms that need only a session: the first ones change no credential, the others only end access. */
const withoutSecrets = new Set([
  '/settings/picture',
  '/settings/notifications',
  ...['/settings/name', '/settings/profile', '/settings/membership/details'],
  // It leads to the page of the plan, whose button asks.
  '/settings/membership/seats',
  ...['/settings/devices/sign-out', '/settings/devices/sign-out-others', '/settings/devices/forget'],
  ...['/settings/apps/remove', '/settings/notifications'],
]);

/** Addresses that the script of a page calls. */
const ofScripts = new Set(['/settings/membership/card/setup']);

/** Fields that would make a change in any of the forms. */
const typed = {
  given_name: 'Mallory',
  family_name: 'Mallory',
  gender: '2',
  company: 'Evil',
  old_password: 'correct horse 9',
  new_password: 'plenty of horses 7',
  email: 'mallory@example.com',
  phone: '+31612345699',
  code: '123456',
  preference: 'none',
  method: 'none',
};

describe('the settings under attack', () => {
  let foyer: TestFoyer;
  /** Every path under /settings that accepts a form, read from the application itself. */
  let forms: string[];
  let pages: string[];
  beforeAll(async () => {
    // Plans are on sale, so that their forms exist; no refused request reaches Stripe.
    foyer = await startFoyer(backend, {
      STRIPE_SECRET_KEY: 'sk_test_unknown',
      STRIPE_PUBLISHABLE_KEY: 'pk_test_unknown',
      STRIPE_WEBHOOK_SECRET: 'whsec_unknown',
      STRIPE_API_URL: 'http://127.0.0.1:9',
    });
    const routes = routesOf(foyer.app.express).filter(
      ({ path }) => path === '/settings' || path.startsWith('/settings/'),
    );
    forms = routes.filter(({ methods }) => methods.includes('POST')).map(({ path }) => path);
    pages = routes.filter(({ methods }) => methods.includes('GET')).map(({ path }) => path);
  });
  afterAll(() => foyer?.close());

  const rowOf = (id: string) =>
    foyer.deps.database.db.selectFrom('users').selectAll().where('id', '=', toUserId(id)).executeTakeFirstOrThrow();

  it('The test knows every form, including those without secrets', () => {
    expect(forms).toEqual(expect.arrayContaining([...withoutSecrets, '/settings/password']));
    expect(pages).toEqual(expect.arrayContaining(['/settings', ...withoutSecrets, '/settings/password']));
  });

  it.each([
    ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['a sibling subdomain', { origin: 'https://shop.localhost', 'sec-fetch-site': 'same-site' }],
    ['a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
  ])('No settings form is accepted from %s (CSRF)', async (_who, headers) => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const before = await rowOf(user.id);
    for (const path of forms) {
      expect([path, (await browser.post(path, typed, headers)).status]).toEqual([path, 403]);
    }
    expect(await rowOf(user.id)).toEqual(before);
    expect(await foyer.mails(user.email)).toEqual([]);
  });

  it('No page and no form answers a visitor or a disabled user', async () => {
    const user = await foyer.addUser();
    const disabled = await foyer.signedIn(user);
    await foyer.deps.database.db.updateTable('users').set({ disabledAt: 1 }).where('id', '=', user.id).execute();
    for (const browser of [foyer.browser(), disabled]) {
      const answers = [
        ...(await Promise.all(pages.map((path) => browser.get(path)))),
        ...(await Promise.all(forms.map((path) => browser.post(path, typed)))),
      ];
      for (const answer of answers) {
        expect([answer.url, answer.status]).toEqual([answer.url, 303]);
        expect(answer.headers.get('location')).toMatch(/^\/\?redirect=%2Fsettings/);
      }
    }
  });

  it('A stale session changes no credential, because every such form asks for re-authentication first', async () => {
    const user = await foyer.addUser();
    // A user without a second factor enters the password in the form.
    await foyer.deps.database.transaction((trx) =>
      setMfaPreference(trx, user.id, { preference: 'totp', nowMs: foyer.deps.now() }),
    );
    const browser = await staleBrowser(user.id);
    const before = await rowOf(user.id);
    const asked: string[] = [];
    for (const path of forms.filter((form) => !withoutSecrets.has(form))) {
      const answer = await browser.post(path, typed);
      if (ofScripts.has(path)) {
        // A script calls this address and cannot follow a redirect, so it shows the state of its page.
        expect([path, answer.status]).toEqual([path, 403]);
        continue;
      }
      expect([path, answer.status]).toEqual([path, 303]);
      const location = answer.headers.get('location') ?? '';
      expect([path, location]).toEqual([path, `/re-authenticate?redirect=${encodeURIComponent(path)}`]);
      if (pages.includes(path))
        expect([path, (await browser.get(path)).headers.get('location')]).toEqual([path, location]);
      asked.push(path);
    }
    expect(asked.length).toBeGreaterThan(0);
    expect(await rowOf(user.id)).toEqual(before);
    expect(await foyer.mails(user.email)).toEqual([]);
  });

  /** A browser that signed in eleven minutes ago, without a second factor at the sign-in. */
  async function staleBrowser(userId: string): Promise<Browser> {
    const { database, now } = foyer.deps;
    const set = (preference: 'none' | 'totp') =>
      database.transaction((trx) => setMfaPreference(trx, toUserId(userId), { preference, nowMs: now() }));
    await set('none');
    const user = await findUser(database.db, toUserId(userId));
    if (!user) throw new Error('the member is gone');
    const browser = await foyer.signedIn(user);
    await set('totp');
    foyer.passTime(11 * 60_000);
    return browser;
  }

  it('The session decides whose data are changed, never another user’s id in the form', async () => {
    const [mallory, victim] = [await foyer.addUser(), await foyer.addUser()];
    const browser = await foyer.signedIn(mallory);
    const before = await rowOf(victim.id);
    const named = { id: victim.id, user_id: victim.id, userId: victim.id, sub: victim.id, username: victim.email };
    for (const path of ['/settings/name', '/settings/profile', '/settings/password']) {
      await browser.post(`${path}?${new URLSearchParams(named)}`, { ...typed, ...named });
    }
    const json = await browser.postJson('/identity/updateUserAttributes', { ...named, given_name: 'Mallory' });
    expect(json.status).toBe(400);
    expect(await rowOf(victim.id)).toEqual(before);
    expect((await rowOf(mallory.id)).givenName).toBe('Mallory');
    expect(await foyer.mails(victim.email)).toEqual([]);
  });

  it('A mailbox gets at most thirty mails an hour about changes, by page and by call together', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const change = (name: string) => browser.post('/settings/name', { given_name: name, family_name: 'F' });
    for (let n = 0; n < 29; n += 1) expect((await change(`Name ${n}`)).status).toBe(303);
    const call = (name: string) => browser.postJson('/identity/updateUserAttributes', { given_name: name });
    expect((await call('Thirty')).status).toBe(200);
    const refused = [await change('One more'), await call('Two more')];
    for (const answer of refused) {
      expect(answer.status).toBe(429);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(3_000);
    }
    expect((await rowOf(user.id)).givenName).toBe('Thirty');
    // A form that changes nothing and sends no mail is not counted.
    expect((await change('Thirty')).status).toBe(303);
    expect((await foyer.mails(user.email)).length).toBe(30);
  });

  it('Fields that no form has change nothing: no role, no verification, no terms and no plan', async () => {
    const user = await foyer.addUser({ emailVerified: true });
    const browser = await foyer.signedIn(user);
    const before = await rowOf(user.id);
    await browser.post('/settings/profile', {
      gender: '0',
      locale: '',
      email: 'mallory@example.com',
      phone: '+31612345699',
      phone_verified: '1',
      email_verified: '0',
      accepted_tos_version: '99',
      plan_id: '15',
      source: 'appsumo',
      password_hash: 'x',
      mfa_preference: 'none',
    });
    expect(await rowOf(user.id)).toEqual(before);
  });

  describe('what was typed into a form that came too late', () => {
    const page = '/settings/email';
    const typedAddress = 'vera.new@example.com';
    const shown = async (browser: Browser, at = page) => (await (await browser.get(at)).text()).includes(typedAddress);

    /** A user whose form came too late and who has not re-authenticated yet. */
    async function late() {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      foyer.passTime(11 * 60_000);
      const answer = await browser.post(page, { email: typedAddress, password: 'a secret of theirs' });
      expect(answer.headers.get('location')).toBe(`/re-authenticate?redirect=${encodeURIComponent(page)}`);
      const showWho = async () => {
        const back = await browser.post(answer.headers.get('location') ?? '', { password });
        expect([back.status, new URL(back.headers.get('location') ?? '', foyer.url).pathname]).toEqual([303, page]);
      };
      return { user, browser, showWho };
    }

    it('The values of a late form come back once, only in the session that the re-authentication has started', async () => {
      const { browser, showWho } = await late();
      await showWho();
      expect(await shown(browser, '/settings/phone')).toBe(false);
      expect(await shown(browser)).toBe(true);
      expect(await shown(browser)).toBe(false);
    });

    it('Another browser of the same user does not get the values of a late form', async () => {
      const { user, browser, showWho } = await late();
      const other = await foyer.signedIn(user);
      expect(await shown(other)).toBe(false);
      await showWho();
      expect(await shown(browser)).toBe(true);
    });

    it('Another user who signs in with the same browser does not get the values of a late form', async () => {
      const { browser } = await late();
      const next = await foyer.addUser();
      await browser.post('/logout');
      const answer = await browser.post('/sign-in', { username: next.email, password });
      expect(answer.status).toBe(303);
      expect(await shown(browser)).toBe(false);
    });

    it('A planted cookie opens no values of a late form, and of many requests at once one gets them', async () => {
      const { browser, showWho } = await late();
      await showWho();
      const mallory = await foyer.signedIn(await foyer.addUser());
      const cookies = await browser.cookies();
      const id = cookies.foyer_stash;
      if (id === undefined) throw new Error('there is no such cookie');
      await mallory.jar.setCookie(`foyer_stash=${id}; Path=/`, foyer.url);
      expect(await shown(mallory)).toBe(false);
      const taken = await Promise.all(Array.from({ length: 10 }, () => shown(browser)));
      expect(taken.filter(Boolean)).toHaveLength(1);
    });

    it('The values of a late form are kept without unnamed fields, for ten minutes and under a hash of their id', async () => {
      const kept: [string, string, number][] = [];
      const { kv } = foyer.deps;
      const set = kv.set;
      kv.set = async (key, value, ttlMs) => {
        kept.push([key, value, ttlMs]);
        await set.call(kv, key, value, ttlMs);
      };
      const { browser } = await late();
      kv.set = set;
      const mine = kept.filter(([key]) => key.startsWith('settings-stash:'));
      expect(mine).toEqual([
        [expect.stringMatching(/:[\w-]{43,64}$/), expect.not.stringContaining('example.com'), 600_000],
      ]);
      // A reader of the store finds no address in it.
      const [key = '', value = ''] = mine[0] ?? [];
      expect(JSON.parse(foyer.deps.boxes.contact.open(toSealedText(value), key))).toEqual({
        browser: sha256(String((await browser.cookies()).foyer_stash)),
        typed: { email: typedAddress },
      });
      expect(mine[0]?.[0]).not.toContain((await browser.cookies()).foyer_stash);
    });
  });
});
