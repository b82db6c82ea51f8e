import { standing } from '../account/membership-steps.ts';
import { chargedTo } from './api-steps.ts';
import { seatsOf, startSeatsShop, typeSeats, withSeats } from './seats-steps.ts';
import type { Shop } from './steps.ts';

/** Starter costs 99 dollars for each seat. */
describe('seats that are bought by the JSON API', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startSeatsShop();
  });
  afterAll(() => shop?.close());

  /** A member with three seats. */
  async function ofThree() {
    const { user, browser } = await withSeats(shop, 3);
    const { customerId, subscriptionId } = await standing(shop, user);
    const buy = async (more: object) => {
      const body = { plan_name: 'm-99', amount: '0.00', ...more };
      const answer = await browser.postJson(`/customer/${customerId}/subscription/${subscriptionId}`, body);
      return { status: answer.status, body: await answer.json() };
    };
    return { user, browser, buy, charged: () => chargedTo(shop, customerId ?? '') };
  }

  it('More seats are charged with exactly the announced amount, and the plan has them', async () => {
    const { user, buy, charged } = await ofThree();
    const before = await charged();
    expect(await buy({ seats: 5 })).toMatchObject({
      status: 409,
      body: { errors: [{ name: 'body.amount', detail: 'is 198.00' }] },
    });
    expect(await charged()).toEqual(before);
    expect(await buy({ seats: 5, amount: '198.00', next_amount: '495.00' })).toMatchObject({
      status: 200,
      body: { status: 'paid', amount: '198.00', next_charge: { amount: '495.00' } },
    });
    expect((await charged()).toSorted((a, b) => a - b)).toEqual([19_800, 29_700]);
    expect((await shop.userNow(user)).seats).toBe(5);
    // A repetition charges nothing.
    expect(await buy({ seats: 5, amount: '198.00' })).toMatchObject({ status: 200, body: { status: 'paid' } });
    expect(await charged()).toHaveLength(2);
  });

  it('Fewer seats come at the end of the paid period, with the charge that is named', async () => {
    const { user, buy } = await ofThree();
    expect(await buy({ seats: 1 })).toMatchObject({
      status: 200,
      body: { status: 'scheduled', amount: '0.00', next_charge: { amount: '99.00' } },
    });
    expect(await seatsOf(shop, user)).toEqual({ stored: 3, next: 1, claim: 3, atStripe: 3 });
  });

  it('Without a number those that the page has are bought, and no repetition is told', async () => {
    const { user, browser, buy } = await ofThree();
    expect((await typeSeats(browser, '10', '2')).status).toBe(303);
    expect(await buy({})).toMatchObject({
      status: 200,
      body: { status: 'scheduled', next_charge: { amount: '198.00' } },
    });
    expect(await seatsOf(shop, user)).toEqual({ stored: 3, next: 2, claim: 3, atStripe: 3 });
  });

  it.each([
    ['more seats than the plan has', { seats: 51 }, 409, 'must be 1 to 50'],
    ['seats of a plan that has none', { plan_name: 'm-899', seats: 2 }, 409, 'is not for a plan without seats'],
    ['no seat', { seats: 0 }, 400, undefined],
    ['a part of a seat', { seats: 1.5 }, 400, undefined],
  ])('A call for %s is refused and changes nothing', async (_title, more, status, detail) => {
    const { user, buy } = await ofThree();
    const answer = await buy(more);
    expect(answer).toMatchObject({ status, body: { errors: [{ name: 'body.seats', ...(detail && { detail }) }] } });
    expect(await standing(shop, user)).toMatchObject({ seats: 3, nextPlanId: null });
  });
});
