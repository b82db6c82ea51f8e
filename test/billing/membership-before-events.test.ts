import { StripeUnavailableError } from '../../server/billing/index.ts';
import { anyBackend } from '../support/stores.ts';
import { chargedTo } from './api-steps.ts';
import { dayMs, from, manyCards, type Shop, startShop } from './steps.ts';

const hourMs = 60 * 60_000;

/** Until Stripe's events arrive the stored membership is old: acts and prices must not follow from it. */
describe('a membership before the events of Stripe have arrived', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { ...manyCards, CARD_LIMIT_MEMBER: '1000' });
  });
  afterAll(() => shop?.close());

  async function memberOf(code: string) {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    expect(await shop.buy(user, code)).toMatchObject({ kind: 'paid' });
    const { customerId, periodEnd } = (await shop.membership.getMembership(user.id)) ?? {};
    if (!customerId || !periodEnd) throw new Error('the member has no period');
    return { user, customerId, passPeriod: () => shop.passTime(periodEnd - shop.stripe.engine.nowMs() + 2 * hourMs) };
  }

  it('A plan is sold to a member whose cancelled plan has ended', async () => {
    const { user, customerId, passPeriod } = await memberOf('m-499');
    await shop.membership.cancel(user, { atOnce: false });
    passPeriod();
    const page = await (await shop.foyer.signedIn(user)).get('/plan-purchase/15');
    expect(page.status).toBe(200);
    expect(await shop.buy(user, 'y-8000')).toMatchObject({ kind: 'paid' });
    expect(await chargedTo(shop, customerId)).toEqual([800_000, 49_900]);
  });

  it('A scheduled plan that has begun is announced with the day of its second charge', async () => {
    const { user, customerId, passPeriod } = await memberOf('m-899');
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'scheduled' });
    passPeriod();
    const { dueCents, next } = await shop.membership.quote(await shop.userNow(user), shop.plan('m-99'), null);
    expect({ dueCents, amountCents: next?.amountCents }).toEqual({ dueCents: 0, amountCents: 9_900 });
    expect((next?.at ?? 0) - shop.stripe.engine.nowMs()).toBeGreaterThan(20 * dayMs);
    expect(await chargedTo(shop, customerId)).toEqual([9_900, 89_900]);
  });

  it('A plan that was bought, while the answer was lost, is announced without another charge', async () => {
    const { user, customerId } = await memberOf('m-99');
    await shop.membership.choose(user, shop.plan('m-499'));
    const { dueCents } = await shop.membership.quote(user, shop.plan('m-499'), null);
    const isChange = (method: string, path: string) => method === 'POST' && /^\/v1\/subscriptions\/\w+$/.test(path);
    shop.stripe.fault('lost', isChange);
    const lost = shop.membership.confirm(user, { planId: shop.plan('m-499').id, dueCents }, from);
    await expect(lost).rejects.toThrow(StripeUnavailableError);
    const again = await shop.membership.quote(user, shop.plan('m-499'), null);
    expect(again.dueCents).toBe(0);
    const announced = { planId: shop.plan('m-499').id, dueCents: 0 };
    expect(await shop.membership.confirm(user, announced, from)).toMatchObject({ kind: 'paid' });
    expect(await chargedTo(shop, customerId)).toEqual([dueCents, 9_900]);
  });

  it('A card that was used for a trial is saved for another member whose trial has just ended', async () => {
    const [first, second] = [await shop.foyer.addUser(), await shop.foyer.addUser()];
    await shop.saveCard(first);
    await shop.membership.ensure(second, 7);
    shop.passTime(8 * dayMs);
    expect(await shop.membership.getMembership(second.id)).toMatchObject({ status: 'trialing' });
    await shop.saveCard(second);
    expect(await shop.membership.getMembership(second.id)).toMatchObject({
      status: 'paused',
      card: { lastFour: '4242' },
    });
    expect(await shop.buy(second, 'm-99')).toMatchObject({ kind: 'paid' });
  });
});
