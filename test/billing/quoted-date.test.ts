import { anyBackend } from '../support/stores.ts';
import { aBuyer, type Buyer, chargedTo } from './api-steps.ts';
import { mainForm } from './checkout/shop.ts';
import { dayMs, type Shop, startShop } from './steps.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

describe('the amount of an upgrade while its page is open', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { CARD_LIMIT_ADDRESS: '100000' });
  });
  afterAll(() => shop?.close());

  /** Passes time up to this minute of an hour, some days after the purchase. */
  const passToMinute = (minute: number) =>
    shop.passTime(10 * dayMs + hourMs - (shop.stripe.engine.nowMs() % hourMs) + minute * minuteMs);

  async function upgradePage(buyer: Buyer): Promise<{ due: number; confirm: () => Promise<Response> }> {
    const browser = await shop.foyer.signedIn(buyer.user);
    const { action, fields } = mainForm(await (await browser.get('/plan-purchase/12')).text());
    return { due: Number(fields.dueCents), confirm: () => browser.post(action, fields) };
  }

  async function starterMember(): Promise<Buyer> {
    const buyer = await aBuyer(shop);
    await shop.buy(buyer.user, 'm-99');
    return buyer;
  }

  it('A page that was opened a minute before the full hour is confirmed after it for the same amount', async () => {
    const buyer = await starterMember();
    passToMinute(59);
    const { due, confirm } = await upgradePage(buyer);
    shop.passTime(2 * minuteMs);
    expect((await confirm()).status).toBe(303);
    expect(await chargedTo(shop, buyer.customer)).toEqual([due, 9_900]);
    expect((await shop.userNow(buyer.user)).planId).toBe('12');
  });

  it('After half an hour and another full hour nothing is charged, and the page shows the new amount', async () => {
    const buyer = await starterMember();
    passToMinute(45);
    const { due, confirm } = await upgradePage(buyer);
    shop.passTime(31 * minuteMs);
    const answer = await confirm();
    const announced = Number(mainForm(await answer.text()).fields.dueCents);
    expect([answer.status, announced < due]).toEqual([409, true]);
    expect(await chargedTo(shop, buyer.customer)).toEqual([9_900]);
    const again = await upgradePage(buyer);
    expect(again.due).toBe(announced);
    expect((await again.confirm()).status).toBe(303);
    expect(await chargedTo(shop, buyer.customer)).toEqual([announced, 9_900]);
  });

  it('The date that was quoted for one code or plan is not used for another', async () => {
    await shop.stripe.client().coupons.create({ id: 'FIFTH', percent_off: 20, duration: 'once' });
    const buyer = await starterMember();
    passToMinute(59);
    const { due } = await upgradePage(buyer);
    shop.passTime(2 * minuteMs);
    const browser = await shop.foyer.signedIn(buyer.user);
    await browser.post('/plan-purchase/12', { act: 'promo', planId: '12', promo: 'FIFTH' });
    const withCode = await upgradePage(buyer);
    await browser.post('/plan-purchase/12', { act: 'promo-remove', planId: '12' });
    const fresh = await upgradePage(buyer);
    expect(withCode.due).toBeLessThan(fresh.due);
    // An hour later, less is left of both plans.
    expect(fresh.due).toBeLessThan(due);
  });
});
