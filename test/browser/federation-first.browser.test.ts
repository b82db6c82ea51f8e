import type { Page } from 'playwright-core';
import { translator } from '../../server/http/index.ts';
import { standInKinds } from '../../server/sandbox/providers/people.ts';
import { cards, saveCardAt } from '../checkout/card-steps.ts';
import { press, wordsOf } from '../checkout/shop.ts';
import { codeFor } from '../sign-up/steps.ts';
import { locationOf } from '../support/browser.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { anyBackend } from '../support/stores.ts';
import type { TestStripe } from '../support/stripe.ts';
import { choose, passOn, pressDoor, somebody } from './federation-steps.ts';
import { charged, enterCard, startStripeWithPlans } from './purchase-steps.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { askToSignIn, atHome, listed, withoutPages } from './steps.ts';

/** Whoever comes by a provider for the first time: to a member, to a plan, to the app; and for the second time. */
describe('coming by a provider in a browser', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  const t = translator('en');
  let stripe: TestStripe;
  let providers: TestProviders;
  let sandbox: Sandbox;
  beforeAll(async () => {
    [stripe, providers] = await Promise.all([startStripeWithPlans(), startProviders()]);
    sandbox = await startSandbox(anyBackend, { ...stripe.environment(), ...providers.environment() });
    stripe.tell(sandbox.foyer.url);
  });
  afterAll(async () => {
    await sandbox?.close();
    await providers?.close();
    await stripe?.close();
  });

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1, exact: true });
  const ways = standInKinds.flatMap((kind) => [true, false].map((javaScript) => ({ kind, javaScript })));

  it.each(ways)('$kind, JavaScript $javaScript', async ({ kind, javaScript }) => {
    const page = await newPage({ javaScript });
    const ida = somebody(kind);
    const comeBy = async () => {
      await pressDoor(page, kind);
      await choose(page, ida);
      if (kind === 'saml' && !javaScript) await passOn(page);
    };

    if (javaScript) await askToSignIn(page, sandbox.demoUrl);
    else await page.goto(`${sandbox.foyer.url}/signup`);
    await comeBy();
    const isVouchedFor = kind !== 'facebook' && kind !== 'amazon';
    if (!isVouchedFor) {
      await page.getByLabel(t('signUp.code.label')).fill(await codeFor(sandbox.foyer, ida.email));
      await button(page, t('signUp.code.confirm')).click();
    }
    await heading(page, t('terms.title')).waitFor();
    await button(page, t('terms.accept')).click();
    await heading(page, 'Your Plan').waitFor();
    // How a plan is paid is no matter of who vouches: at the pages once, by their requests for the others.
    if (kind === 'google') {
      await button(page, 'Next').click();
      await heading(page, 'Payment Method').waitFor();
      if (javaScript) await enterCard(page);
      else
        await page
          .getByText(/needs JavaScript/)
          .first()
          .waitFor();
    } else {
      const browser = await withoutPages(page, sandbox.foyer.url);
      const payment = locationOf(await press(browser, page.url()));
      if (javaScript) await page.goto(locationOf(await saveCardAt({ standIn: stripe }, browser, payment, cards.visa)));
      else expect(wordsOf(await (await browser.get(payment)).text())).toMatch(/Payment Method.*needs JavaScript/);
    }
    if (javaScript) {
      await atHome(page, 'Ida Moreau');
      expect(await listed(page, 'Claims of the ID token')).toMatchObject({ email: ida.email, amr: '["fed"]' });
    }
    expect(await charged(stripe, ida.email)).toEqual(javaScript ? [9_900] : []);

    // Another day, or another browser.
    await page.context().clearCookies();
    await askToSignIn(page, sandbox.demoUrl);
    await comeBy();
    if (!javaScript) await button(page, t('oauth.verify.continue')).click();
    await atHome(page, 'Ida Moreau');
    const userinfo = await listed(page, t('sandbox.demo.userinfo'));
    expect(userinfo).toMatchObject({ email: ida.email, email_verified: 'true' });
    const mails = (await sandbox.foyer.mails(ida.email)).map(({ template }) => template);
    for (const [template, number] of Object.entries({ welcome: 1, 'verify-email': isVouchedFor ? 0 : 1 }))
      expect(mails.filter((one) => one === template)).toHaveLength(number);
  });
});
