import { pressButton } from '../federation/steps.ts';
import { locationOf, noticeOf } from '../support/browser.ts';
import { startFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { ids, kinds, setUpFederation } from './federation-steps.ts';

/** OAuth attacks on users who sign in by a provider (RFC 6819; RFC 9700). */
describe.each(backends)('signing in by a provider on $name', (backend) => {
  const context = setUpFederation(backend);
  const { member, open, endAt, end, refused, answerFor } = context;

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
      const browser = context.foyer.browser();
      const search = `?${new URLSearchParams({ redirect })}`;
      const { person, answer } = await answerFor(browser, 'google', search);
      const first = new URL(locationOf(await open(browser, answer)));
      expect(first.origin).toBe(context.foyer.url);
      const onwards = first.searchParams.get('redirect');
      if (onwards !== null) expect(new URL(onwards).origin).toBe(context.foyer.url);
      expect(await member(person.email)).toBeDefined();
      const again = context.foyer.browser();
      const address = await pressButton(again, 'google', { search });
      context.providers.answerAs('refuse', 'google');
      const cancelled = locationOf(await open(again, locationOf(await sendRequest(address, { redirect: 'manual' }))));
      expect(endAt(cancelled)).toEqual(refused('cancelled'));
      expect(new URL(cancelled).origin).toBe(context.foyer.url);
      expect(await (await again.get(cancelled)).text()).not.toMatch(
        /(href|action|url)="?(https:|javascript:|\/\/|\/\.)/i,
      );
    });

    it('The provider gets only Foyer’s return address, whatever the form says', async () => {
      const browser = context.foyer.browser();
      for (const kind of kinds) {
        const answer = await browser.post(`/federation/${ids[kind]}?redirect_uri=https://evil.example/&state=mine`, {
          redirect_uri: 'https://evil.example/',
          state: 'mine',
          client_id: 'evil',
        });
        const text = await answer.text();
        expect(text).not.toContain('evil');
        expect(text).toContain(encodeURIComponent(`${context.foyer.url}/federation/${ids[kind]}/callback`));
      }
    });

    it('The text of a provider’s error is not shown: the page address selects one of Foyer’s texts', async () => {
      const browser = context.foyer.browser();
      const { state } = Object.fromEntries(new URL(await pressButton(browser, 'google')).searchParams);
      const words = 'Call +1 555 0100 and say your password';
      const wrong = new URLSearchParams({ error: 'server_error', error_description: words, state: state ?? '' });
      const given = await open(browser, `/federation/google/callback?${wrong}`);
      expect(end(given)).toEqual(refused('provider-error'));
      // The port may have these digits.
      expect(locationOf(given).replace(/^https?:\/\/[^/]+/, '')).not.toContain('555');
      const page = await (await browser.get(locationOf(given))).text();
      expect(page).not.toContain('555 0100');
      expect(page).toContain('Google');
      const made = await browser.get('/?notice=federation-cancelled&provider=<script>alert(1)</script>');
      expect(await made.text()).not.toContain('<script>alert(1)');
    });
  });

  describe('the start of a sign-in by a provider', () => {
    it('A page of another site cannot start a sign-in by a provider, neither by a link nor by a form', async () => {
      const browser = context.foyer.browser();
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
      const limited = await startFoyer(backend, { ...context.providers.environment(), GUESS_LIMIT_ADDRESS: '3' });
      try {
        const browser = limited.browser();
        for (let i = 0; i < 3; i += 1) await pressButton(browser, 'google');
        const answer = await browser.post('/federation/google');
        expect(noticeOf(locationOf(answer))).toBe('federation:too-many');
        expect((await limited.browser().post('/federation/amazon')).status).toBe(303);
      } finally {
        await limited.close();
      }
    });
  });
});
