import { attemptMs } from '../../server/federation/attempts.ts';
import { listIdentities } from '../../server/federation/index.ts';
import { answerOf, comeBy, pathOf, pressButton, somebody } from '../federation/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { toUserId } from '../support/ids.ts';
import { relyingParty } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { ids, kinds, setUpFederation } from './federation-steps.ts';

/** OAuth attacks on users who sign in by a provider (RFC 6819; RFC 9700). */
describe.each(backends)('signing in by a provider on $name', (backend) => {
  const context = setUpFederation(backend);
  const { member, open, end, refused, answerFor } = context;
  /** A new user is redirected to the terms, a visitor to the sign-in page. */
  const signedIn = async (browser: Browser) => {
    const answer = await browser.get('/settings');
    return answer.status === 200 || new URL(locationOf(answer)).pathname === '/tos';
  };
  const lines = (detail: string) =>
    context.foyer
      .logged()
      .split('\n')
      .filter((line) => line.includes(`"detail":"${detail}"`));

  describe('login CSRF: the attacker’s own answer in the victim’s browser', () => {
    it.each(kinds)(
      'The attacker’s %s answer does not sign the victim’s browser in, with or without an attempt of its own',
      async (kind) => {
        const attacker = context.foyer.browser();
        const { answer } = await answerFor(attacker, kind);
        const [bare, busy] = [context.foyer.browser(), context.foyer.browser()];
        await pressButton(busy, kind);
        for (const victim of [bare, busy]) {
          const given = await open(victim, answer);
          expect(end(given)).toEqual(refused('foreign', kind));
          expect(await signedIn(victim)).toBe(false);
        }
      },
    );

    it('An answer opened in a foreign browser does not spoil the attempt that it belongs to', async () => {
      const owner = context.foyer.browser();
      const { answer } = await answerFor(owner);
      await open(context.foyer.browser(), answer);
      expect((await open(owner, answer)).status).toBe(303);
      expect(await signedIn(owner)).toBe(true);
    });

    it('A signed-in browser that opens the attacker’s answer stays signed in as its user', async () => {
      const victim = await context.foyer.addUser();
      const browser = await context.foyer.signedIn(victim);
      const { answer } = await answerFor(context.foyer.browser());
      expect(end(await open(browser, answer))).toEqual(refused('foreign'));
      expect(await (await browser.get('/settings')).text()).toContain(victim.email);
    });
  });

  describe('state', () => {
    it.each(kinds)('A %s answer whose state is missing, empty, made up or changed is refused', async (kind) => {
      const browser = context.foyer.browser();
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
      const browser = context.foyer.browser();
      const { answer } = await answerFor(browser);
      const state = new URL(answer).searchParams.get('state');
      expect(end(await open(browser, `${answer}&state=${state}`))).toEqual(refused('foreign'));
      expect(await signedIn(browser)).toBe(false);
    });

    it('A state is 43 random characters without a meaning, and each attempt has its own', async () => {
      const browser = context.foyer.browser();
      const states = await Promise.all(
        [1, 2, 3].map(async () => new URL(await pressButton(browser, 'google')).searchParams.get('state') ?? ''),
      );
      for (const state of states) expect(state).toMatch(/^[\w-]{43}$/);
      expect(new Set(states).size).toBe(3);
    });
  });

  describe('code injection: the victim’s code with the attacker’s own state', () => {
    it.each(kinds)('The victim’s %s code with the attacker’s own state signs in no user', async (kind) => {
      const victim = somebody(context.providers, kind);
      await comeBy(context.providers, context.foyer.browser(), kind, victim);
      const stolen = await answerOf(context.providers, kind, victim, await pressButton(context.foyer.browser(), kind));
      const attacker = context.foyer.browser();
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
        const browser = context.foyer.browser();
        const { answer } = await answerFor(browser, asked);
        const before = context.providers.exchanges.length;
        const url = new URL(answer);
        url.pathname = `/federation/${ids[at]}/callback`;
        expect(end(await open(browser, url.href))).toEqual(refused('foreign', at));
        expect(await signedIn(browser)).toBe(false);
        expect(context.providers.exchanges.length).toBe(before);
      },
    );

    it('An OpenID provider that answers in another issuer’s name is refused (RFC 9207)', async () => {
      const browser = context.foyer.browser();
      const address = await pressButton(browser, 'oidc');
      context.providers.answerAs('wrong-iss', 'oidc');
      const answer = locationOf(await sendRequest(address, { redirect: 'manual' }));
      expect(end(await open(browser, answer))).toEqual(refused('invalid', 'oidc'));
      const without = new URL(
        await answerOf(
          context.providers,
          'oidc',
          somebody(context.providers, 'oidc'),
          await pressButton(browser, 'oidc'),
        ),
      );
      without.searchParams.delete('iss');
      expect(end(await open(browser, without.href))).toEqual(refused('invalid', 'oidc'));
      expect(await signedIn(browser)).toBe(false);
    });

    it('Neither the SAML address nor the address of an unknown provider accepts a code', async () => {
      const browser = context.foyer.browser();
      const { search } = new URL((await answerFor(browser)).answer);
      for (const id of ['acme-saml', 'unknown-provider', '..%2fgoogle', 'link'])
        expect((await open(browser, `/federation/${id}/callback${search}`)).status).toBe(404);
      expect(await signedIn(browser)).toBe(false);
    });
  });

  describe('replay', () => {
    it.each(kinds)('A %s answer is accepted once, even when it is sent many times at once', async (kind) => {
      const browser = context.foyer.browser();
      const { answer } = await answerFor(browser, kind);
      const ends = await Promise.all(Array.from({ length: 6 }, () => open(browser, answer)));
      const over = ends.filter((one) => end(one).notice.startsWith('#federation:over/'));
      expect(over).toHaveLength(5);
      expect(end(await open(browser, answer))).toEqual(refused('over', kind));
    });

    it('The answer in the browser’s history signs in no user after the sign-out', async () => {
      const browser = context.foyer.browser();
      const { answer } = await answerFor(browser);
      await open(browser, answer);
      expect(await signedIn(browser)).toBe(true);
      await browser.post('/logout');
      expect(await signedIn(browser)).toBe(false);
      expect(end(await open(browser, answer))).toEqual(refused('over'));
      expect(await signedIn(browser)).toBe(false);
    });

    it('A late answer gets a clear error, and the visitor’s destination is kept', async () => {
      const browser = context.foyer.browser();
      const client = await relyingParty(context.foyer, await context.foyer.addClient());
      const begun = await client.begin();
      const page = locationOf(await browser.get(begun.url));
      const { answer } = await answerFor(browser, 'google', new URL(page).search);
      context.foyer.passTime(attemptMs + 1);
      const given = await open(browser, answer);
      expect(end(given)).toEqual(refused('over'));
      const errand = new URL(page).searchParams;
      for (const [name, value] of errand) expect(new URL(locationOf(given)).searchParams.get(name)).toBe(value);
      expect(await signedIn(browser)).toBe(false);
      // The request is still open: the second attempt in the same tab ends at the app.
      const again = await answerOf(
        ...([context.providers, 'google', somebody(context.providers, 'google')] as const),
        await pressButton(browser, 'google', { search: new URL(locationOf(given)).search }),
      );
      expect(pathOf(context.foyer, await open(browser, again))).toContain('/tos');
    });
  });

  describe('identity', () => {
    it('An identity is issuer and subject: the same address, or the same subject elsewhere, is another person', async () => {
      const owner = somebody(context.providers, 'google', { subject: '1234567' });
      await comeBy(context.providers, context.foyer.browser(), 'google', owner);
      const user = await member(owner.email);
      const thief = context.foyer.browser();
      await comeBy(context.providers, thief, 'google', { ...owner, subject: '7654321' });
      expect(await signedIn(thief)).toBe(false);
      const elsewhere = context.foyer.browser();
      await comeBy(context.providers, elsewhere, 'amazon', { ...owner, email: 'other@example.com' });
      expect(await signedIn(elsewhere)).toBe(false);
      const links = await listIdentities(context.foyer.stores.database.db, toUserId(user?.id ?? ''));
      expect(links.map(({ kind, subject }) => [kind, subject])).toEqual([['google', '1234567']]);
    });

    it('An identity survives a change of its address at the provider', async () => {
      const owner = somebody(context.providers, 'google', { subject: '55501' });
      await comeBy(context.providers, context.foyer.browser(), 'google', owner);
      const changed = context.foyer.browser();
      await comeBy(context.providers, changed, 'google', { ...owner, email: 'moved.away@example.com' });
      expect(await signedIn(changed)).toBe(true);
      expect(await member('moved.away@example.com')).toBeUndefined();
    });
  });

  it('Each refusal is logged with its reason and without the answer', async () => {
    expect(lines('state not open').length).toBeGreaterThan(10);
    expect(lines('token endpoint: invalid_grant').length).toBeGreaterThan(0);
    for (const secret of context.providers.secrets()) expect(context.foyer.logged()).not.toContain(secret);
  });
});
