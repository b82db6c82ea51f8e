import { attemptMs } from '../../server/federation/attempts.ts';
import { listIdentities } from '../../server/federation/index.ts';
import { findUserByIdentifier } from '../../server/users/index.ts';
import { answerOf, comeBy, type Kind, pathOf, pressButton, somebody } from '../federation/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { relyingParty } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

const kinds = ['google', 'facebook', 'amazon', 'oidc'] as const;
const ids = { google: 'google', facebook: 'facebook', amazon: 'amazon', oidc: 'acme-oidc', saml: 'acme-saml' } as const;

/** OAuth's attacks on whoever signs in by a provider (RFC 6819; RFC 9700). */
describe.each(backends)('signing in by a provider on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  beforeAll(async () => {
    providers = await startProviders();
    foyer = await startFoyer(backend, {
      ...providers.environment(),
      SIGN_UP_LIMIT_ADDRESS: '100000',
      GUESS_LIMIT_ADDRESS: '100000',
    });
  });
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  const member = (email = '') => findUserByIdentifier(foyer.stores.database.db, { email });
  /** Whoever is new is led to the terms; whoever is nobody, to the sign-in page. */
  const signedIn = async (browser: Browser) => {
    const answer = await browser.get('/settings');
    return answer.status === 200 || new URL(locationOf(answer)).pathname === '/tos';
  };
  /** A browser comes to an address from the provider, or from wherever somebody has put a link to it. */
  const open = (browser: Browser, url: string) => browser.get(url, { from: 'cross-site' });
  const endAt = (address: string) => {
    const url = new URL(address);
    return { path: url.pathname, notice: url.searchParams.get('notice'), provider: url.searchParams.get('provider') };
  };
  const end = (answer: Response) => endAt(locationOf(answer));
  const refused = (why: string, kind: Kind = 'google') => ({
    path: '/',
    notice: `federation-${why}`,
    provider: ids[kind],
  });
  /** Somebody with an account here who comes by this provider, and the address with which the provider answers. */
  async function answerFor(browser: Browser, kind: Kind = 'google', search = '') {
    const person = somebody(providers, kind);
    const address = await pressButton(browser, kind, { search });
    return { person, answer: await answerOf(providers, kind, person, address) };
  }
  const lines = (detail: string) =>
    foyer
      .logged()
      .split('\n')
      .filter((line) => line.includes(`"detail":"${detail}"`));

  describe('login CSRF: the attacker’s own answer in the victim’s browser', () => {
    it.each(kinds)(
      'The attacker’s %s answer does not sign the victim’s browser in, with or without an attempt of its own',
      async (kind) => {
        const attacker = foyer.browser();
        const { answer } = await answerFor(attacker, kind);
        const [bare, busy] = [foyer.browser(), foyer.browser()];
        await pressButton(busy, kind);
        for (const victim of [bare, busy]) {
          const given = await open(victim, answer);
          expect(end(given)).toEqual(refused('foreign', kind));
          expect(await signedIn(victim)).toBe(false);
        }
      },
    );

    it('An answer opened in a foreign browser does not spoil the attempt that it belongs to', async () => {
      const owner = foyer.browser();
      const { answer } = await answerFor(owner);
      await open(foyer.browser(), answer);
      expect((await open(owner, answer)).status).toBe(303);
      expect(await signedIn(owner)).toBe(true);
    });

    it('A signed-in browser that opens the attacker’s answer stays signed in as its user', async () => {
      const victim = await foyer.addUser();
      const browser = await foyer.signedIn(victim);
      const { answer } = await answerFor(foyer.browser());
      expect(end(await open(browser, answer))).toEqual(refused('foreign'));
      expect(await (await browser.get('/settings')).text()).toContain(victim.email);
    });
  });

  describe('state', () => {
    it.each(kinds)('A %s answer whose state is missing, empty, made up or changed is refused', async (kind) => {
      const browser = foyer.browser();
      const { answer } = await answerFor(browser, kind);
      const state = new URL(answer).searchParams.get('state') ?? '';
      const changed = `${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}`;
      for (const wrong of [undefined, '', 'x', 'x'.repeat(43), changed, `${state}x`, '../..', '%00']) {
        const url = new URL(answer);
        if (wrong === undefined) url.searchParams.delete('state');
        else url.searchParams.set('state', wrong);
        expect(end(await open(browser, url.href))).toEqual(refused('foreign', kind));
      }
      expect(await signedIn(browser)).toBe(false);
    });

    it('A state that is given twice is refused', async () => {
      const browser = foyer.browser();
      const { answer } = await answerFor(browser);
      const state = new URL(answer).searchParams.get('state');
      expect(end(await open(browser, `${answer}&state=${state}`))).toEqual(refused('foreign'));
      expect(await signedIn(browser)).toBe(false);
    });

    it('A state is 43 random characters without a meaning, and each attempt has its own', async () => {
      const browser = foyer.browser();
      const states = await Promise.all(
        [1, 2, 3].map(async () => new URL(await pressButton(browser, 'google')).searchParams.get('state') ?? ''),
      );
      for (const state of states) expect(state).toMatch(/^[\w-]{43}$/);
      expect(new Set(states).size).toBe(3);
    });
  });

  describe('code injection: the victim’s code with the attacker’s own state', () => {
    it.each(kinds)('The victim’s %s code with the attacker’s own state signs in no user', async (kind) => {
      const victim = somebody(providers, kind);
      await comeBy(providers, foyer.browser(), kind, victim);
      const stolen = await answerOf(providers, kind, victim, await pressButton(foyer.browser(), kind));
      const attacker = foyer.browser();
      const { answer } = await answerFor(attacker, kind);
      const url = new URL(answer);
      url.searchParams.set('code', new URL(stolen).searchParams.get('code') ?? '');
      expect(end(await open(attacker, url.href))).toEqual(refused('invalid', kind));
      expect(await signedIn(attacker)).toBe(false);
    });
  });

  describe('mix-up: an answer of one provider at the address of another', () => {
    it.each(kinds.flatMap((asked) => kinds.filter((one) => one !== asked).map((at) => [asked, at] as const)))(
      'An answer requested from %s and sent to the address of %s is refused, and no secret or code goes there',
      async (asked, at) => {
        const browser = foyer.browser();
        const { answer } = await answerFor(browser, asked);
        const before = providers.exchanges.length;
        const url = new URL(answer);
        url.pathname = `/federation/${ids[at]}/callback`;
        expect(end(await open(browser, url.href))).toEqual(refused('foreign', at));
        expect(await signedIn(browser)).toBe(false);
        expect(providers.exchanges.length).toBe(before);
      },
    );

    it('An OpenID provider that answers in another issuer’s name is refused (RFC 9207)', async () => {
      const browser = foyer.browser();
      const address = await pressButton(browser, 'oidc');
      providers.answerAs('wrong-iss', 'oidc');
      const answer = locationOf(await sendRequest(address, { redirect: 'manual' }));
      expect(end(await open(browser, answer))).toEqual(refused('invalid', 'oidc'));
      const without = new URL(
        await answerOf(providers, 'oidc', somebody(providers, 'oidc'), await pressButton(browser, 'oidc')),
      );
      without.searchParams.delete('iss');
      expect(end(await open(browser, without.href))).toEqual(refused('invalid', 'oidc'));
      expect(await signedIn(browser)).toBe(false);
    });

    it('Neither the SAML address nor the address of an unknown provider accepts a code', async () => {
      const browser = foyer.browser();
      const { search } = new URL((await answerFor(browser)).answer);
      for (const id of ['acme-saml', 'nobody', '..%2fgoogle', 'link'])
        expect((await open(browser, `/federation/${id}/callback${search}`)).status).toBe(404);
      expect(await signedIn(browser)).toBe(false);
    });
  });

  describe('replay', () => {
    it.each(kinds)('A %s answer is accepted once, even when it is sent many times at once', async (kind) => {
      const browser = foyer.browser();
      const { answer } = await answerFor(browser, kind);
      const ends = await Promise.all(Array.from({ length: 6 }, () => open(browser, answer)));
      const over = ends.filter((one) => end(one).notice === 'federation-over');
      expect(over).toHaveLength(5);
      expect(end(await open(browser, answer))).toEqual(refused('over', kind));
    });

    it('The answer in the browser’s history signs in no user after the sign-out', async () => {
      const browser = foyer.browser();
      const { answer } = await answerFor(browser);
      await open(browser, answer);
      expect(await signedIn(browser)).toBe(true);
      await browser.post('/logout');
      expect(await signedIn(browser)).toBe(false);
      expect(end(await open(browser, answer))).toEqual(refused('over'));
      expect(await signedIn(browser)).toBe(false);
    });

    it('A late answer gets a clear error, and the visitor’s destination is kept', async () => {
      const browser = foyer.browser();
      const client = await relyingParty(foyer, await foyer.addClient());
      const begun = await client.begin();
      const page = locationOf(await browser.get(begun.url));
      const { answer } = await answerFor(browser, 'google', new URL(page).search);
      foyer.passTime(attemptMs + 1);
      const given = await open(browser, answer);
      expect(end(given)).toEqual(refused('over'));
      const errand = new URL(page).searchParams;
      for (const [name, value] of errand) expect(new URL(locationOf(given)).searchParams.get(name)).toBe(value);
      expect(await signedIn(browser)).toBe(false);
      // The request is alive: the second try of the same tab ends at the app.
      const again = await answerOf(
        ...([providers, 'google', somebody(providers, 'google')] as const),
        await pressButton(browser, 'google', { search: new URL(locationOf(given)).search }),
      );
      expect(pathOf(foyer, await open(browser, again))).toContain('/tos');
    });
  });

  describe('return addresses', () => {
    it.each([
      'https://evil.example/',
      '//evil.example/',
      '/.//evil.example',
      '/\\evil.example',
      'javascript:alert(1)',
      '/logout',
      '/federation/google/callback?code=1&state=2',
      '/federation/google',
    ])('No redirect leads to %s, neither after a success nor after a refusal', async (redirect) => {
      const browser = foyer.browser();
      const search = `?${new URLSearchParams({ redirect })}`;
      const { person, answer } = await answerFor(browser, 'google', search);
      const first = new URL(locationOf(await open(browser, answer)));
      expect(first.origin).toBe(foyer.url);
      const onwards = first.searchParams.get('redirect');
      if (onwards !== null) expect(new URL(onwards).origin).toBe(foyer.url);
      expect(await member(person.email)).toBeDefined();
      const again = foyer.browser();
      const address = await pressButton(again, 'google', { search });
      providers.answerAs('refuse', 'google');
      const cancelled = locationOf(await open(again, locationOf(await sendRequest(address, { redirect: 'manual' }))));
      expect(endAt(cancelled)).toEqual(refused('cancelled'));
      expect(new URL(cancelled).origin).toBe(foyer.url);
      expect(await (await again.get(cancelled)).text()).not.toMatch(
        /(href|action|url)="?(https:|javascript:|\/\/|\/\.)/i,
      );
    });

    it('The provider gets only Foyer’s return address, whatever the form says', async () => {
      const browser = foyer.browser();
      for (const kind of kinds) {
        const answer = await browser.post(`/federation/${ids[kind]}?redirect_uri=https://evil.example/&state=mine`, {
          redirect_uri: 'https://evil.example/',
          state: 'mine',
          client_id: 'evil',
        });
        const text = await answer.text();
        expect(text).not.toContain('evil');
        expect(text).toContain(encodeURIComponent(`${foyer.url}/federation/${ids[kind]}/callback`));
      }
    });

    it('The text of a provider’s error is not shown: the page address selects one of Foyer’s texts', async () => {
      const browser = foyer.browser();
      const { state } = Object.fromEntries(new URL(await pressButton(browser, 'google')).searchParams);
      const words = 'Call +1 555 0100 and say your password';
      const wrong = new URLSearchParams({ error: 'server_error', error_description: words, state: state ?? '' });
      const given = await open(browser, `/federation/google/callback?${wrong}`);
      expect(end(given)).toEqual(refused('provider-error'));
      expect(locationOf(given)).not.toContain('555');
      const page = await (await browser.get(locationOf(given))).text();
      expect(page).not.toContain('555');
      expect(page).toContain('Google');
      const made = await browser.get('/?notice=federation-cancelled&provider=<script>alert(1)</script>');
      expect(await made.text()).not.toContain('<script>alert(1)');
    });
  });

  describe('the start of a sign-in by a provider', () => {
    it('A page of another site cannot start a sign-in by a provider, neither by a link nor by a form', async () => {
      const browser = foyer.browser();
      expect((await open(browser, '/federation/google')).status).toBe(405);
      const posted = await browser.post(
        '/federation/google',
        {},
        {
          origin: 'https://evil.example',
          'sec-fetch-site': 'cross-site',
        },
      );
      expect(posted.status).toBe(403);
      const sibling = await browser.post(
        '/federation/google',
        {},
        {
          origin: 'https://shop.localhost',
          'sec-fetch-site': 'same-site',
        },
      );
      expect(sibling.status).toBe(403);
      expect(await browser.cookies()).not.toHaveProperty('foyer_federation');
    });

    it('One network cannot fill the store with attempts', async () => {
      const limited = await startFoyer(backend, { ...providers.environment(), GUESS_LIMIT_ADDRESS: '3' });
      try {
        const browser = limited.browser();
        for (let i = 0; i < 3; i += 1) await pressButton(browser, 'google');
        const answer = await browser.post('/federation/google');
        expect(new URL(locationOf(answer)).searchParams.get('notice')).toBe('federation-too-many');
        expect((await limited.browser().post('/federation/amazon')).status).toBe(303);
      } finally {
        await limited.close();
      }
    });
  });

  describe('identity', () => {
    it('An identity is issuer and subject: the same address, or the same subject elsewhere, is another person', async () => {
      const owner = somebody(providers, 'google', { subject: '1234567' });
      await comeBy(providers, foyer.browser(), 'google', owner);
      const user = await member(owner.email);
      const thief = foyer.browser();
      await comeBy(providers, thief, 'google', { ...owner, subject: '7654321' });
      expect(await signedIn(thief)).toBe(false);
      const elsewhere = foyer.browser();
      await comeBy(providers, elsewhere, 'amazon', { ...owner, email: 'other@example.com' });
      expect(await signedIn(elsewhere)).toBe(false);
      const links = await listIdentities(foyer.stores.database.db, toUserId(user?.id ?? ''));
      expect(links.map(({ kind, subject }) => [kind, subject])).toEqual([['google', '1234567']]);
    });

    it('An identity survives a change of its address at the provider', async () => {
      const owner = somebody(providers, 'google', { subject: '55501' });
      await comeBy(providers, foyer.browser(), 'google', owner);
      const changed = foyer.browser();
      await comeBy(providers, changed, 'google', { ...owner, email: 'moved.away@example.com' });
      expect(await signedIn(changed)).toBe(true);
      expect(await member('moved.away@example.com')).toBeUndefined();
    });
  });

  it('Each refusal is logged with its reason and without the answer', async () => {
    expect(lines('state not open').length).toBeGreaterThan(10);
    expect(lines('token endpoint: invalid_grant').length).toBeGreaterThan(0);
    for (const secret of providers.secrets()) expect(foyer.logged()).not.toContain(secret);
  });
});
