import { listCharges, startPlanStep, startWithStarter, summary } from './plan-step.ts';
import { mainForm, openShop, press, type Shop, wordsOf } from './shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

describe('tampered forms of step 2', () => {
  it.each([
    ['a lower amount', { dueCents: '100' }],
    ['no amount', { dueCents: '0' }],
    ['less than nothing', { dueCents: '-9900' }],
    ['an amount that is none', { dueCents: '9900.0' }],
    ['another amount of the renewal', { laterCents: '100' }],
    ['no renewal', { laterCents: 'none' }],
    ['the later amount left out', { laterCents: '' }],
    ['a cheaper plan than was chosen', { planId: '1' }],
    ['a dearer plan than was chosen', { planId: '15' }],
    ['a partner’s plan', { planId: '103', dueCents: '0' }],
    ['a plan that there is not', { planId: 'constructor' }],
  ])('A form tampered with by %s shows the amount due and charges nothing', async (_what, tampered) => {
    const { browser, user } = await startWithStarter(shop);
    await shop.saveCard(user);
    const before = await listCharges(shop);
    const answer = await press(browser, summary, tampered);
    const html = await answer.text();
    expect([answer.status, mainForm(html).fields]).toEqual([
      409,
      { planId: '10', dueCents: '9900', laterCents: '9900' },
    ]);
    expect(wordsOf(html)).toContain('nothing was charged');
    expect([await listCharges(shop), await shop.planOf(user)]).toEqual([before, null]);
  });

  it('A tampered form cannot take a free plan by its words alone, nor a paid plan as if it were free', async () => {
    const { browser, user } = await startWithStarter(shop);
    await shop.saveCard(user);
    for (const planId of ['1', '10', '15']) {
      const answer = await browser.post(summary, { act: 'free', planId });
      expect([planId, answer.status]).toEqual([planId, 409]);
    }
    expect(await shop.planOf(user)).toBeNull();
  });

  it('A plan of a partner and an unknown plan cannot be chosen', async () => {
    const { browser, user } = await startPlanStep(shop);
    for (const planId of ['101', '103', 'nothing', '__proto__', '']) {
      const answer = await browser.post('/signup/changePlan', { act: 'choose', planId });
      expect([planId, answer.status]).toEqual([planId, 400]);
      expect(await answer.text()).toContain('Please choose a plan.');
    }
    expect(await shop.foyer.app.membership.purchase(user.id)).toBeUndefined();
    expect((await browser.post(summary, { act: 'refund', planId: '10' })).status).toBe(400);
  });

  it('Of two promotion codes sent at once, one is applied, whatever the order', async () => {
    await shop.promotion('RACE-A', { percent_off: 50, duration: 'once' });
    await shop.promotion('RACE-B', { percent_off: 60, duration: 'once' });
    const { browser, user } = await startWithStarter(shop);
    await browser.get(summary);
    const answers = await Promise.all(
      ['RACE-A', 'RACE-B', 'RACE-A', 'RACE-B'].map((promo) =>
        browser.post(summary, { act: 'promo', planId: '10', promo }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 409, 409, 409]);
    const { promotion } = (await shop.foyer.app.membership.purchase(user.id)) ?? {};
    expect(['RACE-A', 'RACE-B']).toContain(promotion?.code);
  });

  it('A code for a plan that another tab has changed is not applied to the new plan', async () => {
    const { browser } = await startWithStarter(shop);
    await browser.get(summary);
    await browser.post('/signup/changePlan', { act: 'choose', planId: '15' });
    const answer = await browser.post(summary, { act: 'promo', planId: '10', promo: 'WELCOME20' });
    expect(answer.status).toBe(409);
    expect(wordsOf(await answer.text())).toContain('Scale, annual $8,000.00 Due today $8,000.00');
  });

  it('Forms of another site are refused', async () => {
    const { browser, user } = await startPlanStep(shop);
    await shop.saveCard(user);
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    for (const path of [summary, '/signup/changePlan', '/signup/addPayment', '/signup/addPayment/setup']) {
      const answer = await browser.post(path, { planId: '10', dueCents: '9900', laterCents: '9900' }, foreign);
      expect([path, answer.status]).toEqual([path, 403]);
    }
    expect(await shop.planOf(user)).toBeNull();
  });
});
