import { findUserByIdentifier, type User } from '../../server/users/index.ts';
import { openShop, press, type Shop } from '../billing/checkout/shop.ts';
import { codeFor } from '../sign-up/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { toNormalisedEmail, toPlanId } from '../support/ids.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { relyingParty } from '../support/relying-party.ts';
import { comeBy, pathOf, somebody } from './steps.ts';

const dayMs = 24 * 60 * 60_000;

describe('users by a provider, where plans are sold', () => {
  let providers: TestProviders;
  let shop: Shop;
  beforeAll(async () => {
    providers = await startProviders();
    shop = await openShop(providers.environment());
  });
  afterAll(async () => {
    await shop?.close();
    await providers?.close();
  });

  const path = (answer: Response) => pathOf(shop.foyer, answer);
  async function member(email = ''): Promise<User> {
    const user = await findUserByIdentifier(shop.foyer.stores.database.db, { email: toNormalisedEmail(email) });
    if (!user) throw new Error(`${email} is no member`);
    return user;
  }
  async function trialDays(user: User) {
    const customer = await shop.customerOf(user);
    const [subscription] = (await shop.stripe.subscriptions.list({ customer })).data;
    return (((subscription?.trial_end ?? 0) - (subscription?.created ?? 0)) * 1000) / dayMs;
  }
  /** Accepts the terms before a page; returns the address of the redirect. */
  async function accept(browser: Browser, at: string) {
    const tos = path(await browser.get(at));
    expect(tos).toMatch(/^\/tos\?/);
    const version = String(shop.foyer.deps.terms.number);
    return path(await browser.post(tos, { decision: 'accept', version }));
  }

  it('A user with a confirmed address accepts the terms, gets the step PLAN with its trial and can pay for a plan', async () => {
    const ada = somebody(providers, 'google');
    const browser = shop.foyer.browser();
    const plan = path(await comeBy(providers, browser, 'google', ada));
    expect(plan).toBe('/post-signup/plan');
    expect(await accept(browser, plan)).toBe(plan);
    const user = await member(ada.email);
    expect(await trialDays(user)).toBe(30);
    expect(path(await browser.get('/post-signup/security'))).toBe(plan);
    await browser.post('/post-signup/changePlan', { act: 'choose', planId: '12' });
    await shop.saveCard(user);
    expect(path(await press(browser, plan))).toBe('/settings');
    expect(await shop.planOf(user)).toBe('12');
    const again = shop.foyer.browser();
    expect(path(await comeBy(providers, again, 'google', ada, { search: '?redirect=%2Fsettings' }))).toBe('/settings');
  });

  it('A user with an unconfirmed address gets the step SECURITY first', async () => {
    const grace = somebody(providers, 'facebook');
    const browser = shop.foyer.browser();
    expect(path(await comeBy(providers, browser, 'facebook', grace))).toBe('/post-signup/security');
    const page = await (await browser.get('/post-signup/security')).text();
    expect(page).toMatch(/SECURITY.*PLAN/s);
    expect(page).not.toContain('PROFILE');
    const code = await codeFor(shop.foyer, grace.email ?? '');
    // The post-signup flow sets the trial, on either code page.
    expect(path(await browser.post('/signup/emailCaptured', { code }))).toBe('/post-signup/plan');
    expect(await accept(browser, '/post-signup/plan')).toBe('/post-signup/plan');
    expect(await trialDays(await member(grace.email))).toBe(30);
  });

  it('A client’s request waits behind the step PLAN', async () => {
    const client = await relyingParty(shop.foyer, await shop.foyer.addClient());
    const browser = shop.foyer.browser();
    const begun = await client.begin();
    const { search } = new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
    const ada = somebody(providers, 'oidc');
    const plan = path(await comeBy(providers, browser, 'oidc', ada, { search }));
    expect(plan).toBe(`/post-signup/plan${search}`);
    expect(await accept(browser, plan)).toBe(plan);
    const user = await member(ada.email);
    await browser.post(`/post-signup/changePlan${search}`, { act: 'choose', planId: '12' });
    await shop.saveCard(user);
    expect(path(await press(browser, plan))).toBe(`/verify-user${search}`);
  });

  it('A user with a plan in an unconfirmed account skips the step PLAN', async () => {
    const user = await shop.foyer.addUser({ emailVerified: false, planId: toPlanId('12') });
    const browser = shop.foyer.browser();
    const ada = somebody(providers, 'google', { email: user.email });
    expect(path(await comeBy(providers, browser, 'google', ada, { search: '?redirect=%2Fsettings' }))).toBe(
      '/settings',
    );
  });
});
