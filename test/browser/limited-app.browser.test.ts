import type { Page } from 'playwright-core';
import type { User } from '../../server/users/index.ts';
import { locationOf } from '../support/browser.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { oauthApp } from '../support/oauth-app.ts';
import { relyingParty } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import type { TestStripe } from '../support/stripe.ts';
import { type ClientHome, homeAddress, openClientHome } from './client-home.ts';
import { charged, enterCard, startStripeWithPlans } from './purchase-steps.ts';
import { ask } from './short-ways.ts';
import { goOnAs, withoutPages } from './steps.ts';

describe('a client app for some plans alone, in a browser', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let stripe: TestStripe;
  let foyer: TestFoyer;
  let home: ClientHome;
  let academy: { id: string; secret: string | null; redirectUri: string };
  beforeAll(async () => {
    [stripe, home] = [await startStripeWithPlans(), await openClientHome()];
    foyer = await startFoyer(anyBackend, stripe.environment());
    stripe.tell(foyer.url);
    academy = await foyer.addClient({
      name: 'Academy',
      public: true,
      redirectUris: [`${home.origin}/callback`],
      requiredPlans: ['12'],
    });
  });
  afterAll(async () => {
    await foyer?.close();
    await home?.close();
    await stripe?.close();
  });

  /** Where a client app's request leads who has signed in; the form is walked elsewhere. */
  async function openSignedIn(page: Page, asked: string, { email }: User): Promise<void> {
    const { search } = new URL(await ask(page, asked));
    const browser = await withoutPages(page, foyer.url);
    const answer = await browser.post(`/sign-in${search}`, { username: email, password });
    await goOnAs(page, browser, foyer.url);
    await page.goto(locationOf(answer));
  }

  it('A user without the plan buys it with a new card and gets in (openid-client)', async () => {
    const user = await foyer.addUser();
    const client = await relyingParty(foyer, academy);
    const [page, begun] = [await newPage(), await client.begin()];
    await openSignedIn(page, begun.url, user);
    await page.getByRole('heading', { name: 'Academy isn’t in your plan' }).waitFor();
    await page.getByRole('link', { name: 'Choose Growth, monthly' }).click();
    await page.getByText('Then you continue to Academy.').waitFor();
    await page.getByRole('button', { name: 'Next', exact: true }).click();
    await enterCard(page);
    const tokens = await client.redeem(await homeAddress(page), begun);
    expect([tokens.claims()?.sub, await charged(stripe, user.email)]).toEqual([user.id, [49_900]]);
  });

  it('A user without the plan buys it with a saved card and gets in, without JavaScript (oauth4webapi)', async () => {
    const user = await foyer.addUser();
    const { membership } = foyer.app;
    const { customerId } = await membership.ensure(user, 7);
    const { id } = await stripe.client().paymentMethods.attach('pm_card_visa', { customer: customerId ?? '' });
    await membership.makeDefault(user, id);
    const client = await oauthApp(foyer, academy);
    const [page, begun] = [await newPage({ javaScript: false }), await client.begin()];
    await openSignedIn(page, begun.url, user);
    await page.getByRole('heading', { name: 'Academy isn’t in your plan' }).waitFor();
    await page.getByRole('link', { name: 'Choose Growth, monthly' }).click();
    await page.getByRole('button', { name: 'Pay $499.00', exact: true }).click();
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    const { claims } = await client.redeem(await homeAddress(page), begun);
    expect([claims.sub, await charged(stripe, user.email)]).toEqual([user.id, [49_900]]);
  });
});
