import type { Page } from 'playwright-core';
import { type StandInKind, toSubject } from '../../sandbox/providers/people.ts';
import { type SandboxT, translator } from '../../sandbox/texts.ts';
import type { RefusalKind, UpstreamIdentity } from '../../server/federation/identity.ts';
import { insertIdentity } from '../../server/federation/identity-store.ts';
import type { User } from '../../server/users/index.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { pressButton } from '../federation/steps.ts';
import { locationOf } from '../support/browser.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { password } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';
import { choose, passOn, pressDoor, providerNames, type Somebody, somebody } from './federation-steps.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { askedToSignIn } from './short-ways.ts';
import { atHome, listed, submitSignIn, withoutPages } from './steps.ts';

const ways = [{ javaScript: true }, { javaScript: false }];

describe('interrupted sign-ins by a provider', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let providers: TestProviders;
  let sandbox: Sandbox;
  let orchardUrl: string;
  beforeAll(async () => {
    providers = await startProviders();
    sandbox = await startSandbox(anyBackend, providers.environment());
    orchardUrl = await sandbox.addApp({ id: 'orchard', name: 'Orchard' });
  });
  afterAll(async () => {
    await sandbox?.close();
    await providers?.close();
  });

  const [t, de] = [translator('en'), translator('de')];
  /** What /verify-user does by itself where scripts run. */
  const goOn = async (page: Page, javaScript: boolean, said: SandboxT = t) => {
    if (!javaScript) await page.getByRole('button', { name: said('oauth.verify.continue') }).click();
  };
  /** A member who is linked with these people. */
  async function linked(there: Partial<Record<'google' | 'oidc', Somebody>>): Promise<User> {
    const { addUser, deps } = sandbox.foyer;
    const user = await addUser({ givenName: 'Ida', familyName: 'Moreau' });
    const which = {
      google: { provider: 'google', issuer: 'https://accounts.google.com' },
      oidc: { provider: 'acme-oidc', issuer: `${providers.url}/acme-oidc` },
    };
    await deps.database.transaction(async (trx) => {
      for (const [key, who] of Object.entries(there)) {
        const kind = key as keyof typeof there;
        const identity = { kind, ...which[kind], subject: toSubject(kind, who) } as UpstreamIdentity;
        await insertIdentity(trx, { userId: user.id, identity, nowMs: deps.now(), used: false });
      }
    });
    return user;
  }

  // Whose they are is no matter of scripts: federation/attempts shows it by requests.
  it.each([
    { javaScript: true, whose: 'two members’' },
    { javaScript: false, whose: 'one member’s' },
  ])(
    'Two tabs, $whose, at two providers for two clients both sign in (JavaScript $javaScript)',
    async ({ javaScript, whose }) => {
      const there = { google: somebody('google'), oidc: somebody('oidc') };
      const google = (await linked(whose === 'one member’s' ? there : { google: there.google })).id;
      const oidc = whose === 'one member’s' ? google : (await linked({ oidc: there.oidc })).id;
      const ids = { google, oidc };
      const first = await newPage({ javaScript });
      const second = await first.context().newPage();
      await askedToSignIn(first, sandbox.demoUrl);
      await askedToSignIn(second, orchardUrl);
      const tabs = [
        { tab: first, kind: 'google', at: { url: `${sandbox.demoUrl}/`, aud: 'demo-app' } },
        { tab: second, kind: 'oidc', at: { url: `${orchardUrl}/`, aud: 'orchard' } },
      ] as const;
      for (const { tab, kind } of tabs) await pressDoor(tab, kind);
      // Whoever went last is back first.
      for (const { tab, kind, at } of tabs.toReversed()) {
        await choose(tab, there[kind]);
        await goOn(tab, javaScript);
        await atHome(tab, 'Ida Moreau');
        const { aud, sub, amr } = await listed(tab, t('sandbox.demo.idToken'));
        expect({ url: tab.url(), aud, sub, amr }).toEqual({ ...at, sub: ids[kind], amr: '["fed"]' });
      }
    },
  );

  it.each(ways)(
    'A failed sign-in by a provider is explained on the sign-in page, and the client still waits (JavaScript $javaScript)',
    async ({ javaScript }) => {
      const member = await sandbox.foyer.addUser({ givenName: 'Ida', familyName: 'Moreau' });
      const page = await newPage({ javaScript });
      const { search } = new URL(await askedToSignIn(page, sandbox.demoUrl));
      const { joan } = providers.people.facebook;
      const ends: [StandInKind, Parameters<TestProviders['answerAs']>[0], RefusalKind][] = [
        ['google', 'refuse', 'cancelled'],
        ['facebook', joan, 'no-email'],
        // Facebook does not vouch for it, so no link is offered.
        ['facebook', { ...joan, email: member.email, emailVerified: true }, 'email-taken'],
        ['amazon', 'token-server-error', 'unreachable'],
        ['oidc', 'id-token-other-key', 'invalid'],
        ['saml', 'changed', 'invalid'],
      ];
      // The form with the provider's answer is a matter of scripts; of the others one is seen at the page.
      const seen: StandInKind[] = ['saml', javaScript ? 'oidc' : 'amazon'];
      for (const [kind, answer, why] of ends) {
        const said = t(`federation.notices.${why}`, { provider: providerNames[kind] });
        const waits = t('signIn.continueTo', { clientName: 'Demo app' });
        if (!seen.includes(kind)) {
          const browser = await withoutPages(page, sandbox.foyer.url);
          const asked = await pressButton(browser, kind, { search });
          providers.answerAs(answer, kind);
          const back = locationOf(await sendRequest(asked, { redirect: 'manual' }));
          const form = locationOf(await browser.get(back, { from: 'cross-site' }));
          const words = wordsOf(await (await browser.get(form)).text());
          expect(words).toContain(said);
          expect(words).toContain(waits);
          continue;
        }
        providers.answerAs(answer, kind);
        await pressDoor(page, kind);
        if (kind === 'saml' && !javaScript) await passOn(page);
        await page.getByText(said, { exact: true }).waitFor();
        await page.getByText(waits).waitFor();
      }
      await submitSignIn(page, { email: member.email, password });
      await goOn(page, javaScript);
      await atHome(page, 'Ida Moreau');
      expect(await listed(page, t('sandbox.demo.idToken'))).toMatchObject({ sub: member.id, amr: '["pwd"]' });
    },
  );

  it.each(ways)(
    'The chosen language and Remember me are kept during the sign-in by a provider (JavaScript $javaScript)',
    async ({ javaScript }) => {
      const ida = somebody('saml');
      const page = await newPage({ javaScript });
      await askedToSignIn(page, sandbox.demoUrl);
      await page.getByRole('button', { name: 'Deutsch' }).click();
      await page.getByLabel(de('signIn.remember')).check();
      providers.answerAs(ida, 'saml');
      await pressDoor(page, 'saml', de);
      if (!javaScript) await passOn(page);
      await page.getByRole('button', { name: de('terms.accept') }).click();
      await goOn(page, javaScript, de);
      // The app is another site: it follows the browser's language.
      await atHome(page, 'Ida Moreau');
      expect(await listed(page, t('sandbox.demo.userinfo'))).toMatchObject({ email: ida.email, locale: 'de' });
      const cookies = await page.context().cookies(sandbox.foyer.url);
      expect(cookies.find(({ name }) => name === 'foyer_session')?.expires).toBeGreaterThan(Date.now() / 1000);
    },
  );

  it.each(ways)(
    'A company address leads to the company’s provider, which gets it as a hint (JavaScript $javaScript)',
    async ({ javaScript }) => {
      const ida = somebody('oidc');
      const page = await newPage({ javaScript });
      await askedToSignIn(page, sandbox.demoUrl);
      await submitSignIn(page, { email: ida.email, password: '' });
      await page.getByRole('heading', { name: 'Choose an account' }).waitFor();
      expect(new URL(page.url()).pathname).toContain('/acme-oidc/');
      expect(await page.getByLabel('Email (empty: none is given)').inputValue()).toBe(ida.email);
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText(t('federation.notices.cancelled', { provider: 'Acme' })).waitFor();
      await page.getByText(t('signIn.continueTo', { clientName: 'Demo app' })).waitFor();
    },
  );
});
