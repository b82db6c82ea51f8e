import { findUserByIdentifier } from '../../../server/users/index.ts';
import { codeFor, newAddress, profile } from '../../sign-up/steps.ts';
import { locationOf } from '../../support/browser.ts';
import { relyingParty, store } from '../../support/relying-party.ts';
import { chooseStarter, listCharges, pathOf, startPlanStep, startWithStarter, summary } from './plan-step.ts';
import { mainForm, openShop, press, type Shop, wordsOf } from './shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());
const search = () => `${shop.foyer.url}/sandbox/search`;
/** Seconds since the epoch, by the clock of the stand-in. */
const future = (seconds: number) => Math.floor(shop.standIn.engine.nowMs() / 1000) + seconds;
const planType = (html: string) => /radio[^>]*checked=""[^>]*value="(\w+)"/.exec(html)?.[1];

describe('step 2 of a sign-up', () => {
  it('Step 2 shows the running trial of seven days and no paid price before a plan is named', async () => {
    const { browser, user } = await startPlanStep(shop);
    const page = await browser.get(summary);
    const html = await page.text();
    expect(page.status).toBe(200);
    for (const words of ['Basic', 'Search and shortlist', 'Due today $0.00', 'Or start a plan now', 'Choose a plan']) {
      expect(wordsOf(html)).toContain(words);
    }
    expect(wordsOf(html)).toMatch(/Free until \w+ \d+, \d{4}/);
    expect(wordsOf(html)).toContain('You can choose a plan later in Membership.');
    expect(html).toMatch(/aria-current="step".*PLAN/s);
    // Only the trial has a price, and no form can buy.
    expect(wordsOf(html).match(/\$[\d,.]+/g)).toEqual(['$0.00']);
    expect(html).toMatch(/<a class="button primary block" href="\/sandbox\/search">Continue with my free trial<\/a>/);
    expect(html).toMatch(/<title>[^<]*Your [Pp]lan/);
    expect(() => mainForm(html)).toThrow('no form leads on');
    expect(pathOf(shop, await browser.get('/signup/addPayment'))).toBe(summary);
    const [subscription] = (await shop.stripe.subscriptions.list({ customer: await shop.customerOf(user) })).data;
    const trialMs = ((subscription?.trial_end ?? 0) - (subscription?.created ?? 0)) * 1000;
    expect([subscription?.status, trialMs]).toEqual(['trialing', 7 * 24 * 60 * 60_000]);
    // Looked at again, nothing is made twice.
    await browser.get(summary);
    expect((await shop.stripe.customers.list({ email: user.email })).data).toHaveLength(1);
    // The page of the plans proposes none.
    const picker = await (await browser.get('/signup/changePlan')).text();
    expect(wordsOf(picker)).toContain('You’re on the trial of Basic.');
    expect(planType(picker)).toBeUndefined();
    expect((await browser.post('/signup/changePlan', { act: 'choose' })).status).toBe(400);
  });

  it('Step 2 asks for a card before a paid plan that was chosen', async () => {
    const { browser, user } = await startWithStarter(shop);
    const html = await (await browser.get(summary)).text();
    for (const words of ['Change plan', 'Promo code', 'Cancel', 'Due today $99.00', 'Starter, monthly']) {
      expect(wordsOf(html)).toContain(words);
    }
    expect(wordsOf(html)).toMatch(/Renews on \w+ \d+, \d{4} at \$99\.00\./);
    expect(wordsOf(html)).toContain('A plan you choose here starts today, and the trial ends.');
    expect(html).toMatch(/<title>[^<]*Your [Pp]lan/);
    expect(html).toMatch(/<button[^>]*>Next<\/button>/);
    expect(pathOf(shop, await press(browser, summary))).toBe('/signup/addPayment');
    expect(await shop.planOf(user)).toBeNull();
  });

  it('Opening another page first does not make the trial longer', async () => {
    const { browser, user } = await startPlanStep(shop);
    await browser.get('/post-signup/plan');
    const [subscription] = (await shop.stripe.subscriptions.list({ customer: await shop.customerOf(user) })).data;
    const trialMs = ((subscription?.trial_end ?? 0) - (subscription?.created ?? 0)) * 1000;
    expect(trialMs).toBe(7 * 24 * 60 * 60_000);
  });

  it('Step 2 charges the saved card once with the amount shown, then redirects via ‘Just a moment...’ to the search app', async () => {
    const { browser, user } = await startWithStarter(shop);
    await shop.saveCard(user);
    const html = await (await browser.get(summary)).text();
    expect(wordsOf(html)).toContain('Visa •••• 4242 will be charged. Use another card');
    expect(html).toMatch(/<button[^>]*>Pay \$99\.00<\/button>/);
    const before = await listCharges(shop);
    const { action, fields } = mainForm(html);
    expect(fields).toEqual({ planId: '10', dueCents: '9900', laterCents: '9900' });
    const answers = await Promise.all([browser.post(action, fields), browser.post(action, fields)]);
    expect(answers.map((answer) => pathOf(shop, answer))).toEqual(['/signup/completed/m-99', '/signup/completed/m-99']);
    expect(await listCharges(shop)).toEqual([9_900, ...before]);
    expect(await shop.planOf(user)).toBe('10');
    const completed = await (await browser.get('/signup/completed/m-99')).text();
    expect(wordsOf(completed)).toContain('Just a moment... Payment received. Your plan is Starter, monthly.');
    expect(completed).toMatch(/data-redirect="2000"><a [^>]*href="\/sandbox\/search"/);
    // The form once more, the back button, a reload: the plan is theirs.
    expect(pathOf(shop, await browser.post(action, fields))).toBe('/signup/completed/m-99');
    expect(locationOf(await browser.get(summary))).toBe(search());
    expect(await listCharges(shop)).toEqual([9_900, ...before]);
  });

  it('One promotion code reduces the amount due, and choosing another plan removes it', async () => {
    await shop.promotion('WELCOME20', { percent_off: 20, duration: 'once' });
    await shop.promotion('OTHER', { amount_off: 500, currency: 'usd', duration: 'once' });
    const { browser, user } = await startWithStarter(shop);
    await shop.saveCard(user);
    const apply = (promo: string) => browser.post(summary, { act: 'promo', planId: '10', promo });
    expect(pathOf(shop, await apply(' welcome20 '))).toBe(summary);
    const page = await (await browser.get(summary)).text();
    const applied = wordsOf(page);
    expect(applied).toContain('Coupon applied');
    expect(applied).toContain('Promo code WELCOME20 Remove WELCOME20 −$19.80 Due today $79.20');
    // The message is about the success: the next visit has the row alone.
    const later = wordsOf(await (await browser.get(summary)).text());
    expect(later).not.toContain('Coupon applied');
    expect(later).toContain('Promo code WELCOME20 Remove');
    expect(page).not.toContain('name="promo"');
    const second = await apply('OTHER');
    expect(second.status).toBe(409);
    expect(await second.text()).toMatch(/role="alert".*?Cannot apply more than one coupon code/s);

    const other = await browser.post('/signup/changePlan', { act: 'choose', planId: '12' });
    expect(pathOf(shop, other)).toBe(summary);
    const changed = wordsOf(await (await browser.get(summary)).text());
    expect(changed).toContain('Growth, monthly $499.00 Due today $499.00');
    expect(changed).toContain('Promo code');
    // Back to the first: what was forgotten stays so.
    await browser.post('/signup/changePlan', { act: 'choose', planId: '10' });
    expect(wordsOf(await (await browser.get(summary)).text())).toContain('Due today $99.00');
    await apply('WELCOME20');
    await browser.post(summary, { act: 'promo-remove', planId: '10' });
    expect(wordsOf(await (await browser.get(summary)).text())).toContain('Due today $99.00');
    await apply('WELCOME20');
    const before = await listCharges(shop);
    expect(pathOf(shop, await press(browser, summary))).toBe('/signup/completed/m-99');
    expect(await listCharges(shop)).toEqual([7_920, ...before]);
  });

  it('A refused promotion code shows the reason and stays in the field as typed', async () => {
    await shop.promotion('TOOBIG', { amount_off: 20_000, currency: 'usd', duration: 'once' });
    await shop.promotion('ENDED', { percent_off: 10, duration: 'once' }, { expires_at: future(60) });
    await shop.standIn.engine.advance(120_000);
    const { browser } = await startWithStarter(shop);
    const refused = async (promo: string) => {
      const answer = await browser.post(summary, { act: 'promo', planId: '10', promo });
      const html = await answer.text();
      const error = /id="field-promo-error">.*?<\/svg>(.*?)<\/p>/s.exec(html)?.[1];
      return [answer.status, error, / name="promo"[^>]*value="([^"]*)"/.exec(html)?.[1]];
    };
    expect(await refused('NONE&SUCH')).toEqual([400, 'Enter a valid promo code', 'NONE&amp;SUCH']);
    expect(await refused('')).toEqual([400, 'Enter a valid promo code', '']);
    expect(await refused('TOOBIG')).toEqual([400, 'Minimum order amount should be greater than $200', 'TOOBIG']);
    expect(await refused('ENDED')).toEqual([400, 'This promo code has expired.', 'ENDED']);
  });

  it('Step 2 proposes the plan that the address names, at every step and wherever the code is typed', async () => {
    const { browser, user } = await startPlanStep(shop, '/signup/plan/growth-yearly');
    const html = await (await browser.get('/signup/plan/growth-yearly/verifiedCode')).text();
    expect(wordsOf(html)).toContain('Growth, annual $5,000.00 Due today $5,000.00');
    expect(html).toContain('href="/signup/plan/growth-yearly/changePlan"');
    // Without the plan in the address it is still the one that the sign-up began with.
    expect(wordsOf(await (await browser.get(summary)).text())).toContain('Growth, annual');
    const picker = await (await browser.get('/signup/plan/growth-yearly/changePlan')).text();
    expect(wordsOf(picker)).toMatch(/Change membership plan .*Annual Monthly/);
    expect(wordsOf(picker)).toContain('Most chosen Growth $5,000 a year $416.67 a month, billed yearly Save 16%');
    expect(wordsOf(picker)).toContain('Free $0 Profile in the directory');
    expect(planType(picker)).toBe('13');
    // The other kind of period, with the plan that stands where this one does.
    const monthly = await (await browser.get('/signup/plan/growth-yearly/changePlan?type=1')).text();
    expect(planType(monthly)).toBe('12');
    await shop.saveCard(user);
    expect(pathOf(shop, await press(browser, '/signup/plan/growth-yearly/verifiedCode'))).toBe(
      '/signup/completed/plan/growth-yearly/y-5000',
    );
    expect(await shop.planOf(user)).toBe('13');
  });

  it('A handle that no plan has gets 404 at every step', async () => {
    const { browser } = await startPlanStep(shop);
    for (const step of ['', '/emailCaptured', '/verifiedCode', '/changePlan', '/addPayment']) {
      expect([step, (await browser.get(`/signup/plan/unknown-plan${step}`)).status]).toEqual([step, 404]);
    }
    expect((await browser.post('/signup/plan/unknown-plan/verifiedCode', { planId: '10', dueCents: '0' })).status).toBe(
      404,
    );
    // A partner's handle brings people from the partner; nothing of the partner's is given for it.
    const html = await (await browser.get('/signup/plan/hollyfy_tier3/verifiedCode')).text();
    expect(wordsOf(html)).toContain('No partner deal is waiting for your account.');
    expect(wordsOf(html)).toContain('Continue with my free trial');
  });

  it('A free plan is confirmed without a card and charges nothing', async () => {
    const { browser, user } = await startPlanStep(shop);
    const before = await listCharges(shop);
    await browser.post('/signup/changePlan', { act: 'choose', planId: '1' });
    const html = await (await browser.get(summary)).text();
    expect(wordsOf(html)).toContain('This plan is free. You don’t need a card.');
    expect(wordsOf(html)).not.toContain('Promo code');
    expect(pathOf(shop, await browser.get('/signup/addPayment'))).toBe(summary);
    expect(pathOf(shop, await press(browser, summary))).toBe('/signup/completed/m-free');
    expect(await shop.planOf(user)).toBe('1');
    expect(await listCharges(shop)).toEqual(before);
  });

  it('Step 2 is the same in another language, in another tab and after the back button', async () => {
    const { browser } = await startPlanStep(shop, '/signup', '?client_id=web');
    await browser.post('/signup/changePlan?client_id=web', { act: 'choose', planId: '15' });
    const html = await (await browser.get(`${summary}?client_id=web`)).text();
    const redirect = /<input type="hidden" name="redirect" value="([^"]*)"/.exec(html)?.[1] ?? '';
    expect(redirect).toBe(`${summary}?client_id=web`);
    const switched = await browser.post('/language', { lang: 'de', redirect });
    expect(pathOf(shop, switched)).toBe(`${summary}?client_id=web`);
    const german = wordsOf(await (await browser.get(`${summary}?client_id=web`)).text());
    expect(german).toContain('Scale, jährlich 8.000,00');
    // What a form answers can be switched, too.
    const refused = await browser.post(summary, { act: 'promo', planId: '15', promo: 'none' });
    expect(await refused.text()).toContain(`name="redirect" value="${summary}"`);
    // The steps behind are done: they lead on, as does the address of a campaign.
    for (const step of ['', '/emailCaptured']) expect(pathOf(shop, await browser.get(`/signup${step}`))).toBe(summary);
    expect(pathOf(shop, await browser.get('/signup/plan/growth-monthly'))).toBe(
      '/signup/plan/growth-monthly/verifiedCode',
    );
    // Another tab comes by the start page.
    expect(pathOf(shop, await browser.get('/'))).toBe('/plan-purchase');
    expect(planType(await (await browser.get('/plan-purchase')).text())).toBe('15');
  });

  it('Step 2 returns the member to the client that waits', async () => {
    const { foyer } = shop;
    const client = await relyingParty(foyer, await foyer.addClient({ name: 'Ledger' }));
    const [browser, email] = [foyer.browser(), newAddress()];
    const begun = await client.begin();
    const landing = new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
    const { search: errand } = landing;
    await browser.post(`/signup${errand}`, profile(email));
    // From another page, where the address does not say for whom.
    const answer = await browser.post('/signup/emailCaptured', { code: await codeFor(foyer, email) });
    const step = pathOf(shop, answer);
    expect(step).toMatch(/^\/signup\/verifiedCode\?.*authorization_code=/);
    const html = await (await browser.get(step)).text();
    expect(wordsOf(html)).toContain('Then you continue to Ledger.');
    const user = await findUserByIdentifier(foyer.stores.database.db, { email });
    if (user) await shop.saveCard(user);
    const changed = await browser.post(step.replace('verifiedCode', 'changePlan'), { act: 'choose', planId: '12' });
    const completed = pathOf(shop, await press(browser, pathOf(shop, changed)));
    expect(completed).toMatch(/^\/signup\/completed\/m-499\?.*authorization_code=/);
    const waiting = await (await browser.get(completed)).text();
    const on = /data-redirect.*?href="([^"]+)"/s.exec(waiting)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const callback = locationOf(await browser.get(await store(browser, new URL(on, foyer.url).href)));
    expect(callback.startsWith(client.redirectUri)).toBe(true);
    const tokens = await client.redeem(callback, begun);
    expect(tokens.claims()?.sub).toBeDefined();
  });

  it('Step 2 names the failed action while Stripe is away, charges nothing and continues once Stripe answers', async () => {
    const { browser, user } = await startPlanStep(shop);
    let away = true;
    const refuse = () => shop.standIn.fault('unreachable', () => away);
    for (let tries = 0; tries < 20; tries++) refuse();
    const first = await browser.get(summary);
    const html = await first.text();
    expect([first.status, first.headers.has('retry-after')]).toEqual([503, true]);
    expect(wordsOf(html)).toContain('Stripe customer creation error!');
    expect(html).toContain('&quot;durationMs&quot;:2500');
    expect(html).toMatch(/href="\/signup\/verifiedCode">Try again/);
    // The trial goes on without Stripe.
    expect(wordsOf(html)).toContain('Continue with my free trial');
    away = false;
    await chooseStarter(shop, browser);
    await shop.saveCard(user);
    expect((await browser.get(summary)).status).toBe(200);
    away = true;
    for (let tries = 0; tries < 20; tries++) refuse();
    const quote = await browser.get(summary);
    expect([quote.status, wordsOf(await quote.text()).includes('Subscription retrieval failed!')]).toEqual([503, true]);
    const promo = await browser.post(summary, { act: 'promo', planId: '10', promo: 'WELCOME20' });
    const words = await promo.text();
    expect([promo.status, wordsOf(words).includes('Stripe customer updation error!')]).toEqual([503, true]);
    expect(words).toContain('value="WELCOME20"');
    const confirm = await browser.post(summary, { planId: '10', dueCents: '9900', laterCents: '9900' });
    expect([confirm.status, wordsOf(await confirm.text()).includes('Something went wrong!')]).toEqual([503, true]);
    expect(await shop.planOf(user)).toBeNull();
    away = false;
    expect(pathOf(shop, await press(browser, summary))).toBe('/signup/completed/m-99');
  });

  it('Step 2 is for members, and a signed-out visitor is redirected to the current step', async () => {
    const { foyer } = shop;
    const [visitor, begun, email] = [foyer.browser(), foyer.browser(), newAddress()];
    for (const step of ['verifiedCode', 'changePlan', 'addPayment']) {
      expect(pathOf(shop, await visitor.get(`/signup/${step}`))).toBe('/signup');
    }
    await begun.post('/signup', profile(email));
    expect(pathOf(shop, await begun.get(summary))).toBe('/signup/emailCaptured');
    expect(pathOf(shop, await begun.post(summary, { planId: '10', dueCents: '0' }))).toBe('/signup/emailCaptured');
  });
});
