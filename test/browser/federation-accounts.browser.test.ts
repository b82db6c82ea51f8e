import type { Page } from 'playwright-core';
import type { StandInKind } from '../../sandbox/providers/index.ts';
import { translator } from '../../sandbox/texts.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { comeBy as comeWithoutPages } from '../federation/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { password } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { homeFrom, type RelyingParty, relyingParty, store } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { passOn, pressDoor, providerNames, type Somebody, somebody } from './federation-steps.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { askedToSignIn, expectSignedOut, homeWithoutPages, openForm } from './short-ways.ts';
import { atHome, goOnAs, listed, nobodyAtHome, submitSignIn, withoutPages } from './steps.ts';

const ways = [{ javaScript: true }, { javaScript: false }];

interface Coming {
  kind: StandInKind;
  who: Somebody;
  /** Who becomes a member accepts the terms. */
  isNew: boolean;
}

describe('linked accounts in a browser', () => {
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
    app = await relyingParty(sandbox.foyer, await sandbox.foyer.addClient({ idTokenClaims: true }));
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
  /** The same without pages, for an app's request; answers the address that brings the app its answer. */
  async function homeBy(browser: Browser, asked: string, { kind, who, isNew }: Coming): Promise<string> {
    const { search } = new URL(locationOf(await browser.get(asked, { from: 'cross-site' })));
    let next = locationOf(await comeWithoutPages(providers, browser, kind, who, { search }));
    if (isNew) {
      const version = String(sandbox.foyer.deps.terms.number);
      next = locationOf(await browser.post(next, { decision: 'accept', version }));
    }
    return locationOf(await browser.get(await store(browser, next)));
  }
  /**
   * The claims that an app gets of a user of a provider; federation-first shows the pages that lead there.
   * @param newIn the browser of somebody who becomes a member; a member comes straight in, by a fresh one
   */
  async function signInBy(kind: StandInKind, who: Somebody, newIn?: Browser) {
    const [browser, begun] = [newIn ?? sandbox.foyer.browser(), await app.begin()];
    return (
      await app.redeem(await homeBy(browser, begun.url, { kind, who, isNew: newIn !== undefined }), begun)
    ).claims();
  }
  /** Somebody who has become a member by a provider, and is signed in. */
  async function memberBy(page: Page, kind: StandInKind): Promise<Somebody> {
    const [who, browser] = [somebody(kind), sandbox.foyer.browser()];
    expect((await signInBy(kind, who, browser))?.amr).toEqual(['fed']);
    await goOnAs(page, browser, url);
    return who;
  }

  // Those that vouch for addresses: only by such a one is a link offered.
  it.each((['google', 'oidc', 'saml'] as const).flatMap((kind) => ways.map((way) => ({ kind, ...way }))))(
    'A user links $kind with the password, signs in by it and removes it (JavaScript $javaScript)',
    async ({ kind, javaScript }) => {
      const page = await newPage({ javaScript });
      const who = somebody(kind);
      const provider = providerNames[kind];
      const member = await sandbox.foyer.addUser({ email: who.email, givenName: 'Vera', familyName: 'Lindqvist' });
      const begun = await app.begin();
      if (kind === 'google') await askedToSignIn(page, sandbox.demoUrl);
      else await openForm(page, begun.url);
      await comeBy(page, kind, who, javaScript);
      await page.getByText(t('federation.linkConfirmation.signInFirst', { provider })).waitFor();
      await submitSignIn(page, { email: member.email, password });
      await heading(page, t('federation.linkConfirmation.title', { provider })).waitFor();
      await page.getByText(`Ida Moreau · ${member.email}`).waitFor();
      expect(await button(page, t('federation.linkConfirmation.link')).count()).toBe(1);
      const told = { email: member.email, amr: ['pwd'] };
      // By whom the account is linked makes no difference from here on.
      if (kind === 'google') {
        await button(page, t('federation.linkConfirmation.link')).click();
        await scripted(page, javaScript);
        await atHome(page, 'Vera Lindqvist');
        expect(await claims(page)).toMatchObject({ ...told, amr: '["pwd"]' });
      } else {
        const browser = await withoutPages(page, url);
        const home = await homeFrom(browser, locationOf(await browser.post(page.url(), { act: 'link' })), member);
        expect((await app.redeem(home, begun)).claims()).toMatchObject({ ...told, name: 'Vera Lindqvist' });
        await goOnAs(page, browser, url);
      }

      expect(await signInBy(kind, who)).toMatchObject({ sub: member.id, name: 'Vera Lindqvist', amr: ['fed'] });

      // The pages of this are below.
      const browser = await withoutPages(page, url);
      const list = await (await browser.get('/settings/providers')).text();
      expect(wordsOf(list)).toContain(`Remove ${provider} (${member.email})`);
      const [, remove = ''] = /href="([^"]*\/remove\?link=[^"]*)"/.exec(list) ?? [];
      const asks = await (await browser.get(remove)).text();
      expect(wordsOf(asks)).toContain(t('federation.linked.removing.submit'));
      const removed = await browser.get(locationOf(await browser.post(remove)));
      expect(wordsOf(await removed.text())).toContain(t('federation.linked.done.removed'));
      // As before it was linked.
      const visitor = sandbox.foyer.browser();
      const answer = await comeWithoutPages(providers, visitor, kind, who);
      const signInPage = await visitor.get(locationOf(answer), { headers: { 'accept-language': 'en' } });
      expect(wordsOf(await signInPage.text())).toContain(t('federation.linkConfirmation.signInFirst', { provider }));
    },
  );

  // Which they are makes no difference to these pages: settings/providers asks for all of them.
  const others = [
    { kind: 'google', other: 'facebook', javaScript: true },
    { kind: 'oidc', other: 'amazon', javaScript: false },
  ] as const;
  it.each(others)(
    'The last sign-in method $kind cannot be removed until $other is linked, which then signs in (JavaScript $javaScript)',
    async ({ kind, other, javaScript }) => {
      const page = await newPage({ javaScript });
      const who = await memberBy(page, kind);
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

      expect(await signInBy(other, there)).toMatchObject({ email: who.email, name: 'Ida Moreau', amr: ['fed'] });
    },
  );

  describe('SAML’s single logout', () => {
    const isSignedInThere = ({ email }: Somebody) =>
      providers.saml.sessions().some(({ person }) => person.email === email);

    it.each(ways)(
      'A sign-out at the client also signs out at Foyer and the SAML provider (JavaScript $javaScript)',
      async ({ javaScript }) => {
        const page = await newPage({ javaScript });
        const who = somebody('saml');
        await homeWithoutPages(page, sandbox.demoUrl, (browser, asked) =>
          homeBy(browser, asked, { kind: 'saml', who, isNew: true }),
        );
        await page.goto(sandbox.demoUrl);
        await atHome(page, 'Ida Moreau');
        expect(isSignedInThere(who)).toBe(true);
        await button(page, t('sandbox.demo.signOut')).click();
        await nobodyAtHome(page);
        expect(page.url()).toBe(`${sandbox.demoUrl}/`);
        expect(isSignedInThere(who)).toBe(false);
        await page.getByRole('link', { name: t('sandbox.demo.signIn', { brand: 'Foyer' }) }).click();
        await page.getByLabel(t('signIn.username')).waitFor();
      },
    );

    it.each(ways)(
      'A sign-out at Foyer also signs out at the SAML provider and returns (JavaScript $javaScript)',
      async ({ javaScript }) => {
        const page = await newPage({ javaScript });
        const who = await memberBy(page, 'saml');
        await page.goto(`${url}/logout`);
        await button(page, 'Sign out').click();
        await page.getByLabel(t('signIn.username')).waitFor();
        expect(new URL(page.url()).origin).toBe(url);
        expect(isSignedInThere(who)).toBe(false);
      },
    );

    it.each(ways)(
      'A sign-out at the SAML provider also signs out at Foyer and returns (JavaScript $javaScript)',
      async ({ javaScript }) => {
        const page = await newPage({ javaScript });
        const who = await memberBy(page, 'saml');
        await page.goto(`${providers.url}/acme-saml`);
        const row = page.getByRole('listitem').filter({ hasText: who.email });
        await row.getByRole('button', { name: 'Sign out here and at the app' }).click();
        await heading(page, 'You are signed out, here and at the app.').waitFor();
        await expectSignedOut(page, url);
      },
    );
  });
});
