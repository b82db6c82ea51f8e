import { listOrders } from '../../../server/billing/index.ts';
import type { User } from '../../../server/users/index.ts';
import { type Browser, locationOf } from '../../support/browser.ts';
import { mainForm, openShop, press, type Shop, wordsOf } from './shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop({ CARD_LIMIT_MEMBER: '3' });
});
afterAll(() => shop?.close());

const dayMs = 24 * 60 * 60_000;
const pathOf = (answer: Response) => locationOf(answer).slice(shop.foyer.url.length);
const page = (planId: string) => `/plan-purchase/${planId}`;

async function member(paymentMethod = 'pm_card_visa'): Promise<{ user: User; browser: Browser }> {
  const user = await shop.foyer.addUser();
  await shop.saveCard(user, paymentMethod);
  return { user, browser: await shop.foyer.signedIn(user) };
}

async function subscriber(planId: string) {
  const who = await member();
  expect((await press(who.browser, page(planId))).status).toBe(303);
  return who;
}

/** What stands at the field after a promotion code was refused. */
async function refusal(browser: Browser, planId: string, promo: string) {
  const answer = await browser.post(page(planId), { act: 'promo', planId, promo });
  const html = await answer.text();
  return [answer.status, /id="field-promo-error">.*?<\/svg>(.*?)<\/p>/s.exec(html)?.[1]];
}

describe('refused promotion codes', () => {
  it('A promotion code that was used as often as allowed is refused', async () => {
    await shop.promotion('ONCE', { percent_off: 10, duration: 'once' }, { max_redemptions: 1 });
    const first = await member();
    await first.browser.post(page('10'), { act: 'promo', planId: '10', promo: 'ONCE' });
    expect(pathOf(await press(first.browser, page('10')))).toBe('/signup/completed/m-99');
    const { browser } = await member();
    expect(await refusal(browser, '10', 'ONCE')).toEqual([400, 'This promo code has been used up.']);
  });

  it('A promotion code for a first purchase is refused at the second', async () => {
    const restrictions = { first_time_transaction: true };
    await shop.promotion('NEWCOMER', { percent_off: 10, duration: 'once' }, { restrictions });
    const { browser } = await subscriber('10');
    expect(await refusal(browser, '12', 'NEWCOMER')).toEqual([400, 'This promo code is for a first purchase only.']);
  });

  it('A promotion code for another plan is refused', async () => {
    const { data } = await shop.stripe.prices.list({ lookup_keys: ['y-8000'] });
    const products = [String(data[0]?.product)];
    await shop.promotion('SCALEUP', { percent_off: 10, duration: 'once', applies_to: { products } });
    const { browser } = await member();
    expect(await refusal(browser, '10', 'SCALEUP')).toEqual([400, 'This promo code isn’t for this plan.']);
    expect(pathOf(await browser.post(page('15'), { act: 'promo', planId: '15', promo: 'SCALEUP' }))).toBe(page('15'));
  });

  it('A promotion code is refused when nothing is due today', async () => {
    await shop.promotion('ANY', { percent_off: 10, duration: 'once' });
    const { browser } = await subscriber('14');
    const words = wordsOf(await (await browser.get(page('10'))).text());
    expect(words).toMatch(/, from \w+ \d+, \d{4} \$99\.00 .*Visa •••• 4242 will be charged then\./);
    expect(words).not.toContain('Promo code');
    expect(await refusal(browser, '10', 'ANY')).toEqual([400, 'Nothing is due today, so no promo code is needed.']);
  });
});

