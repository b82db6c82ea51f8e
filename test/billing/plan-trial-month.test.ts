import { addMonths } from '../../server/shared/index.ts';
import { standing } from '../account/membership-steps.ts';
import { charges, hourMs, pass } from './pause-steps.ts';
import { member, planPage, startTrialShop } from './plan-trial-steps.ts';
import { dayMs, type Shop } from './steps.ts';

/** A code for a month, and as many free days as the month has: both end at the same time of day. */
describe('a code that ends with the free days', () => {
  let shop: Shop;
  beforeAll(async () => {
    const days = Math.round((addMonths(Date.now(), 1) - Date.now()) / dayMs);
    shop = await startTrialShop({}, { days: { 'm-99': days } });
    const library = shop.stripe.client();
    await library.coupons.create({ id: 'month', percent_off: 50, duration: 'repeating', duration_in_months: 1 });
    await library.promotionCodes.create({ code: 'MONTH', promotion: { type: 'coupon', coupon: 'month' } });
  });
  afterAll(() => shop?.close());

  it.each([
    ['at once', 0],
    ['a minute later', 60_000],
  ])('It takes its part off the first charge, as announced, if the button is pressed %s', async (_when, waitsMs) => {
    const who = await member(shop);
    await who.browser.post('/plan-purchase/10', { act: 'promo', planId: '10', promo: 'MONTH' });
    const { words, fields } = await planPage(who.browser);
    expect(words).toMatch(/First payment on \w+ \d+, \d{4} \$49\.50 /);
    shop.passTime(waitsMs);
    const answer = await who.browser.post('/plan-purchase/10', fields);
    expect(answer.headers.get('location')).toMatch(/^\/signup\/completed\//);
    const { triedUntil, nextCharge } = await standing(shop, who.user);
    expect(nextCharge).toMatchObject({ amountCents: 4_950, at: triedUntil });
    await pass(shop, (triedUntil ?? 0) + 2 * hourMs);
    expect(await charges(shop, who.user)).toEqual([4_950]);
  });
});
