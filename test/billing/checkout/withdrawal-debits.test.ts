import { listOrders } from '../../../server/billing/index.ts';
import { plansWith } from '../../support/plans.ts';
import { asMember, starter } from '../api-steps.ts';
import { fieldsWith } from '../order-form.ts';
import { dayMs } from '../steps.ts';
import { accounts, beginMethodAt, confirmMethod, methodData } from './card-steps.ts';
import { openShop, type Shop, wordsOf } from './shop.ts';

const path = '/settings/membership/withdraw';

describe('the request that a plan begins at once, by debit and by calls', () => {
  let shop: Shop;
  beforeAll(async () => {
    const consumers = { withdrawalDays: 14, refund: 'prorated' } as const;
    const plans = plansWith({ currency: 'eur', periods: 'days', consumers });
    shop = await openShop({ PAYMENT_METHODS: 'card,sepa_debit', PLANS_FILE: plans });
    shop.standIn.tell(shop.foyer.url);
  });
  afterAll(() => shop?.close());

  async function vera() {
    const user = await shop.foyer.addUser();
    const customer = await shop.customerOf(user);
    const { membership } = shop.foyer.app;
    const { details } = await membership.findDetails(user.id);
    await membership.saveDetails(user, { ...details, country: 'DE', postalCode: '10117' });
    return { user, customer };
  }
  const ordersOf = ({ id }: { id: Parameters<typeof listOrders>[1] }) => listOrders(shop.foyer.deps.database.db, id);
  async function pass(ms: number): Promise<void> {
    shop.standIn.engine.advance(ms);
    await shop.standIn.webhooks.idle();
    await shop.foyer.app.membership.work();
  }

  it('The order of a debit has the request of the day on which it was agreed, and the days count from the payment', async () => {
    const { user } = await vera();
    const browser = await shop.foyer.signedIn(user);
    const begun = await beginMethodAt(browser, '/plan-purchase/10/addPayment');
    confirmMethod(shop, begun, { data: methodData.debit(accounts.succeedsLate) });
    const { action, fields, setupIntent } = begun;
    await browser.post(action, { ...fields, setupIntent, beginsAtOnce: '1' });
    const askedAt = shop.standIn.engine.nowMs();
    expect(await ordersOf(user)).toEqual([]);
    await pass(5 * 60_000);
    await pass(5 * 60_000);
    const [order] = await ordersOf(user);
    expect(order).toMatchObject({ paidCents: 9_900, beginWording: '1-en' });
    expect(Math.abs((order?.beginRequestedAt ?? 0) - askedAt)).toBeLessThan(60_000);
    await pass(3 * dayMs);
    const later = await shop.foyer.signedIn(user);
    const html = await (await later.get(path)).text();
    expect(wordsOf(html)).toContain('We keep €9.90 for 3 of 30 days');
    expect(wordsOf(html)).toContain('We give €89.10 back to your bank account.');
    await later.post(path, fieldsWith(html, 'days'));
    await shop.standIn.webhooks.idle();
    expect((await ordersOf(user))[0]).toMatchObject({ refundedCents: 8_910 });
  });

  it('A call that buys says that the member has asked; without it 409, and nothing is charged', async () => {
    const { user, customer } = await vera();
    await shop.saveCard(user);
    const { subscriptionId } = (await shop.foyer.app.membership.getMembership(user.id)) ?? {};
    const call = await asMember(shop, user);
    const upgrade = (more: object) =>
      call('POST', `/customer/${customer}/subscription/${subscriptionId}`, { ...starter, currency: 'eur', ...more });
    for (const more of [{}, { begins_at_once: false }]) {
      const { status, body } = await upgrade(more);
      expect([status, body.type]).toEqual([409, 'urn:foyer:problem:requestToBeginRequired']);
    }
    expect((await upgrade({ begins_at_once: '1' })).status).toBe(400);
    expect(await ordersOf(user)).toEqual([]);
    expect(await upgrade({ begins_at_once: true })).toMatchObject({ status: 200, body: { status: 'paid' } });
    expect(await ordersOf(user)).toMatchObject([{ paidCents: 9_900, beginWording: 'api' }]);
  });
});
