import { insertIdentity, listIdentities } from '../../server/federation/identity-store.ts';
import type { UpstreamIdentity } from '../../server/federation/index.ts';
import { countRecoveryCodes, hasTotp } from '../../server/mfa/index.ts';
import { countPasskeys } from '../../server/passkeys/index.ts';
import { claimUnverifiedUser, findUserByIdentifier, type User } from '../../server/users/index.ts';
import { comeBy, type Kind, pathOf, somebody } from '../federation/steps.ts';
import { memberWithPasskey, signInWith } from '../passkeys/steps.ts';
import {
  appCode,
  giveRecoveryCodes,
  giveTotp,
  isSignedIn,
  memberWithTotp,
  show,
  toChallenge,
} from '../sign-in/factor-steps.ts';
import { codeFor, newAddress, otherThan, profile } from '../sign-up/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { backends } from '../support/stores.ts';

const evilPassword = 'mallory knows 7';
const offerPath = '/federation/link';

describe.each(backends)('attacks on accounts by way of a provider, on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  /** With uniform answers. */
  let silent: TestFoyer;
  beforeAll(async () => {
    providers = await startProviders();
    const limits = { SIGN_UP_LIMIT_ADDRESS: '100000', GUESS_LIMIT_ADDRESS: '100000', GUESS_LIMIT_ACCOUNT: '1000' };
    foyer = await startFoyer(backend, { ...providers.environment(), ...limits });
    const uniform = { PREVENT_USER_EXISTENCE_ERRORS: 'true' };
    silent = await startFoyer(backend, { ...providers.environment(), ...limits, ...uniform });
  });
  afterAll(async () => {
    await foyer?.close();
    await silent?.close();
    await providers?.close();
  });

  const db = () => foyer.stores.database.db;
  const member = (email = '') => findUserByIdentifier(db(), { email });
  const links = async (user: User | undefined) => listIdentities(db(), toUserId(user?.id ?? ''));
  const path = (answer: Response) => pathOf(foyer, answer);
  const by = (browser: Browser, kind: Kind, email: string, more = {}) =>
    comeBy(providers, browser, kind, somebody(providers, kind, { email, ...more }));
  const signIn = (browser: Browser, email: string, secret = password, search = '') =>
    browser.post(`/sign-in${search}`, { username: email, password: secret });

  describe('takeover of an account by an unproven address', () => {
    it.each([
      ['one that the provider does not vouch for', 'google', { emailVerified: false }],
      ['of a provider that says nothing of it', 'facebook', {}],
      ['of a provider that says nothing of it, as well', 'amazon', {}],
      ['outside the company’s own domains, whatever the company says', 'oidc', { emailVerified: true }],
      ['outside the company’s own domains, by SAML', 'saml', {}],
    ] as const)(
      'An attacker does not take over a user’s account by an unproven address: %s',
      async (_what, kind, more) => {
        const victim = await foyer.addUser();
        const mallory = foyer.browser();
        const answer = await by(mallory, kind, victim.email, more);
        expect(new URL(locationOf(answer)).searchParams.get('notice')).toBe('federation-email-taken');
        expect(await isSignedIn(mallory)).toBe(false);
        expect(await links(victim)).toEqual([]);
        expect(path(await mallory.get(offerPath))).toBe('/');
        expect(await member(victim.email)).toEqual(victim);
      },
    );

    it('An address in other letter case is the same address', async () => {
      const victim = await foyer.addUser();
      const mallory = foyer.browser();
      await by(mallory, 'facebook', victim.email.toUpperCase());
      expect(await isSignedIn(mallory)).toBe(false);
      expect((await db().selectFrom('users').select('id').where('email', 'like', victim.email).execute()).length).toBe(
        1,
      );
    });

    it('A proven address of a user leads to an offer to link and does not sign in', async () => {
      const victim = await foyer.addUser();
      const mallory = foyer.browser();
      expect(path(await by(mallory, 'google', victim.email))).toMatch(/notice=federation-offer/);
      expect(await isSignedIn(mallory)).toBe(false);
      expect((await mallory.post(offerPath, { act: 'link' })).status).toBe(303);
      expect(await links(victim)).toEqual([]);
    });
  });

  describe('uniform answers', () => {
    /** What somebody sees and what work it is who tries an address out by a provider. */
    async function tryOut(email: string) {
      const browser = silent.browser();
      const seen: unknown[] = [];
      const rows = async () => {
        const count = async (table: 'outbox' | 'sign_ups') => {
          const from = silent.stores.database.db.selectFrom(table);
          return Number((await from.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirst())?.n);
        };
        return [await count('outbox'), await count('sign_ups')];
      };
      const look = async (act: () => Promise<Response>) => {
        const before = await rows();
        const answer = await act();
        const text = (await answer.text())
          .replaceAll(email, 'EMAIL')
          .replace(/nonce="[^"]*"|challenge&quot;:&quot;[\w-]+|\d+ s\b|waitSeconds&quot;:\d+/g, '');
        const cookies = answer.headers.getSetCookie().map((line) => line.replace(/=[^;]*/, ''));
        const work = (await rows()).map((n, at) => n - (before[at] ?? 0));
        seen.push([answer.status, answer.headers.get('location'), text, cookies, work]);
      };
      await look(() => by(browser, 'facebook', email));
      await look(() => browser.get('/verify-code'));
      for (let n = 0; n < 6; n += 1) await look(() => browser.post('/verify-code', { code: String(100_000 + n) }));
      await look(() => browser.post('/verify-code', { act: 'resend' }));
      await look(() => silent.browser().post('/sign-in', { username: email, password: evilPassword }));
      return seen;
    }

    it('A sign-in by a provider does not reveal whether an address belongs to a user, who is notified by mail', async () => {
      const victim = await silent.addUser();
      expect(await tryOut(victim.email)).toEqual(await tryOut(newAddress()));
      const from = silent.stores.database.db.selectFrom('sign_ups').select('state');
      expect(await from.where('email', '=', victim.email).execute()).toEqual([{ state: 'decoy' }]);
      const mails = await silent.mails(victim.email);
      expect(new Set(mails.map(({ template }) => template))).toEqual(new Set(['account-exists']));
    });
  });

  describe('an account started by a provider', () => {
    it.each([
      ['', () => foyer],
      [' with uniform answers', () => silent],
    ] as const)('An account started by a provider is opened by no password%s', async (_how, house) => {
      const grace = somebody(providers, 'facebook');
      await comeBy(providers, house().browser(), 'facebook', grace);
      for (const guess of [evilPassword, ' ', 'undefined', 'null']) {
        const answer = await house()
          .browser()
          .post('/sign-in', { username: grace.email ?? '', password: guess });
        expect(answer.status).toBe(400);
      }
      expect((await house().mails(grace.email ?? '')).map(({ template }) => template)).toEqual(['verify-email']);
    });

    it('An account started by a provider does not replace a pending sign-up with a password', async () => {
      const email = newAddress();
      await foyer.browser().post('/signup', profile(email, { password: evilPassword }));
      await by(foyer.browser(), 'facebook', email);
      expect(path(await signIn(foyer.browser(), email, evilPassword))).toBe('/verify-code');
    });

    it('The code of an account started by a provider works only in the browser that requested it', async () => {
      const grace = somebody(providers, 'facebook');
      const [browser, mallory] = [foyer.browser(), foyer.browser()];
      await comeBy(providers, browser, 'facebook', grace);
      const code = await codeFor(foyer, grace.email ?? '');
      await mallory.post('/verify-code', { code });
      await comeBy(providers, mallory, 'facebook', somebody(providers, 'facebook', { email: grace.email }));
      const second = await codeFor(foyer, grace.email ?? '');
      if (second !== code) expect((await mallory.post('/verify-code', { code })).status).toBe(400);
      expect((await browser.post('/verify-code', { code: otherThan(code) })).status).toBe(400);
      expect(await member(grace.email)).toBeUndefined();
    });
  });

  describe('an account that an attacker created before its owner', () => {
    it('An attacker who started a sign-up with a password keeps nothing once the owner comes by a provider', async () => {
      for (const house of [foyer, silent]) {
        const ada = somebody(providers, 'google');
        const email = ada.email ?? '';
        const mallory = house.browser();
        await mallory.post('/signup', profile(email, { password: evilPassword }));
        const code = await codeFor(house, email);
        await comeBy(providers, house.browser(), 'google', ada);
        const owner = await findUserByIdentifier(house.stores.database.db, { email });
        expect(owner).toMatchObject({ emailVerified: true, passwordHash: null, givenName: 'Ada' });
        const guessed = await house.browser().post('/sign-in', { username: email, password: evilPassword });
        expect(guessed.headers.get('location')).toBe(house === silent ? '/verify-code' : null);
        // Not even with the very code that was mailed to the owner.
        expect((await mallory.post('/signup/emailCaptured', { code })).status).toBe(409);
        expect(await isSignedIn(mallory)).toBe(false);
        expect(await findUserByIdentifier(house.stores.database.db, { email })).toEqual(owner);
      }
    });

    it('Claiming an unconfirmed account removes its creator’s password, session, factors, passkeys, number and links', async () => {
      const { user, browser: mallory, authenticator } = await memberWithPasskey(foyer);
      const phone = `+49151${String(Date.now()).slice(-8)}`;
      const secret = await giveTotp(foyer, user);
      await giveRecoveryCodes(foyer, user);
      const challenged = foyer.browser();
      await toChallenge(challenged, user);
      const identity: UpstreamIdentity = {
        provider: 'facebook',
        kind: 'facebook',
        issuer: 'https://www.facebook.com',
        subject: user.id,
        email: undefined,
        emailVerified: false,
        givenName: '',
        familyName: '',
        picture: undefined,
        session: { provider: 'facebook' },
      };
      await foyer.stores.database.transaction((trx) => insertIdentity(trx, user.id, identity, 1, { used: false }));
      const unconfirmed = { email_verified: 0, phone, phone_verified: 1 };
      await db().updateTable('users').set(unconfirmed).where('id', '=', user.id).execute();

      const owner = foyer.browser();
      expect((await by(owner, 'google', user.email)).status).toBe(303);
      expect(await isSignedIn(owner)).toBe(true);
      expect(await member(user.email)).toMatchObject({
        id: user.id,
        emailVerified: true,
        passwordHash: null,
        passwordEpoch: user.passwordEpoch + 1,
        mfaPreference: 'none',
        phone: null,
        phoneVerified: false,
      });
      expect(await links(user)).toMatchObject([{ kind: 'google' }]);
      expect([await hasTotp(db(), user.id), await countPasskeys(db(), user.id)]).toEqual([false, 0]);
      expect((await countRecoveryCodes(db(), user.id)).left).toBe(0);
      expect(await isSignedIn(mallory)).toBe(false);
      for (const name of [user.email, phone]) expect((await signIn(foyer.browser(), name)).status).toBe(400);
      expect((await signInWith(foyer.browser(), authenticator)).status).toBe(400);
      await show(challenged, await appCode(foyer, secret));
      expect(await isSignedIn(challenged)).toBe(false);
      expect((await foyer.mails(user.email)).map(({ template }) => template)).toContain('welcome');
    });

    it('An account that is confirmed, disabled or reset at the moment of the claim is not claimed', async () => {
      const names = { givenName: 'Mallory', familyName: '' };
      for (const change of [
        { email_verified: 1 },
        { disabled_at: 1 },
        { password_epoch: 7 },
        { email: newAddress() },
      ]) {
        const user = await foyer.addUser({ emailVerified: false });
        await db().updateTable('users').set(change).where('id', '=', user.id).execute();
        expect(await foyer.stores.database.transaction((trx) => claimUnverifiedUser(trx, user, names, 1))).toBe(false);
      }
    });

    it('An unproven address does not claim an unconfirmed account', async () => {
      const user = await foyer.addUser({ emailVerified: false });
      await by(foyer.browser(), 'facebook', user.email);
      expect(await member(user.email)).toEqual(user);
    });

    it('Of a claim and a confirmation at once, the later one finds the account confirmed', async () => {
      for (let round = 0; round < 3; round += 1) {
        const user = await foyer.addUser({ emailVerified: false });
        const creator = foyer.browser();
        await signIn(creator, user.email);
        const code = await codeFor(foyer, user.email);
        const ada = somebody(providers, 'google', { email: user.email });
        const [confirmed, came] = await Promise.all([
          creator.post('/verify-code', { code }),
          comeBy(providers, foyer.browser(), 'google', ada),
        ]);
        const offered = path(came).includes('notice=federation-offer');
        const now = await member(user.email);
        expect([confirmed.status < 500, now?.emailVerified]).toEqual([true, true]);
        // Confirmed first, it keeps its password, and is offered; taken over first, it has none any more.
        expect([now?.passwordHash === null, (await links(user)).length]).toEqual([!offered, offered ? 0 : 1]);
      }
    });

    it('An account that is claimed twice at once has one owner', async () => {
      const user = await foyer.addUser({ emailVerified: false });
      const ada = somebody(providers, 'google', { email: user.email });
      const answers = await Promise.all([0, 1].map(() => comeBy(providers, foyer.browser(), 'google', ada)));
      expect(answers.map(({ status }) => status)).toEqual([303, 303]);
      expect(await links(user)).toHaveLength(1);
      expect(await member(user.email)).toMatchObject({ passwordEpoch: user.passwordEpoch + 1, passwordHash: null });
    });
  });

  describe('an offered link', () => {
    /** Mallory has come by a provider with the victim's address, which was hers once; her browser has the offer. */
    async function malloryOffered(victim: User) {
      const mallory = foyer.browser();
      await by(mallory, 'google', victim.email, { givenName: 'Mallory' });
      foyer.passTime(1000);
      return mallory;
    }
    const plant = async (from: Browser, into: Browser) => {
      const { foyer_link_offer: offer = '' } = await from.cookies();
      await into.jar.setCookie(`foyer_link_offer=${offer}; Path=/`, foyer.url);
    };

    it('An offer planted in the browser of a signed-in victim is neither shown nor accepted without a new sign-in', async () => {
      const victim = await foyer.addUser();
      const browser = await foyer.signedIn(victim);
      foyer.passTime(1000);
      await plant(await malloryOffered(victim), browser);
      expect(path(await browser.get(offerPath))).toMatch(/^\/re-authenticate\?/);
      expect(path(await browser.post(offerPath, { act: 'link' }))).toMatch(/^\/re-authenticate\?/);
      expect(await links(victim)).toEqual([]);
      // Who signs in all the same is told whose it is, and says no.
      await browser.post(`/re-authenticate?redirect=${offerPath}`, { password });
      expect(await (await browser.get(offerPath)).text()).toContain('Mallory');
      await browser.post(offerPath, { act: 'not-now' });
      expect(await links(victim)).toEqual([]);
    });

    it('A page of another site cannot accept an offered link', async () => {
      const victim = await foyer.addUser();
      const browser = foyer.browser();
      await plant(await malloryOffered(victim), browser);
      await signIn(browser, victim.email);
      const evil = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      expect((await browser.post(offerPath, { act: 'link' }, evil)).status).toBe(403);
      expect((await browser.get(offerPath)).status).toBe(200);
      expect(await links(victim)).toEqual([]);
    });

    it('An offered link ends when another user signs in', async () => {
      const [victim, other] = [await foyer.addUser(), await foyer.addUser()];
      const mallory = await malloryOffered(victim);
      await signIn(mallory, other.email);
      expect((await mallory.post(offerPath, { act: 'link' })).status).toBe(303);
      expect([await links(victim), await links(other)]).toEqual([[], []]);
      await mallory.post('/logout');
      await signIn(mallory, victim.email);
      expect(path(await mallory.get(offerPath))).toBe('/');
    });

    it('An offer for another user in a signed-in browser shows the sign-in form and causes no redirect loop', async () => {
      const [victim, other] = [await foyer.addUser(), await foyer.addUser()];
      const browser = await foyer.signedIn(other);
      foyer.passTime(1000);
      await plant(await malloryOffered(victim), browser);
      const at = path(await browser.get(offerPath));
      expect(at).toMatch(/^\/\?.*forceAuth=1/);
      expect((await browser.get(at)).status).toBe(200);
      expect(await links(other)).toEqual([]);
    });

    it('An offer asks for the second factor first when a remembered device skipped it', async () => {
      const { user: victim, secret } = await memberWithTotp(foyer);
      const browser = foyer.browser();
      await toChallenge(browser, victim);
      await show(browser, await appCode(foyer, secret), { rememberDevice: '1' });
      await browser.post('/logout');
      foyer.passTime(60_000);
      await plant(await malloryOffered(victim), browser);
      expect(path(await signIn(browser, victim.email, password, `?redirect=${offerPath}`))).toBe(offerPath);
      expect(path(await browser.post(offerPath, { act: 'link' }))).toMatch(/^\/re-authenticate\?/);
      expect(await links(victim)).toEqual([]);
      const factor = path(await browser.post(`/re-authenticate?redirect=${offerPath}`, { password }));
      expect(factor).toMatch(/^\/second-factor/);
      expect(path(await browser.post(offerPath, { act: 'link' }))).toMatch(/^\/re-authenticate\?/);
      await show(browser, await appCode(foyer, secret), {}, new URL(factor, foyer.url).search);
      expect((await browser.get(offerPath)).status).toBe(200);
    });

    it('An offer is void once the offered identity is linked to another account', async () => {
      const victim = await foyer.addUser();
      const who = somebody(providers, 'google', { email: victim.email, subject: '31337' });
      const browser = foyer.browser();
      await comeBy(providers, browser, 'google', who);
      await comeBy(providers, foyer.browser(), 'google', { ...who, email: newAddress() });
      await signIn(browser, victim.email);
      const answer = await browser.post(offerPath, { act: 'link' });
      expect(path(answer)).toBe('/settings/providers?notice=federation-linked-elsewhere&provider=google');
      expect(await links(victim)).toEqual([]);
    });
  });
});
