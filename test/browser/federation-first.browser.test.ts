import * as oidc from 'openid-client';
import type { Page } from 'playwright-core';
import { type StandInKind, standInKinds } from '../../sandbox/providers/people.ts';
import { translator } from '../../sandbox/texts.ts';
import { cards, saveCardAt } from '../billing/checkout/card-steps.ts';
import { press, wordsOf } from '../billing/checkout/shop.ts';
import { comeBy as comeWithoutPages } from '../federation/steps.ts';
import { codeFor } from '../sign-up/steps.ts';
import { locationOf } from '../support/browser.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { homeFrom, type RelyingParty, relyingParty, store } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import type { TestStripe } from '../support/stripe.ts';
import { thorough } from '../support/thorough.ts';
import { choose, passOn, pressDoor, somebody } from './federation-steps.ts';
import { charged, enterCard, startStripeWithPlans } from './purchase-steps.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { askedToSignIn, openForm } from './short-ways.ts';
import { askToSignIn, atHome, listed, sendCode, withoutPages } from './steps.ts';

/**
 * Whoever comes by a provider for the first time: to a member, to a plan, to the app; and for the second time. What differs
 * by provider is walked at pages for each; the rest for some, and by requests for the others.
 */
describe('first and second sign-in by a provider in a browser', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  const t = translator('en');
  let stripe: TestStripe;
  let providers: TestProviders;
  let sandbox: Sandbox;
  let app: RelyingParty;
  beforeAll(async () => {
    [stripe, providers] = await Promise.all([startStripeWithPlans(), startProviders()]);
    sandbox = await startSandbox(anyBackend, { ...stripe.environment(), ...providers.environment() });
    stripe.tell(sandbox.foyer.url);
    app = await relyingParty(sandbox.foyer, await sandbox.foyer.addClient({ idTokenClaims: true }));
  });
  afterAll(async () => {
    await sandbox?.close();
    await providers?.close();
    await stripe?.close();
  });

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1, exact: true });
  /** An answer is an address, one with a fragment (Facebook's), or a form: each is seen once more when somebody returns. */
  const returnsAtPages = (kind: StandInKind, javaScript: boolean) =>
    kind === 'facebook' || kind === (javaScript ? 'google' : 'saml');
  const ways = standInKinds.flatMap((kind) => [true, false].map((javaScript) => ({ kind, javaScript })));

  const title = 'A first and a second sign-in by $kind work with sign-up and plan, JavaScript $javaScript';
  async function comeTwice({ kind, javaScript }: (typeof ways)[number]): Promise<void> {
    const page = await newPage({ javaScript });
    const ida = somebody(kind);
    const comeBy = async () => {
      // The provider's own page is the sandbox's: federation-detours asks for it without scripts, too.
      if (!javaScript) providers.answerAs(ida, kind);
      await pressDoor(page, kind);
      if (javaScript) await choose(page, ida);
      if (kind === 'saml' && !javaScript) await passOn(page);
    };

    const begun = await app.begin();
    if (!javaScript) await page.goto(`${sandbox.foyer.url}/signup`);
    else if (kind === 'google') await askToSignIn(page, sandbox.demoUrl);
    else await openForm(page, begun.url);
    await comeBy();
    const isVouchedFor = kind !== 'facebook' && kind !== 'amazon';
    if (!isVouchedFor) {
      await page.getByLabel(t('signUp.code.label')).waitFor();
      await sendCode(page, await codeFor(sandbox.foyer, ida.email));
    }
    await heading(page, t('common.footer.terms')).waitFor();
    // Terms and plan are no matter of who vouches: at the pages once, by their requests for the others.
    if (kind === 'google') {
      await button(page, t('terms.accept')).click();
      await heading(page, 'Your plan').waitFor();
      await page.getByRole('link', { name: 'Choose a plan' }).click();
      await page.getByRole('radio', { name: /^Starter/ }).check();
      await button(page, 'Next').click();
      await page.getByText('$99.00').first().waitFor();
      await button(page, 'Next').click();
      await heading(page, 'Pay for Starter').waitFor();
      if (javaScript) await enterCard(page);
      else
        await page
          .getByText(/needs JavaScript/)
          .first()
          .waitFor();
    } else {
      const browser = await withoutPages(page, sandbox.foyer.url);
      const version = String(sandbox.foyer.deps.terms.number);
      const plan = locationOf(await browser.post(page.url(), { decision: 'accept', version }));
      expect(wordsOf(await (await browser.get(plan)).text())).toContain('Your plan');
      await browser.post(plan.replace('/post-signup/plan', '/post-signup/changePlan'), { act: 'choose', planId: '10' });
      const payment = locationOf(await press(browser, plan));
      if (javaScript) {
        const paid = locationOf(await saveCardAt({ standIn: stripe }, browser, payment, cards.visa));
        const tokens = await app.redeem(await homeFrom(browser, paid, ida), begun);
        expect(tokens.claims()).toMatchObject({ email: ida.email, name: 'Ida Moreau', amr: ['fed'] });
      } else expect(wordsOf(await (await browser.get(payment)).text())).toMatch(/Payment method.*needs JavaScript/);
    }
    if (kind === 'google' && javaScript) {
      await atHome(page, 'Ida Moreau');
      expect(await listed(page, 'Claims of the ID token')).toMatchObject({ email: ida.email, amr: '["fed"]' });
    }
    expect(await charged(stripe, ida.email)).toEqual(javaScript ? [9_900] : []);

    // Another day, or another browser.
    await page.context().clearCookies();
    const known = { email: ida.email, email_verified: true };
    if (returnsAtPages(kind, javaScript)) {
      await askedToSignIn(page, sandbox.demoUrl);
      providers.answerAs(ida, kind);
      await pressDoor(page, kind);
      if (kind === 'saml' && !javaScript) await passOn(page);
      if (!javaScript) await button(page, t('oauth.verify.continue')).click();
      await atHome(page, 'Ida Moreau');
      const userinfo = await listed(page, t('sandbox.demo.userinfo'));
      expect(userinfo).toMatchObject({ ...known, email_verified: 'true' });
    } else {
      const [browser, again] = [sandbox.foyer.browser(), await app.begin()];
      const { search } = new URL(locationOf(await browser.get(again.url, { from: 'cross-site' })));
      const straight = locationOf(await comeWithoutPages(providers, browser, kind, ida, { search }));
      const tokens = await app.redeem(locationOf(await browser.get(await store(browser, straight))), again);
      const { access_token: token } = tokens;
      const userinfo = await oidc.fetchUserInfo(app.config, token, tokens.claims()?.sub ?? '');
      expect(userinfo).toMatchObject({ ...known, name: 'Ida Moreau' });
    }
    const mails = (await sandbox.foyer.mails(ida.email)).map(({ template }) => template);
    for (const [template, number] of Object.entries({ welcome: 1, 'verify-email': isVouchedFor ? 0 : 1 }))
      expect(mails.filter((one) => one === template)).toHaveLength(number);
  }
  const isFast = ({ kind, javaScript }: (typeof ways)[number]) => kind === (javaScript ? 'google' : 'saml');
  it.each(ways.filter(isFast))(title, comeTwice);
  thorough.each(ways.filter((way) => !isFast(way)))(title, comeTwice);
});
