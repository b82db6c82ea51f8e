import { listIdentities } from '../../server/federation/index.ts';
import {
  findCurrentUser,
  findUserByIdentifier,
  findUserRecord,
  setDisabled,
  type User,
} from '../../server/users/index.ts';
import { codeFor, otherThan } from '../sign-up/steps.ts';
import { type Browser, locationOf, noticeOf } from '../support/browser.ts';
import { password, type TestFoyer } from '../support/foyer.ts';
import { startWithProviders } from '../support/foyer-with-providers.ts';
import { toNormalisedEmail, toSha256, toUserId } from '../support/ids.ts';
import type { TestProviders } from '../support/providers.ts';
import { relyingParty, store } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { answerOf, comeBy, pathOf, pressButton, somebody } from './steps.ts';

describe.each(backends)('users by a provider on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  startWithProviders(
    backend,
    (started) => ({
      ...started.environment((file) => ({ ...file, amazon: { signUp: false } })),
      SIGN_UP_LIMIT_ADDRESS: '100000',
      GUESS_LIMIT_ADDRESS: '100000',
    }),
    (setting) => {
      ({ foyer, providers } = setting);
    },
  );

  const db = () => foyer.stores.database.db;
  const member = (email = '') => findUserByIdentifier(db(), { email: toNormalisedEmail(email) });
  const path = (answer: Response) => pathOf(foyer, answer);
  const isSignedIn = async (browser: Browser) => (await browser.get('/settings')).status !== 303;
  const linksOf = async (user: User | undefined) => listIdentities(db(), toUserId(user?.id ?? ''));
  const notice = (answer: Response) => noticeOf(locationOf(answer));

  describe('a user whose address the provider confirms', () => {
    it('A new user is confirmed, without a password, linked, welcomed by mail and asked to accept the terms', async () => {
      const ada = somebody(providers, 'google');
      const browser = foyer.browser();
      const answer = await comeBy(providers, browser, 'google', ada);
      expect(path(answer)).toMatch(/^\/tos\?/);
      const user = await member(ada.email);
      expect(user).toMatchObject({
        emailVerified: true,
        passwordHash: null,
        givenName: 'Ada',
        familyName: 'Lovelace',
        locale: 'en',
        acceptedTosVersion: null,
        secondFactorRequired: false,
        disabledAt: null,
        source: 'general',
      });
      expect(await findUserRecord(db(), toUserId(user?.id ?? ''))).toBeDefined();
      expect(await linksOf(user)).toMatchObject([
        {
          kind: 'google',
          provider: 'google',
          issuer: 'https://accounts.google.com',
          email: ada.email,
          lastUsedAt: expect.any(Number),
        },
      ]);
      expect(await foyer.mails(ada.email ?? '')).toMatchObject([
        { template: 'welcome', values: { givenName: 'Ada', provider: 'Google' } },
      ]);
      // No password signs in to an account without one.
      const guessed = await foyer.browser().post('/sign-in', { username: ada.email ?? '', password });
      expect(guessed.status).toBe(400);
    });

    it('A linked user signs in by the link, whatever address and name the provider gives later', async () => {
      const ada = somebody(providers, 'google', { subject: '424242424242424242424' });
      await comeBy(providers, foyer.browser(), 'google', ada);
      const user = await member(ada.email);
      foyer.passTime(60_000);
      const browser = foyer.browser();
      const renamed = { ...ada, email: 'renamed@example.com', givenName: 'Augusta' };
      expect((await comeBy(providers, browser, 'google', renamed)).status).toBe(303);
      expect(await isSignedIn(browser)).toBe(false);
      expect(path(await browser.get('/'))).toMatch(/^\/tos/);
      expect(await member('renamed@example.com')).toBeUndefined();
      const [link] = await linksOf(user);
      expect(link).toMatchObject({ email: 'renamed@example.com' });
      expect(link?.lastUsedAt).toBeGreaterThan(link?.linkedAt ?? 0);
      expect(await member(ada.email)).toMatchObject({ id: user?.id, givenName: 'Ada' });
      // An empty password fails too.
      expect(path(await comeBy(providers, foyer.browser(), 'google', { ...ada, email: undefined }))).toMatch(/^\/tos/);
    });

    it('The same subject at another provider is another user', async () => {
      const ada = somebody(providers, 'google', { subject: '777' });
      await comeBy(providers, foyer.browser(), 'google', ada);
      const other = somebody(providers, 'oidc', { subject: '777' });
      await comeBy(providers, foyer.browser(), 'oidc', other);
      expect((await member(other.email))?.id).not.toBe((await member(ada.email))?.id);
    });

    it('A new user gets the language of the browser, which pages then use in every browser', async () => {
      const ada = somebody(providers, 'google');
      const german = foyer.browser();
      german.headers['accept-language'] = 'de';
      await comeBy(providers, german, 'google', ada);
      expect(await member(ada.email)).toMatchObject({ locale: 'de' });
      const elsewhere = foyer.browser();
      const answer = await comeBy(providers, elsewhere, 'google', ada);
      expect(await (await elsewhere.get(path(answer))).text()).toContain('<html lang="de"');
      expect((await member(ada.email))?.locale).toBe('de');
    });

    it('Remember Me is kept during the sign-in at the provider', async () => {
      const ada = somebody(providers, 'google');
      const maxAge = (answer: Response) =>
        answer.headers
          .getSetCookie()
          .find((line) => line.startsWith('foyer_session='))
          ?.includes('Expires=');
      expect(maxAge(await comeBy(providers, foyer.browser(), 'google', ada, { remember: true }))).toBe(true);
      expect(maxAge(await comeBy(providers, foyer.browser(), 'google', ada))).toBe(false);
    });

    it('An empty or too long name is not stored as it is', async () => {
      const odd = somebody(providers, 'oidc', { givenName: '', familyName: 'x'.repeat(400) });
      await comeBy(providers, foyer.browser(), 'oidc', odd);
      const user = await member(odd.email);
      expect(user?.givenName).toBe('');
      expect(user?.familyName.length).toBeLessThanOrEqual(100);
    });

    it('Concurrent answers in tabs or browsers create one user with one link and one welcome mail', async () => {
      for (const browsers of [[foyer.browser()], [foyer.browser(), foyer.browser(), foyer.browser()]]) {
        const ada = somebody(providers, 'google');
        const tabs: [Browser, string][] = [];
        for (let tab = 0; tab < 3; tab += 1) {
          const browser = browsers[tab % browsers.length] as Browser;
          tabs.push([browser, await answerOf(providers, 'google', ada, await pressButton(browser, 'google'))]);
        }
        const answers = await Promise.all(tabs.map(([browser, at]) => browser.get(at, { from: 'cross-site' })));
        expect(answers.map((answer) => path(answer).split('?')[0])).toEqual(['/tos', '/tos', '/tos']);
        expect(await linksOf(await member(ada.email))).toHaveLength(1);
        const mails = await foyer.mails(ada.email ?? '');
        expect(mails.filter(({ template }) => template === 'welcome')).toHaveLength(1);
      }
    });

    it('A provider without sign-up refuses a new user with a notice', async () => {
      const answer = await comeBy(providers, foyer.browser(), 'amazon', somebody(providers, 'amazon'));
      expect(notice(answer)).toBe('federation:sign-up-closed');
    });

    it('An identity without an address creates no user', async () => {
      const answer = await comeBy(providers, foyer.browser(), 'google', providers.people.google.joan, {
        search: '?redirect=%2Fsettings',
      });
      expect(notice(answer)).toBe('federation:no-email');
      expect(new URL(locationOf(answer)).searchParams.get('redirect')).toBe('/settings');
    });

    it('A disabled user is refused, by the link and by the address', async () => {
      const ada = somebody(providers, 'google');
      await comeBy(providers, foyer.browser(), 'google', ada);
      const user = await member(ada.email);
      await setDisabled(db(), toUserId(user?.id ?? ''), { disabledAt: foyer.deps.now(), nowMs: foyer.deps.now() });
      const browser = foyer.browser();
      expect(notice(await comeBy(providers, browser, 'google', ada))).toBe('federation:disabled');
      const other = await foyer.addUser();
      await setDisabled(db(), other.id, { disabledAt: foyer.deps.now(), nowMs: foyer.deps.now() });
      const same = somebody(providers, 'google', { email: other.email });
      expect(notice(await comeBy(providers, browser, 'google', same))).toBe('federation:disabled');
      expect((await browser.cookies()).foyer_session).toBeUndefined();
    });

    it('Attack: an address that is reserved for its former owner creates no user', async () => {
      const user = await foyer.addUser();
      const kept = user.email;
      const nowMs = foyer.deps.now();
      await db()
        .updateTable('users')
        .set({ email: toNormalisedEmail('moved@example.com') })
        .where('id', '=', user.id)
        .execute();
      const change = {
        id: crypto.randomUUID(),
        userId: user.id,
        oldEmail: kept,
        newEmail: toNormalisedEmail('moved@example.com'),
      };
      await db()
        .insertInto('emailChanges')
        .values({ ...change, undoHash: toSha256('x'), changedAt: nowMs, undoUntil: nowMs + 60_000, undoneAt: null })
        .execute();
      const answer = await comeBy(providers, foyer.browser(), 'google', somebody(providers, 'google', { email: kept }));
      expect(notice(answer)).toBe('federation:email-taken');
      expect(await member(kept)).toBeUndefined();
    });

    it('A user who asked for deletion and signs in by a link cancels the deletion', async () => {
      const ada = somebody(providers, 'google');
      await comeBy(providers, foyer.browser(), 'google', ada);
      const user = (await member(ada.email)) as User;
      const nowMs = foyer.deps.now();
      await db()
        .insertInto('accountDeletions')
        .values({ userId: user.id, requestedAt: nowMs, dueAt: nowMs + 60_000, membership: null })
        .execute();
      await comeBy(providers, foyer.browser(), 'google', ada);
      expect(await db().selectFrom('accountDeletions').selectAll().where('userId', '=', user.id).execute()).toEqual([]);
      const mails = await foyer.mails(ada.email ?? '');
      expect(mails.map(({ template }) => template)).toContain('deletion-cancelled');
    });
  });

  describe('a user whose address the provider does not confirm', () => {
    const codePath = '/verify-code';

    it('An unconfirmed address needs a code; then the user exists, without a password and with the link', async () => {
      const grace = somebody(providers, 'facebook');
      const browser = foyer.browser();
      expect(path(await comeBy(providers, browser, 'facebook', grace))).toBe(codePath);
      expect(await member(grace.email)).toBeUndefined();
      const page = await (await browser.get(codePath)).text();
      expect(page).toContain(grace.email);
      const code = await codeFor(foyer, grace.email ?? '');
      expect((await browser.post(codePath, { code: otherThan(code) })).status).toBe(400);
      await browser.post(codePath, { code });
      const user = await member(grace.email);
      expect(user).toMatchObject({ emailVerified: true, passwordHash: null, givenName: 'Ada' });
      expect(await linksOf(user)).toMatchObject([{ kind: 'facebook', email: grace.email }]);
      expect((await foyer.mails(grace.email ?? '')).at(-1)).toMatchObject({
        template: 'welcome',
        values: { provider: 'Facebook' },
      });
      const begun = await db()
        .selectFrom('signUps')
        .selectAll()
        .where('email', '=', toNormalisedEmail(grace.email ?? ''))
        .execute();
      expect(begun).toMatchObject([{ state: 'confirmed', identity: null, passwordHash: '' }]);
      expect(path(await browser.get('/'))).toMatch(/^\/tos/);
      // From now on the link alone signs in.
      expect(path(await comeBy(providers, foyer.browser(), 'facebook', grace))).toMatch(/^\/tos/);
    });

    it('A client’s request waits for the code and then gets the user with amr fed and acr aal1', async () => {
      const client = await relyingParty(foyer, await foyer.addClient());
      const grace = somebody(providers, 'facebook');
      const browser = foyer.browser();
      const begun = await client.begin();
      const { search } = new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
      const at = path(await comeBy(providers, browser, 'facebook', grace, { search, remember: true }));
      expect(at).toBe(`${codePath}${search}`);
      await browser.post(at, { code: await codeFor(foyer, grace.email ?? '') });
      const user = await member(grace.email);
      const { number } = foyer.deps.terms;
      await db()
        .updateTable('users')
        .set({ acceptedTosVersion: number })
        .where('id', '=', toUserId(user?.id ?? ''))
        .execute();
      const verify = locationOf(await browser.get(`/${search}`));
      const tokens = await client.redeem(locationOf(await browser.get(await store(browser, verify))), begun);
      expect(tokens.claims()).toMatchObject({ sub: user?.id, amr: ['fed'], acr: 'aal1' });
    });

    it('An address of an existing user gets a notice, and no mail is sent and no sign-up is started', async () => {
      const { email } = await foyer.addUser();
      const answer = await comeBy(providers, foyer.browser(), 'facebook', somebody(providers, 'facebook', { email }));
      expect(notice(answer)).toBe('federation:email-taken');
      expect(await foyer.mails(email)).toEqual([]);
      expect(await db().selectFrom('signUps').selectAll().where('email', '=', email).execute()).toEqual([]);
    });

    it('When two sign-ups for one identity exist, the first confirmed one counts and the other code is refused', async () => {
      const grace = somebody(providers, 'facebook');
      const [one, two] = [foyer.browser(), foyer.browser()];
      await comeBy(providers, one, 'facebook', grace);
      const first = await codeFor(foyer, grace.email ?? '');
      await comeBy(providers, two, 'facebook', grace);
      const second = await codeFor(foyer, grace.email ?? '');
      await two.post(codePath, { code: second });
      expect((await one.post(codePath, { code: first })).status).toBe(409);
      expect(await linksOf(await member(grace.email))).toHaveLength(1);
    });
  });

  it('The cache of users has the new user', async () => {
    const ada = somebody(providers, 'google');
    await comeBy(providers, foyer.browser(), 'google', ada);
    const user = (await member(ada.email)) as User;
    expect(await findCurrentUser(foyer.stores.database, user.id)).toEqual(user);
  });
});
