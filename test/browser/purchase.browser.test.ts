import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import { importPartnerDeals } from '../../server/users/index.ts';
import { begin, codeFor, newAddress, newPassword } from '../sign-up/steps.ts';
import { locationOf } from '../support/browser.ts';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { toPlanId } from '../support/ids.ts';
import { anyBackend } from '../support/stores.ts';
import type { TestStripe } from '../support/stripe.ts';
import { thorough } from '../support/thorough.ts';
import { charged as chargedTo, enterCard, startStripeWithPlans } from './purchase-steps.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { atHome, fillProfile, goOnAs, sendCode, submitSignIn } from './steps.ts';

/** From the first page to a plan that is paid, and what comes after, as members go that way; every step at the real pages. */
describe('purchase of a plan in a browser', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  const t = translator('en');
  let stripe: TestStripe;
  let sandbox: Sandbox;
  let url: string;
  beforeAll(async () => {
    stripe = await startStripeWithPlans();
    const { id } = await stripe.client().coupons.create({ percent_off: 20, duration: 'once' });
    await stripe.client().promotionCodes.create({ code: 'WELCOME20', promotion: { type: 'coupon', coupon: id } });
    sandbox = await startSandbox(anyBackend, stripe.environment());
    url = sandbox.foyer.url;
    stripe.tell(url);
  });
  afterAll(async () => {
    await sandbox?.close();
    await stripe?.close();
  });

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const charged = (email: string) => chargedTo(stripe, email);

  async function signUp(page: Page, email: string): Promise<void> {
    await fillProfile(page, { email, password: newPassword });
    await page.getByLabel(t('signUp.code.label')).waitFor();
    await sendCode(page, await codeFor(sandbox.foyer, email));
    await page.getByRole('heading', { name: 'Your plan' }).waitFor();
  }

  /** Chooses Starter by the month, as the step PLAN proposes no plan. */
  async function chooseStarter(page: Page): Promise<void> {
    await page.getByRole('link', { name: 'Choose a plan' }).click();
    await page.getByRole('link', { name: 'Monthly' }).click();
    await page.getByRole('radio', { name: /^Starter/ }).check();
    await button(page, 'Next').click();
    await page.getByText('$99.00').first().waitFor();
  }

  thorough(
    'A user signs up and buys a yearly plan with a promotion code, and the receipt has the charged amount',
    async () => {
      const [page, email] = [await newPage(), newAddress()];
      await page.goto(`${url}/signup`);
      await signUp(page, email);
      await page.getByRole('link', { name: 'Choose a plan' }).click();
      await page.getByRole('heading', { name: 'Change membership plan' }).waitFor();
      await page.getByText('Annual', { exact: true }).click();
      await page.getByRole('radio', { name: /^Growth/ }).check();
      await button(page, 'Next').click();
      await page.getByText('$5,000.00').first().waitFor();
      await page.getByText('Have a code?').click();
      await page.getByLabel('Promo code').fill('welcome20');
      await button(page, 'Apply').click();
      await page.getByText('Coupon applied').waitFor();
      await page.getByText('$4,000.00').first().waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await button(page, 'Next').click();
      await page.getByRole('heading', { level: 2, name: 'Payment method' }).waitFor();
      await page.getByText('$4,000.00').first().waitFor();
      await enterCard(page);
      await page.getByRole('heading', { name: 'Just a moment...' }).waitFor();
      await page.waitForURL(`${url}/sandbox/search`);
      expect(await charged(email)).toEqual([400_000]);
      const receipt = (await sandbox.foyer.mails(email)).at(-1);
      expect(receipt?.text).toMatch(/\$4,000\.00/);
      expect(receipt?.text).toMatch(/4242/);
    },
  );

  thorough.each([
    { period: 'Monthly', code: 'WELCOME20', dueCents: 7_920 },
    { period: 'Annual', code: undefined, dueCents: 90_000 },
  ])('A $period plan with the code $code is chosen in the picker and bought', async ({ period, code, dueCents }) => {
    const email = newAddress();
    const user = await sandbox.foyer.addUser({ email });
    const page = await newPage();
    await goOnAs(page, await sandbox.foyer.signedIn(user), url);
    await page.goto(url);
    await page.waitForURL(`${url}/plan-purchase`);
    await page.getByText(period, { exact: true }).click();
    await page.getByRole('radio', { name: /^Starter/ }).check();
    await button(page, 'Next').click();
    if (code !== undefined) {
      await page.getByText('Have a code?').click();
      await page.getByLabel('Promo code').fill(code);
      await button(page, 'Apply').click();
      await page.getByText('Coupon applied').waitFor();
    }
    await button(page, 'Next').click();
    await enterCard(page);
    await page.getByRole('heading', { name: 'Just a moment...' }).waitFor();
    expect(await charged(email)).toEqual([dueCents]);
  });

  it('Without JavaScript the purchase ends at the card form, which says what it needs, and nothing is charged', async () => {
    const [page, email] = [await newPage({ javaScript: false }), newAddress()];
    // By the forms of the sign-up, whose pages others walk without scripts.
    const browser = sandbox.foyer.browser();
    const code = await begin(sandbox.foyer, browser, email);
    const confirmed = await browser.post('/signup/emailCaptured', { code });
    await goOnAs(page, browser, url);
    await page.goto(locationOf(confirmed));
    await chooseStarter(page);
    await page.getByText('Have a code?').click();
    await page.getByLabel('Promo code').fill('WELCOME20');
    await button(page, 'Apply').click();
    await page.getByText('$79.20').first().waitFor();
    await button(page, 'Next').click();
    await page.getByRole('heading', { level: 2, name: 'Payment method' }).waitFor();
    await page
      .getByText(/needs JavaScript/)
      .first()
      .waitFor();
    expect(await charged(email)).toEqual([]);
  });

  thorough.each([true, false])('A partner’s deal is confirmed without a card (JavaScript: %s)', async (javaScript) => {
    const email = newAddress();
    const { database } = sandbox.foyer.stores;
    await database.transaction(async (trx) => {
      await importPartnerDeals(trx, [{ email, tier: 2 }], Date.now());
    });
    const page = await newPage({ javaScript });
    await page.goto(`${url}/signup?from=appsumo&email=${encodeURIComponent(email)}`);
    await page.getByLabel(t('signUp.givenName'), { exact: true }).fill('Vera');
    await page.getByLabel(t('signUp.familyName'), { exact: true }).fill('Lindqvist');
    await page.getByLabel(t('signUp.password'), { exact: true }).fill(newPassword);
    await button(page, t('signUp.next')).click();
    await page.getByLabel(t('signUp.code.label')).waitFor();
    await sendCode(page, await codeFor(sandbox.foyer, email));
    await page.getByText('AppSumo Tier 2').first().waitFor();
    await button(page, 'Confirm').click();
    await page.waitForURL(/\/signup\/completed\/(plan\/hollyfy_tier2\/)?Appsumo-Tier-2$|\/sandbox\/search/);
    expect(await charged(email)).toEqual([]);
  });

  it('A user comes from a client, signs up, buys a monthly plan and returns to the client', async () => {
    const [page, email] = [await newPage(), newAddress()];
    await page.goto(`${sandbox.demoUrl}/sign-in`);
    await page.getByRole('link', { name: t('signIn.createAccount') }).click();
    await signUp(page, email);
    await chooseStarter(page);
    await button(page, 'Next').click();
    await enterCard(page);
    await atHome(page, 'Vera Lindqvist');
    expect(await charged(email)).toEqual([9_900]);
  });

  thorough(
    'A user who confirms the address after a client’s sign-in buys in a 30-day trial and returns to the client',
    async () => {
      const email = newAddress();
      await sandbox.foyer.addUser({ email, emailVerified: false, givenName: 'Vera', familyName: 'Lindqvist' });
      const page = await newPage();
      await page.goto(`${sandbox.demoUrl}/sign-in`);
      await submitSignIn(page, { email, password: 'correct horse 9' });
      await page.getByLabel(t('signUp.code.label')).waitFor();
      await sendCode(page, await codeFor(sandbox.foyer, email));
      await page.waitForURL(/\/post-signup\/plan/);
      const { data } = await stripe.client().customers.list({ email });
      const [trial] = (await stripe.client().subscriptions.list({ customer: data[0]?.id ?? '' })).data;
      expect(Math.round(((trial?.trial_end ?? 0) - (trial?.trial_start ?? 0)) / 86_400)).toBe(30);
      await chooseStarter(page);
      await button(page, 'Next').click();
      await enterCard(page);
      await atHome(page, 'Vera Lindqvist');
      expect(await charged(email)).toEqual([9_900]);
    },
  );

  thorough.each([true, false])(
    'A user changes the plan, cancels it and resumes it in the settings (JavaScript: %s)',
    async (javaScript) => {
      const email = newAddress();
      const user = await sandbox.foyer.addUser({ email });
      const { membership } = sandbox.foyer.app;
      const { customerId } = await membership.ensure(user, 7);
      const { id } = await stripe.client().paymentMethods.attach('pm_card_visa', { customer: customerId ?? '' });
      await membership.makeDefault(user, id);
      const plan = membership.catalogue.byId(toPlanId('10'));
      if (plan) await membership.choose(user, plan);
      await membership.confirm(user, { planId: toPlanId('10'), dueCents: 9_900 }, { ip: '127.0.0.1' });
      const page = await newPage({ javaScript });
      await goOnAs(page, await sandbox.foyer.signedIn(user), url);
      await page.goto(`${url}/settings/membership`);
      await page.getByRole('link', { name: 'Change plan' }).click();
      await page.getByRole('radio', { name: /^Growth/ }).check();
      await button(page, 'Next').click();
      await page.waitForURL(/\/plan-purchase\/12$/);
      await button(page, 'Pay $400.00').click();
      await page.getByRole('heading', { name: 'Just a moment...' }).waitFor();
      expect(await charged(email)).toEqual([40_000, 9_900]);
      // With scripts the page leads on by itself: a visit that begins meanwhile would be cut short.
      if (javaScript) await page.waitForURL(/\/sandbox\/search/);
      await page.goto(`${url}/settings/membership`);
      await page.getByRole('link', { name: 'Cancel membership' }).click();
      await button(page, 'Cancel membership').click();
      await page.getByText(t('membership.done.cancelled')).waitFor();
      await button(page, 'Resume membership').click();
      await page.getByText(t('membership.done.resumed')).waitFor();
      expect(await membership.getMembership(user.id)).toMatchObject({ cancelAtPeriodEnd: false, pricedPlanId: '12' });
    },
  );
});
