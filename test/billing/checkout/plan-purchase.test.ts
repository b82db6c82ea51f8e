import { type Browser, locationOf } from '../../support/browser.ts';
import { password, startFoyer } from '../../support/foyer.ts';
import { homeFrom, relyingParty } from '../../support/relying-party.ts';
import { anyBackend } from '../../support/stores.ts';
import { mainForm, openShop, press, type Shop, wordsOf } from './shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

const dayMs = 24 * 60 * 60_000;
const search = () => `${shop.foyer.url}/sandbox/search`;
const pathOf = (answer: Response) => locationOf(answer).slice(shop.foyer.url.length);
const charged = async () => (await shop.paidInvoices()).map(({ amount_paid: cents }) => cents);
const pageAt = async (browser: Browser, path: string) => (await browser.get(path)).text();

/** As many, less a part of an hour: to the beginning of one, because what is left of a plan is counted in hours. */
async function passDays(days: number): Promise<void> {
  const { engine } = shop.standIn;
  await engine.advance(days * dayMs - (engine.nowMs() % (dayMs / 24)) + 1_000);
}

async function member(paymentMethod?: string) {
  const user = await shop.foyer.addUser();
  if (paymentMethod !== undefined) await shop.saveCard(user, paymentMethod);
  return { user, browser: await shop.foyer.signedIn(user) };
}

/** Somebody who pays for a plan. */
async function subscriber(planId: string) {
  const who = await member('pm_card_visa');
  expect((await press(who.browser, `/plan-purchase/${planId}`)).status).toBe(303);
  expect(await shop.planOf(who.user)).toBe(planId);
  return who;
}