describe('promotion codes with conditions', () => {
  const restrictions = { minimum_amount: 50_000, minimum_amount_currency: 'usd', first_time_transaction: true };
  const ordered = async ({ id }: User) => listOrders(shop.foyer.stores.database.db, id);
  const applied = async (planId: string, code: string) => {
    const who = await member();
    const path = pathOf(await who.browser.post(page(planId), { act: 'promo', planId, promo: code }));
    expect(path).toBe(page(planId));
    return who;
  };

  it('A code with conditions is judged by the plan that is bought, and the order shows its name', async () => {
    await shop.promotion('BIGSTART', { percent_off: 10, duration: 'once' }, { restrictions });
    const { user, browser } = await applied('11', 'BIGSTART');
    expect(pathOf(await press(browser, page('11')))).toBe('/signup/completed/y-900');
    expect(await ordered(user)).toMatchObject([{ paidCents: 81_000, discountCents: 9_000, voucher: 'BIGSTART' }]);
    const below = await member();
    expect(await refusal(below.browser, '10', 'BIGSTART')).toEqual([
      400,
      'Minimum order amount should be greater than $500',
    ]);
  });

  it('A membership names the code for as long as its discount continues', async () => {
    await shop.promotion('BIGSTAY', { percent_off: 10, duration: 'forever' }, { restrictions });
    const { user, browser } = await applied('11', 'BIGSTAY');
    expect((await press(browser, page('11'))).status).toBe(303);
    expect(await shop.foyer.app.membership.getMembership(user.id)).toMatchObject({ discount: { code: 'BIGSTAY' } });
  });

  it('A code with conditions is judged the same when it is used for a higher plan', async () => {
    const minimum = { minimum_amount: 50_000, minimum_amount_currency: 'usd' };
    await shop.promotion('HIGHER', { percent_off: 10, duration: 'once' }, { restrictions: minimum });
    const { user, browser } = await subscriber('10');
    expect((await browser.post(page('11'), { act: 'promo', planId: '11', promo: 'HIGHER' })).status).toBe(303);
    expect(pathOf(await press(browser, page('11')))).toBe('/signup/completed/y-900');
    expect(await ordered(user)).toMatchObject([{ voucher: 'HIGHER' }, {}]);
  });

  it('A code that is deactivated in the meantime is removed before anything is charged', async () => {
    await shop.promotion('BRIEFLY', { percent_off: 10, duration: 'once' }, { restrictions });
    const { user, browser } = await applied('11', 'BRIEFLY');
    const { fields } = mainForm(await (await browser.get(page('11'))).text());
    expect(fields).toMatchObject({ dueCents: '81000' });
    const { data } = await shop.stripe.promotionCodes.list({ code: 'BRIEFLY' });
    await shop.stripe.promotionCodes.update(data[0]?.id ?? '', { active: false });
    expect((await browser.post(page('11'), fields)).status).toBe(409);
    expect(await ordered(user)).toEqual([]);
  });
});

describe('refused payments', () => {
  it('A payment after too many card attempts gets 429 with the wait, and the page offers no button that is refused', async () => {
    const { user, browser } = await member('pm_card_chargeCustomerFail');
    const answers: number[] = [];
    for (let tries = 0; tries < 3; tries += 1) answers.push((await press(browser, page('10'))).status);
    expect(answers).toEqual([402, 402, 402]);
    await shop.saveCard(user, 'pm_card_visa');
    const refused = await press(browser, page('10'));
    const html = await refused.text();
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true]);
    expect(wordsOf(html)).toMatch(
      /Too many attempts to pay\. You can try again in \d+ minutes\. Nothing was charged this time\./,
    );
    const fields = { planId: '10', dueCents: '9900', laterCents: '9900' };
    const payment = await (await browser.post(`${page('10')}/addPayment`, fields)).text();
    for (const shown of [html, payment]) {
      expect(wordsOf(shown)).toContain('Due today $99.00');
      expect(wordsOf(shown)).not.toMatch(/Pay \$|Visa|Another card|Have a code/);
      expect(wordsOf(shown)).toMatch(/ Back /);
      expect(/<main.*<\/main>/s.exec(shown)?.[0]).not.toContain('<button');
    }
    expect(await shop.planOf(user)).toBeNull();
  });

  it('A purchase while an earlier invoice is unsettled leads to that invoice first', async () => {
    const { user, browser } = await subscriber('10');
    const card = (await shop.foyer.app.membership.getMembership(user.id))?.card?.paymentMethodId ?? '';
    shop.standIn.engine.setCardBehaviour(card, '4000000000000341');
    await shop.standIn.engine.advance(31 * dayMs);
    expect(pathOf(await browser.post(page('12'), { planId: '12', dueCents: '49900', laterCents: '49900' }))).toBe(
      '/settings/membership',
    );
  });
});
