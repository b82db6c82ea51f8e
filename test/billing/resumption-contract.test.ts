import { listOrders } from '../../server/billing/index.ts';
import { page, path, standing } from '../account/membership-steps.ts';
import { aBuyer, type Buyer } from './api-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import { hourMs, openAct, pass, pauseFor, startPauseShop } from './pause-steps.ts';
import { dayMs, type Shop } from './steps.ts';
import { buyByPage } from './tax-steps.ts';

/** It goes on with the same contract (docs/plans.md): only a new one can be withdrawn from. */
describe('the charge at the end of a pause, where members may withdraw', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startPauseShop({}, { consumers: { withdrawalDays: 14 } });
  });
  afterAll(() => shop?.close());

  /** A member with an address, which such a purchase needs. */
  async function aConsumer(): Promise<Buyer> {
    const who = await aBuyer(shop);
    const browser = await shop.foyer.signedIn(who.user);
    await browser.post('/plan-purchase/10/billingDetails', { country: 'DE', postal_code: '10115' });
    return who;
  }

  async function pausedFor(days: number): Promise<Buyer> {
    const who = await aConsumer();
    await buyByPage(shop, who, '10');
    await pauseFor(await shop.foyer.signedIn(who.user), 1);
    await pass(shop, ((await standing(shop, who.user)).periodEnd ?? 0) + days * dayMs);
    return who;
  }

  async function expectRenewal({ user }: Buyer): Promise<void> {
    const orders = await listOrders(shop.foyer.deps.database.db, user.id);
    expect(orders.map(({ orderType, paidCents }) => [orderType, paidCents])).toEqual([
      ['renewal', 9_900],
      ['upgrade', 9_900],
    ]);
    const words = await page(await shop.foyer.signedIn(user));
    expect(words.match(/New plan/g)).toHaveLength(1);
    expect(words.match(/Renewal/g)).toHaveLength(1);
    expect(await shop.membership.findWithdrawal(user.id)).toBeUndefined();
    const answer = await (await shop.foyer.signedIn(user)).get(`${path}/withdraw`);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, expect.stringContaining(path)]);
  }

  it('At the end of its time it is a renewal in the list of invoices, and no withdrawal is offered', async () => {
    const who = await pausedFor(0.1);
    const { pause } = await standing(shop, who.user);
    await pass(shop, (pause?.resumesAt ?? 0) + 2 * hourMs);
    await expectRenewal(who);
  });

  it('Where the member ends the pause it is one, too', async () => {
    const who = await pausedFor(3);
    const browser = await shop.foyer.signedIn(who.user);
    const { fields } = await openAct(browser, 'resume');
    expect((await browser.post(`${path}/resume`, fields)).status).toBe(303);
    await expectRenewal(who);
  });

  it('The plan that is bought after another one has ended can be withdrawn from', async () => {
    const who = await aConsumer();
    await buyByPage(shop, who, '10');
    await (await shop.foyer.signedIn(who.user)).post(`${path}/cancel`, {});
    await pass(shop, ((await standing(shop, who.user)).periodEnd ?? 0) + 2 * hourMs);
    await buyByPage(shop, who, '10');
    const html = await (await (await shop.foyer.signedIn(who.user)).get(`${path}/withdraw`)).text();
    expect(wordsOf(html)).toContain('We give $99.00 back to your card.');
  });
});