describe('/plan-purchase', () => {
  it('Members without a plan come to /plan-purchase after sign-in, and the plan that they choose has its own page', async () => {
    const user = await shop.foyer.addUser();
    const browser = shop.foyer.browser();
    expect(pathOf(await browser.post('/sign-in', { username: user.email, password }))).toBe('/plan-purchase');
    const words = wordsOf(await pageAt(browser, '/plan-purchase'));
    expect(words).toContain('Choose a membership plan');
    for (const name of ['Free', 'Starter', 'Growth', 'Scale']) expect(words).toContain(name);
    expect(words).not.toContain('Tier');
    const chosen = await browser.post('/plan-purchase', { act: 'choose', planId: '12' });
    expect(pathOf(chosen)).toBe('/plan-purchase/12');
    const html = await pageAt(browser, '/plan-purchase/12');
    expect(wordsOf(html)).toContain('Growth, monthly $499.00 Due today $499.00');
    expect(html).not.toContain('aria-current="step"');
    expect(pathOf(await press(browser, '/plan-purchase/12'))).toBe('/plan-purchase/12/addPayment');
  });

  it('While the trial runs /plan-purchase offers to continue with it, and no plan is chosen yet', async () => {
    const { user, browser } = await member();
    await shop.customerOf(user);
    const html = await pageAt(browser, '/plan-purchase');
    expect(wordsOf(html)).toContain('You’re on the trial of Basic. Free until ');
    expect(html).toMatch(/<a [^>]*href="\/sandbox\/search">Continue with my free trial<\/a>/);
    expect(html).not.toMatch(/radio[^>]*checked/);
  });

  it('The page names the code whose discount continues when another plan is bought without a code', async () => {
    const { user, browser } = await subscriber('10');
    await shop.promotion('ALWAYS50', { percent_off: 50, duration: 'forever' });
    const applied = await browser.post('/plan-purchase/11', { act: 'promo', planId: '11', promo: 'ALWAYS50' });
    expect(applied.status).toBe(303);
    expect((await press(browser, '/plan-purchase/11')).status).toBe(303);
    expect(await shop.planOf(user)).toBe('11');
    expect(wordsOf(await pageAt(browser, '/plan-purchase/12'))).toMatch(/Promo code ALWAYS50 −\$249\.50/);
  });

  it('The purchase completes with the saved card and redirects to the search app', async () => {
    const { user, browser } = await member('pm_card_visa');
    const before = await charged();
    const html = await pageAt(browser, '/plan-purchase/13');
    expect(html).toMatch(/<button[^>]*>Pay \$5,000\.00<\/button>/);
    const { action, fields } = mainForm(html);
    const answers = [await browser.post(action, fields), await browser.post(action, fields)];
    expect(answers.map(pathOf)).toEqual(['/signup/completed/y-5000', '/signup/completed/y-5000']);
    expect(await charged()).toEqual([500_000, ...before]);
    expect(await shop.planOf(user)).toBe('13');
    expect(locationOf(await browser.get('/'))).toBe(search());
    const again = await pageAt(browser, '/plan-purchase/13');
    expect(wordsOf(again)).toContain('You already have this plan.');
    expect(() => mainForm(again)).not.toThrow();
    expect(again).not.toMatch(/<button[^>]*>Pay/);
  });

  it('An upgrade is charged at once less the unused time of the plan before, and the page shows both amounts', async () => {
    const { user, browser } = await subscriber('10');
    await passDays(15);
    const before = await charged();
    const html = await pageAt(browser, '/plan-purchase/12');
    const { action, fields } = mainForm(html);
    const due = Number(fields.dueCents);
    const [, rest, unused] =
      /Growth, monthly, until \w+ \d+, \d{4} \$([\d.]+) Unused time of your plan −\$([\d.]+) Due today/.exec(
        wordsOf(html),
      ) ?? [];
    // About half of the period is left, counted in hours: half of the one, less half of the other.
    expect(Math.abs(due - 20_000)).toBeLessThan(70);
    expect(Math.round(Number(rest) * 100) - Math.round(Number(unused) * 100)).toBe(due);
    expect(wordsOf(html)).toMatch(/Renews on \w+ \d+, \d{4} at \$499\.00\./);
    expect(pathOf(await browser.post(action, fields))).toBe('/signup/completed/m-499');
    expect([(await charged())[0], await shop.planOf(user)]).toEqual([due, '12']);
    expect(await charged()).toHaveLength(before.length + 1);
  });

  it('The amount that an upgrade’s page names is still due some minutes later', async () => {
    const { user, browser } = await subscriber('10');
    await passDays(3);
    const { action, fields } = mainForm(await pageAt(browser, '/plan-purchase/14'));
    await shop.standIn.engine.advance(40 * 60_000);
    expect(pathOf(await browser.post(action, fields))).toBe('/signup/completed/m-899');
    expect([(await charged())[0], await shop.planOf(user)]).toEqual([Number(fields.dueCents), '14']);
  });

  it('A lower plan begins when the paid plan ends, charges nothing today and takes nothing away', async () => {
    const { user, browser } = await subscriber('14');
    const before = await charged();
    const html = await pageAt(browser, '/plan-purchase/10');
    expect(wordsOf(html)).toMatch(
      /Due today \$0\.00 Starter, monthly, from \w+ \d+, \d{4} \$99\.00 Until then you keep Scale\. Cancel any time on your membership page\. Starter doesn’t include: Unlimited showcase pages Unlimited team Wallet Priority support/,
    );
    expect(html).toMatch(/<h1[^>]*>Change to Starter<\/h1>/);
    expect(html).toMatch(/<title>Change to Starter/);
    // Of the price, of the first charge and of the button.
    expect(wordsOf(html).match(/\$99\b/g)).toHaveLength(3);
    expect(mainForm(html).fields).toEqual({ planId: '10', dueCents: '0', laterCents: '9900' });
    expect(pathOf(await press(browser, '/plan-purchase/10'))).toBe('/signup/completed/m-99');
    expect(wordsOf(await pageAt(browser, '/signup/completed/m-99'))).toMatch(
      /Just a moment\.\.\. From \w+ \d+, \d{4} your plan is Starter, monthly\./,
    );
    expect([await charged(), await shop.planOf(user)]).toEqual([before, '14']);
  });

  it('A free plan begins when the paid plan ends', async () => {
    const { user, browser } = await subscriber('10');
    const html = await pageAt(browser, '/plan-purchase/1');
    expect(wordsOf(html)).toMatch(/You keep the plan that you’ve paid for until \w+ \d+, \d{4}\./);
    expect(pathOf(await press(browser, '/plan-purchase/1'))).toBe('/signup/completed/m-free');
    expect(wordsOf(await pageAt(browser, '/signup/completed/m-free'))).toMatch(/From .* your plan is Free, monthly\./);
    expect(await shop.planOf(user)).toBe('10');
  });

  it('A plan of a partner and an unknown plan have no purchase page', async () => {
    const { user, browser } = await member('pm_card_visa');
    for (const planId of ['101', '103', 'nothing', 'constructor', '10%2F..']) {
      for (const step of ['', '/addPayment']) {
        expect([planId, (await browser.get(`/plan-purchase/${planId}${step}`)).status]).toEqual([planId, 404]);
      }
      expect((await browser.post(`/plan-purchase/${planId}`, { planId, dueCents: '0' })).status).toBe(404);
    }
    expect(await shop.planOf(user)).toBeNull();
  });

  it('The address of an unknown plan gets the page for unknown addresses', async () => {
    const { browser } = await member();
    const unknown = wordsOf(await pageAt(browser, '/nothing'));
    for (const path of [
      '/plan-purchase/nothing',
      '/plan-purchase-appsumo/nothing',
      '/plan-purchase/nothing/addPayment',
    ]) {
      expect([path, wordsOf(await pageAt(browser, path))]).toEqual([path, unknown]);
    }
    const inSignUp = wordsOf(await pageAt(browser, '/signup/nothing/at/all'));
    expect(wordsOf(await pageAt(browser, '/signup/completed/nothing'))).toBe(inSignUp);
    expect(inSignUp).not.toBe(unknown);
  });

  it('Each purchase page is about its own plan, whatever another tab has chosen', async () => {
    await shop.promotion('HALF', { percent_off: 50, duration: 'once' });
    const { user, browser } = await member('pm_card_visa');
    const before = await charged();
    await browser.get('/plan-purchase/10');
    expect(pathOf(await browser.post('/plan-purchase/10', { act: 'promo', planId: '10', promo: 'HALF' }))).toBe(
      '/plan-purchase/10',
    );
    const discounted = mainForm(await pageAt(browser, '/plan-purchase/10')).fields;
    expect(discounted).toEqual({ planId: '10', dueCents: '4950', laterCents: '9900' });
    // The other tab asks for another plan and no code: this one's announcement does not hold any more.
    await browser.post('/plan-purchase', { act: 'choose', planId: '12' });
    expect(mainForm(await pageAt(browser, '/plan-purchase/12')).fields.dueCents).toBe('49900');
    const answer = await browser.post('/plan-purchase/10', discounted);
    expect([answer.status, mainForm(await answer.text()).fields]).toEqual([
      409,
      { planId: '10', dueCents: '9900', laterCents: '9900' },
    ]);
    expect([await charged(), await shop.planOf(user)]).toEqual([before, null]);
  });

  it('A signed-out visitor signs in and returns to the purchase, which ends in the client that waits', async () => {
    const { foyer } = shop;
    const visitor = foyer.browser();
    expect(pathOf(await visitor.get('/plan-purchase/12'))).toBe(
      `/?${new URLSearchParams({ redirect: '/plan-purchase/12' })}`,
    );
    const client = await relyingParty(foyer, await foyer.addClient({ name: 'Ledger' }));
    const { user, browser } = await member('pm_card_visa');
    const begun = await client.begin({ prompt: 'login' });
    const { search: errand } = new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
    const html = await pageAt(browser, `/plan-purchase/10${errand}`);
    expect(wordsOf(html)).toContain('Then you continue to Ledger.');
    // The language's button keeps where it was going.
    expect(html).toContain(`name="redirect" value="/plan-purchase/10${errand.replaceAll('&', '&amp;')}"`);
    const picker = await pageAt(browser, `/plan-purchase${errand}`);
    expect(picker).toContain(`href="/plan-purchase${errand.replaceAll('&', '&amp;')}&amp;type=1"`);
    const completed = pathOf(await press(browser, `/plan-purchase/10${errand}`));
    expect(completed).toBe(`/signup/completed/m-99${errand}`);
    expect(await pageAt(browser, completed)).toMatch(/data-redirect.*href="\/verify-user\?[^"]*authorization_code=/s);
    // Who has thought about it for longer than the request waits comes home all the same.
    foyer.passTime(60 * 60_000);
    await browser.post('/sign-in', { username: user.email, password });
    const callback = await homeFrom(browser, `${foyer.url}/verify-user${errand}`, user);
    expect((await client.redeem(callback, begun)).claims()?.sub).toBe(user.id);
  });

  it('A declined card shows the provider’s reason and charges nothing, and another card completes the purchase', async () => {
    const { user, browser } = await member('pm_card_chargeCustomerFail');
    const before = await charged();
    const answer = await press(browser, '/plan-purchase/10');
    expect([answer.status, wordsOf(await answer.text())]).toEqual([
      402,
      expect.stringContaining('Your card was declined.'),
    ]);
    expect([await charged(), await shop.planOf(user)]).toEqual([before, null]);
    expect(wordsOf(await pageAt(browser, '/plan-purchase/10'))).toContain(
      'You started a payment and didn’t finish it.',
    );
    await shop.saveCard(user, 'pm_card_mastercard');
    expect(pathOf(await press(browser, '/plan-purchase/10'))).toBe('/signup/completed/m-99');
    expect(await charged()).toEqual([9_900, ...before]);
  });

  it('An amount copied from another member’s page is refused', async () => {
    const [one, other] = [await member('pm_card_visa'), await subscriber('10')];
    const cheaper = mainForm(await pageAt(other.browser, '/plan-purchase/12')).fields;
    const answer = await one.browser.post('/plan-purchase/12', cheaper);
    expect([answer.status, await shop.planOf(one.user)]).toEqual([409, null]);
  });
});

describe('without plans for sale', () => {
  it('Without plans for sale there is no purchase page and a sign-up ends as before', async () => {
    const without = await startFoyer(anyBackend);
    try {
      const user = await without.addUser();
      const browser = await without.signedIn(user);
      expect(locationOf(await browser.get('/'))).toBe(`${without.url}/sandbox/search`);
      for (const path of ['/plan-purchase', '/plan-purchase/10', '/post-signup/plan', '/signup/changePlan']) {
        expect([path, (await browser.get(path)).status]).toEqual([path, 404]);
      }
      expect((await browser.get('/signup/completed/m-99')).status).toBe(200);
    } finally {
      await without.close();
    }
  });
});
