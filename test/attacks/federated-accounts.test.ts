import type { User } from '../../server/users/index.ts';
import { comeBy, somebody } from '../federation/steps.ts';
import { appCode, memberWithTotp, show, toChallenge } from '../sign-in/factor-steps.ts';
import { codeFor, newAddress, otherThan, profile } from '../sign-up/steps.ts';
import type { Browser } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { setUpFederatedAccounts } from './federated-accounts-steps.ts';

const evilPassword = 'mallory knows 7';
const offerPath = '/federation/link';

describe.each(backends)('attacks on accounts by way of a provider, on $name', (backend) => {
  const context = setUpFederatedAccounts(backend);
  const { member, links, path, by, signIn } = context;

  describe('uniform answers', () => {
    /** The answers and the work for a person who tries an address by a provider. */
    async function tryOut(email: string) {
      const browser = context.silent.browser();
      const seen: unknown[] = [];
      const rows = async () => {
        const count = async (table: 'outbox' | 'signUps') => {
          const from = context.silent.stores.database.db.selectFrom(table);
          return Number((await from.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirst())?.n);
        };
        return [await count('outbox'), await count('signUps')];
      };
      const look = async (act: () => Promise<Response>) => {
        const before = await rows();
        const answer = await act();
        const text = (await answer.text())
          .replaceAll(email, 'EMAIL')
          // Each visitor reads when their own code was sent.
          .replace(/<time dateTime="[^"]*">[^<]*/g, '<time>')
          .replace(/nonce="[^"]*"|challenge&quot;:&quot;[\w-]+|\d+ s\b|waitSeconds&quot;:\d+/g, '');
        const cookies = answer.headers.getSetCookie().map((line) => line.replace(/=[^;]*/, ''));
        const work = (await rows()).map((n, at) => n - (before[at] ?? 0));
        seen.push([answer.status, answer.headers.get('location'), text, cookies, work]);
      };
      await look(() => by(browser, 'facebook', email));
      await look(() => browser.get('/verify-code'));
      for (let n = 0; n < 6; n += 1) await look(() => browser.post('/verify-code', { code: String(100_000 + n) }));
      await look(() => browser.post('/verify-code', { act: 'resend' }));
      await look(() => context.silent.browser().post('/sign-in', { username: email, password: evilPassword }));
      return seen;
    }

    it('A sign-in by a provider does not reveal whether an address belongs to a user, who is notified by mail', async () => {
      const victim = await context.silent.addUser();
      expect(await tryOut(victim.email)).toEqual(await tryOut(newAddress()));
      const from = context.silent.stores.database.db.selectFrom('signUps').select('state');
      expect(await from.where('email', '=', victim.email).execute()).toEqual([{ state: 'decoy' }]);
      const mails = await context.silent.mails(victim.email);
      expect(new Set(mails.map(({ template }) => template))).toEqual(new Set(['account-exists']));
    });
  });

  describe('an account started by a provider', () => {
    it.each([
      ['', () => context.foyer],
      [' with uniform answers', () => context.silent],
    ] as const)('An account started by a provider is opened by no password%s', async (_how, house) => {
      const grace = somebody(context.providers, 'facebook');
      await comeBy(context.providers, house().browser(), 'facebook', grace);
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
      await context.foyer.browser().post('/signup', profile(email, { password: evilPassword }));
      await by(context.foyer.browser(), 'facebook', email);
      expect(path(await signIn(context.foyer.browser(), email, evilPassword))).toBe('/verify-code');
    });

    it('The code of an account started by a provider works only in the browser that requested it', async () => {
      const grace = somebody(context.providers, 'facebook');
      const [browser, mallory] = [context.foyer.browser(), context.foyer.browser()];
      await comeBy(context.providers, browser, 'facebook', grace);
      const code = await codeFor(context.foyer, grace.email ?? '');
      await mallory.post('/verify-code', { code });
      await comeBy(
        context.providers,
        mallory,
        'facebook',
        somebody(context.providers, 'facebook', { email: grace.email }),
      );
      const second = await codeFor(context.foyer, grace.email ?? '');
      if (second !== code) expect((await mallory.post('/verify-code', { code })).status).toBe(400);
      expect((await browser.post('/verify-code', { code: otherThan(code) })).status).toBe(400);
      expect(await member(grace.email)).toBeUndefined();
    });
  });

  describe('an offered link', () => {
    /**
     * Mallory signs in at a provider with the victim's address, which was hers once; her browser gets the offer to
     * link.
     */
    async function malloryOffered(victim: User) {
      const mallory = context.foyer.browser();
      await by(mallory, 'google', victim.email, { givenName: 'Mallory' });
      context.foyer.passTime(1000);
      return mallory;
    }
    const plant = async (from: Browser, into: Browser) => {
      const { foyer_link_offer: offer = '' } = await from.cookies();
      await into.jar.setCookie(`foyer_link_offer=${offer}; Path=/`, context.foyer.url);
    };

    it('An offer planted in the browser of a signed-in victim is neither shown nor accepted without a new sign-in', async () => {
      const victim = await context.foyer.addUser();
      const browser = await context.foyer.signedIn(victim);
      context.foyer.passTime(1000);
      await plant(await malloryOffered(victim), browser);
      expect(path(await browser.get(offerPath))).toMatch(/^\/re-authenticate\?/);
      expect(path(await browser.post(offerPath, { act: 'link' }))).toMatch(/^\/re-authenticate\?/);
      expect(await links(victim)).toEqual([]);
      // A victim who signs in nevertheless sees whose identity it is and declines.
      await browser.post(`/re-authenticate?redirect=${offerPath}`, { password });
      expect(await (await browser.get(offerPath)).text()).toContain('Mallory');
      await browser.post(offerPath, { act: 'not-now' });
      expect(await links(victim)).toEqual([]);
    });

    it('A page of another site cannot accept an offered link', async () => {
      const victim = await context.foyer.addUser();
      const browser = context.foyer.browser();
      await plant(await malloryOffered(victim), browser);
      await signIn(browser, victim.email);
      const evil = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      expect((await browser.post(offerPath, { act: 'link' }, evil)).status).toBe(403);
      expect((await browser.get(offerPath)).status).toBe(200);
      expect(await links(victim)).toEqual([]);
    });

    it('An offered link ends when another user signs in', async () => {
      const [victim, other] = [await context.foyer.addUser(), await context.foyer.addUser()];
      const mallory = await malloryOffered(victim);
      await signIn(mallory, other.email);
      expect((await mallory.post(offerPath, { act: 'link' })).status).toBe(303);
      expect([await links(victim), await links(other)]).toEqual([[], []]);
      await mallory.post('/logout');
      await signIn(mallory, victim.email);
      expect(path(await mallory.get(offerPath))).toBe('/');
    });

    it('An offer for another user in a signed-in browser shows the sign-in form and causes no redirect loop', async () => {
      const [victim, other] = [await context.foyer.addUser(), await context.foyer.addUser()];
      const browser = await context.foyer.signedIn(other);
      context.foyer.passTime(1000);
      await plant(await malloryOffered(victim), browser);
      const at = path(await browser.get(offerPath));
      expect(at).toMatch(/^\/\?.*forceAuth=1/);
      expect((await browser.get(at)).status).toBe(200);
      expect(await links(other)).toEqual([]);
    });

    it('An offer asks for the second factor first when a remembered device skipped it', async () => {
      const { user: victim, secret } = await memberWithTotp(context.foyer);
      const browser = context.foyer.browser();
      await toChallenge(browser, victim);
      await show(browser, await appCode(context.foyer, secret), { rememberDevice: '1' });
      await browser.post('/logout');
      context.foyer.passTime(60_000);
      await plant(await malloryOffered(victim), browser);
      expect(path(await signIn(browser, victim.email, password, `?redirect=${offerPath}`))).toBe(offerPath);
      expect(path(await browser.post(offerPath, { act: 'link' }))).toMatch(/^\/re-authenticate\?/);
      expect(await links(victim)).toEqual([]);
      const factor = path(await browser.post(`/re-authenticate?redirect=${offerPath}`, { password }));
      expect(factor).toMatch(/^\/second-factor/);
      expect(path(await browser.post(offerPath, { act: 'link' }))).toMatch(/^\/re-authenticate\?/);
      await show(browser, await appCode(context.foyer, secret), {}, new URL(factor, context.foyer.url).search);
      expect((await browser.get(offerPath)).status).toBe(200);
    });

    it('An offer is void once the offered identity is linked to another account', async () => {
      const victim = await context.foyer.addUser();
      const who = somebody(context.providers, 'google', { email: victim.email, subject: '31337' });
      const browser = context.foyer.browser();
      await comeBy(context.providers, browser, 'google', who);
      await comeBy(context.providers, context.foyer.browser(), 'google', { ...who, email: newAddress() });
      await signIn(browser, victim.email);
      const answer = await browser.post(offerPath, { act: 'link' });
      expect(path(answer)).toBe('/settings/providers#federation:linked-elsewhere/google');
      expect(await links(victim)).toEqual([]);
    });
  });
});
