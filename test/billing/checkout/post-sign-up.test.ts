import { comeBy, somebody } from '../../federation/steps.ts';
import { codeFor, newAddress, newPassword, profile } from '../../sign-up/steps.ts';
import { locationOf } from '../../support/browser.ts';
import { password } from '../../support/foyer.ts';
import { toPlanId } from '../../support/ids.ts';
import { startProviders, type TestProviders } from '../../support/providers.ts';
import { relyingParty } from '../../support/relying-party.ts';
import { openShop, press, type Shop, wordsOf } from './shop.ts';

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

const pathOf = (answer: Response) => locationOf(answer).slice(shop.foyer.url.length);

/** A member whose address is not confirmed has signed in, and typed the code. */
async function confirmed(query = '') {
  const { foyer } = shop;
  const user = await foyer.addUser({ emailVerified: false });
  const browser = foyer.browser();
  const signIn = await browser.post(`/sign-in${query}`, { username: user.email, password });
  expect(pathOf(signIn)).toBe(`/verify-code${query}`);
  const code = await codeFor(foyer, user.email);
  return { user, browser, on: pathOf(await browser.post(`/verify-code${query}`, { code })) };
}

describe('the post-sign-up flow', () => {
  it('A user who confirms the address after a sign-in gets a trial of thirty days, chooses a plan and ends in the settings', async () => {
    const { user, browser, on } = await confirmed();
    expect(on).toBe('/post-signup/plan');
    const html = await (await browser.get(on)).text();
    expect(html).not.toContain('PROFILE');
    expect(html).toMatch(/SECURITY.*PLAN/s);
    const [subscription] = (await shop.stripe.subscriptions.list({ customer: await shop.customerOf(user) })).data;
    const trialMs = ((subscription?.trial_end ?? 0) - (subscription?.created ?? 0)) * 1000;
    expect(trialMs).toBe(30 * 24 * 60 * 60_000);
    expect(pathOf(await browser.post('/post-signup/changePlan', { act: 'choose', planId: '12' }))).toBe(on);
    expect(pathOf(await press(browser, on))).toBe('/post-signup/addPayment');
    await shop.saveCard(user);
    expect(pathOf(await press(browser, on))).toBe('/settings');
    expect([await shop.planOf(user), (await shop.paidInvoices())[0]?.amount_paid]).toEqual(['12', 49_900]);
    expect(pathOf(await browser.get(on))).toBe('/settings');
  });

  it('A sign-up resumed by signing in continues in the post-sign-up flow, and a free plan needs no card', async () => {
    const { foyer } = shop;
    const [first, second, email] = [foyer.browser(), foyer.browser(), newAddress()];
    await first.post('/signup/plan/scale-monthly', profile(email));
    await second.post('/sign-in', { username: email, password: newPassword });
    const code = await codeFor(foyer, email);
    expect(pathOf(await second.post('/verify-code', { code }))).toBe('/post-signup/plan');
    // The plan of the address at which it was begun is proposed.
    expect(wordsOf(await (await second.get('/post-signup/plan')).text())).toContain('Scale, monthly $899.00');
    await second.post('/post-signup/changePlan', { act: 'choose', planId: '2' });
    expect(pathOf(await press(second, '/post-signup/plan'))).toBe('/settings');
  });

  it('The flow proposes the plan of the link by which a user came who signed up with a provider', async () => {
    for (const who of [{}, { emailVerified: false }]) {
      const browser = shop.foyer.browser();
      const html = await (await browser.get('/signup/plan/scale-monthly')).text();
      const [, search = ''] = html.match(/formaction="\/federation\/google([^"]*)"/i) ?? [];
      const person = somebody(providers, 'google', who);
      let on = pathOf(await comeBy(providers, browser, 'google', person, { search }));
      if ('emailVerified' in who) {
        expect(on).toBe('/post-signup/security?planHash=scale-monthly');
        on = pathOf(await browser.post(on, { code: await codeFor(shop.foyer, person.email ?? '') }));
      }
      expect(on).toBe('/post-signup/plan?planHash=scale-monthly');
      const terms = await browser.get(on);
      const after = await browser.post(pathOf(terms), {
        decision: 'accept',
        version: String(shop.foyer.deps.terms.number),
      });
      expect(wordsOf(await (await browser.get(pathOf(after))).text())).toContain('Scale, monthly $899.00');
    }
  });

  it('The step SECURITY asks for the code when one is due and continues after it is typed', async () => {
    const { foyer } = shop;
    const user = await foyer.addUser({ emailVerified: false });
    const browser = foyer.browser();
    expect(pathOf(await browser.get('/post-signup/security'))).toBe('/');
    await browser.post('/sign-in', { username: user.email, password });
    const html = await (await browser.get('/post-signup/security')).text();
    expect(wordsOf(html)).toContain('Enter security code');
    expect(html).toMatch(/aria-current="step".*?SECURITY/s);
    const wrong = await browser.post('/post-signup/security', { code: '12' });
    expect([wrong.status, (await wrong.text()).includes('action="/post-signup/security"')]).toEqual([400, true]);
    const code = await codeFor(foyer, user.email);
    expect(pathOf(await browser.post('/post-signup/security', { code }))).toBe('/post-signup/plan');
    expect(pathOf(await browser.get('/post-signup/security'))).toBe('/post-signup/plan');
    expect((await browser.get('/post-signup')).status).toBe(404);
  });

  it('The post-sign-up flow ends in the client that waits', async () => {
    const { foyer } = shop;
    const client = await relyingParty(foyer, await foyer.addClient());
    const user = await foyer.addUser({ emailVerified: false });
    const browser = foyer.browser();
    const begun = await client.begin();
    const { search } = new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
    await browser.post(`/sign-in${search}`, { username: user.email, password });
    const on = pathOf(await browser.post(`/verify-code${search}`, { code: await codeFor(foyer, user.email) }));
    expect(on).toBe(`/post-signup/plan${search}`);
    const chosen = await browser.post(`/post-signup/changePlan${search}`, { act: 'choose', planId: '1' });
    expect(pathOf(chosen)).toBe(on);
    expect(pathOf(await press(browser, on))).toBe(`/verify-user${search}`);
  });

  it('The post-sign-up flow is for members who are signed in and have no plan', async () => {
    const { foyer } = shop;
    const visitor = foyer.browser();
    for (const step of ['plan', 'changePlan', 'addPayment']) {
      expect(pathOf(await visitor.get(`/post-signup/${step}`))).toMatch(/^\/\?redirect=/);
    }
    const browser = await foyer.signedIn(await foyer.addUser({ planId: toPlanId('10') }));
    for (const step of ['plan', 'changePlan', 'addPayment']) {
      expect(pathOf(await browser.get(`/post-signup/${step}`))).toBe('/settings');
    }
    expect((await browser.get('/post-signup/nothing')).status).toBe(404);
  });

  it('New terms come before the post-sign-up flow and lead back to it', async () => {
    const { foyer } = shop;
    const browser = await foyer.signedIn(await foyer.addUser({ acceptedTosVersion: null }));
    const terms = pathOf(await browser.get('/post-signup/plan?client_id=web'));
    expect(new URL(terms, foyer.url).searchParams.get('redirect')).toBe(`${foyer.url}/post-signup/plan?client_id=web`);
  });
});
