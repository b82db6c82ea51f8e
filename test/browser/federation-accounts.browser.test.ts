import type { Page } from 'playwright-core';
import { translator } from '../../server/http/index.ts';
import type { StandInKind } from '../../server/sandbox/providers/index.ts';
import { wordsOf } from '../checkout/shop.ts';
import { comeBy as comeWithoutPages } from '../federation/steps.ts';
import { locationOf } from '../support/browser.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { password } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { type RelyingParty, relyingParty, store } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { passOn, pressDoor, providerNames, type Somebody, somebody } from './federation-steps.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { askToSignIn, atHome, goOnAs, listed, nobodyAtHome, submitSignIn } from './steps.ts';

const ways = [{ javaScript: true }, { javaScript: false }];

describe('a member’s accounts elsewhere', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  const t = translator('en');
  let providers: TestProviders;
  let sandbox: Sandbox;
  let url: string;
  let app: RelyingParty;
  beforeAll(async () => {
    providers = await startProviders();
    sandbox = await startSandbox(anyBackend, providers.environment());
    url = sandbox.foyer.url;
    providers.tell(url);
    app = await relyingParty(sandbox.foyer, await sandbox.foyer.addClient());
  });
  afterAll(async () => {
    await sandbox?.close();
    await providers?.close();
  });

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });
  const claims = (page: Page) => listed(page, 'Claims of the ID token');
  const scripted = async (page: Page, javaScript: boolean) => {
    if (!javaScript) await button(page, t('oauth.verify.continue')).click();
  };
  /** To the provider and back. */
  async function comeBy(page: Page, kind: StandInKind, who: Somebody, javaScript: boolean): Promise<void> {
    providers.answerAs(who, kind);
    await pressDoor(page, kind);
    if (kind === 'saml' && !javaScript) await passOn(page);
  }
  /** Somebody who has become a member by a provider, and is signed in, at the demo app. */
  async function memberBy(page: Page, kind: StandInKind, javaScript: boolean): Promise<Somebody> {
    const who = somebody(kind);
    await askToSignIn(page, sandbox.demoUrl);
    await comeBy(page, kind, who, javaScript);
    await button(page, t('terms.accept')).click();
    await scripted(page, javaScript);
    await atHome(page, 'Ida Moreau');
    return who;
  }

  /** Such a member, signed in to an app too, without the pages on the way there: federation-first shows those. */
  async function memberWithoutPages(page: Page, kind: StandInKind): Promise<Somebody> {
    const { browser: newBrowser, deps } = sandbox.foyer;
    const [who, browser, begun] = [somebody(kind), newBrowser(), await app.begin()];
    const { search } = new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
    const terms = locationOf(await comeWithoutPages(providers, browser, kind, who, { search }));
    const accepted = await browser.post(terms, { decision: 'accept', version: String(deps.terms.number) });
    const resumed = await browser.get(await store(browser, locationOf(accepted)));
    expect((await app.redeem(locationOf(resumed), begun)).claims()?.amr).toEqual(['fed']);
    await goOnAs(page, browser, url);
    return who;
  }

  // Those that vouch for addresses: only by such a one is a link offered.
  it.each((['google', 'oidc', 'saml'] as const).flatMap((kind) => ways.map((way) => ({ kind, ...way }))))(
    'a member links $kind with their password, comes straight in by it, and unlinks it (JavaScript $javaScript)',
    async ({ kind, javaScript }) => {
      const page = await newPage({ javaScript });
      const who = somebody(kind);
      const provider = providerNames[kind];
      const member = await sandbox.foyer.addUser({ email: who.email, givenName: 'Vera', familyName: 'Lindqvist' });
      await askToSignIn(page, sandbox.demoUrl);
      await comeBy(page, kind, who, javaScript);
      await page.getByText(t('federation.offer', { provider })).waitFor();
      await submitSignIn(page, { email: member.email, password });
      await heading(page, t('federation.linkOffer.title', { provider })).waitFor();
      await page.getByText(`Ida Moreau · ${member.email}`).waitFor();
      await button(page, t('federation.linkOffer.link')).click();
      await scripted(page, javaScript);
      await atHome(page, 'Vera Lindqvist');
      expect(await claims(page)).toMatchObject({ email: member.email, amr: '["pwd"]' });

      await page.context().clearCookies();
      await askToSignIn(page, sandbox.demoUrl);
      await comeBy(page, kind, who, javaScript);
      await scripted(page, javaScript);
      await atHome(page, 'Vera Lindqvist');
      expect(await claims(page)).toMatchObject({ sub: member.id, amr: '["fed"]' });

      await page.goto(`${url}/settings/providers`);
      await page.getByRole('link', { name: `Remove ${provider} (${member.email})` }).click();
      await button(page, t('federation.linked.removing.submit')).click();
      await page.getByText(t('federation.linked.done.removed')).waitFor();
      // As before it was linked.
      const answer = await comeWithoutPages(providers, sandbox.foyer.browser(), kind, who);
      const signInPage = await fetch(locationOf(answer), { headers: { 'accept-language': 'en' } });
      expect(wordsOf(await signInPage.text())).toContain(t('federation.offer', { provider }));
    },
  );

  const others = [
    { kind: 'google', other: 'facebook' },
    { kind: 'oidc', other: 'amazon' },
  ] as const;
  it.each(others.flatMap((pair) => ways.map((way) => ({ ...pair, ...way }))))(
    '$kind, the last way in, stays until $other is linked, which signs in from then on (JavaScript $javaScript)',
    async ({ kind, other, javaScript }) => {
      const page = await newPage({ javaScript });
      const who = await memberWithoutPages(page, kind);
      const remove = page.getByRole('link', { name: `Remove ${providerNames[kind]} (${who.email})` });
      await page.goto(`${url}/settings/providers`);
      await remove.click();
      await page.getByText(t('federation.linked.lastWay')).waitFor();
      expect(await button(page, t('federation.linked.removing.submit')).count()).toBe(0);

      await page.goto(`${url}/settings/providers`);
      await page.getByRole('link', { name: `Link ${providerNames[other]}`, exact: true }).click();
      const there = somebody(other);
      providers.answerAs(there, other);
      await button(page, t('federation.linked.linking.submit', { provider: providerNames[other] })).click();
      await page.getByText(t('federation.linked.done.linked')).waitFor();
      await remove.click();
      await button(page, t('federation.linked.removing.submit')).click();
      await page.getByText(t('federation.linked.done.removed')).waitFor();

      await page.context().clearCookies();
      await askToSignIn(page, sandbox.demoUrl);
      await comeBy(page, other, there, javaScript);
      await scripted(page, javaScript);
      await atHome(page, 'Ida Moreau');
      expect(await claims(page)).toMatchObject({ email: who.email });
    },
  );

  describe('SAML’s single logout', () => {
    const isSignedInThere = ({ email }: Somebody) =>
      providers.saml.sessions().some(({ person }) => person.email === email);

    it.each(ways)(
      'from the app, by Foyer, to the company, and home (JavaScript $javaScript)',
      async ({ javaScript }) => {
        const page = await newPage({ javaScript });
        const who = await memberBy(page, 'saml', javaScript);
        expect(isSignedInThere(who)).toBe(true);
        await button(page, t('sandbox.demo.signOut')).click();
        await nobodyAtHome(page);
        expect(page.url()).toBe(`${sandbox.demoUrl}/`);
        expect(isSignedInThere(who)).toBe(false);
        await askToSignIn(page, sandbox.demoUrl);
      },
    );

    it.each(ways)('from Foyer to the company and back (JavaScript $javaScript)', async ({ javaScript }) => {
      const page = await newPage({ javaScript });
      const who = await memberWithoutPages(page, 'saml');
      await page.goto(`${url}/logout`);
      await button(page, 'Sign out').click();
      await page.getByLabel(t('signIn.username')).waitFor();
      expect(new URL(page.url()).origin).toBe(url);
      expect(isSignedInThere(who)).toBe(false);
    });

    it.each(ways)('from the company to Foyer and back (JavaScript $javaScript)', async ({ javaScript }) => {
      const page = await newPage({ javaScript });
      const who = await memberWithoutPages(page, 'saml');
      await page.goto(`${providers.url}/acme-saml`);
      const row = page.getByRole('listitem').filter({ hasText: who.email });
      await row.getByRole('button', { name: 'Sign out here and at the app' }).click();
      await heading(page, 'You are signed out, here and at the app.').waitFor();
      await page.goto(`${url}/settings`);
      await page.getByLabel(t('signIn.username')).waitFor();
    });
  });
});
