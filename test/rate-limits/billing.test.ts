import { rateLimits, toCounterKey, translator } from '../../server/http/index.ts';
import { openShop, type Shop, wordsOf } from '../billing/checkout/shop.ts';

const t = translator('en');

describe('the limit of reads from Stripe', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterAll(() => shop?.close());

  it('A member who has used up the reads of a minute gets the page as if Stripe did not answer', async () => {
    const { foyer } = shop;
    const user = await foyer.addUser();
    await shop.customerOf(user);
    const browser = await foyer.signedIn(user);
    const isAway = async () =>
      wordsOf(await (await browser.get('/settings/membership')).text()).includes(t('membership.unavailable'));
    expect(await isAway()).toBe(false);
    const { counters, window } = rateLimits.billingRead;
    const key = toCounterKey(counters[0], user.id);
    const { kv } = foyer.deps;
    await kv.consumeCount(key, window, counters[0].max - (await kv.count(key)));
    expect(await isAway()).toBe(true);
    expect(await kv.count(key)).toBe(counters[0].max);
    await kv.delete(key);
    expect(await isAway()).toBe(false);
  });
  it('A call for a member who has used up the reads of a minute gets 429 with the time to wait', async () => {
    const { foyer } = shop;
    const user = await foyer.addUser();
    const { subscriptionId } = await foyer.app.membership.ensure(user, 7);
    const browser = await foyer.signedIn(user);
    const apply = () =>
      browser.request(`/customer/signup/${subscriptionId}`, {
        method: 'PUT',
        headers: { origin: foyer.url, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
        body: JSON.stringify({ coupon: 'NONE', planId: '10' }),
      });
    expect((await apply()).status).toBe(404);
    const { counters, window } = rateLimits.billingRead;
    const key = toCounterKey(counters[0], user.id);
    const { kv } = foyer.deps;
    await kv.consumeCount(key, window, counters[0].max - (await kv.count(key)));
    const order = await browser.postJson('/user/orderCreation', { invoiceId: 'in_unknown' });
    expect(order.status).toBe(429);
    expect(await order.json()).toMatchObject({ type: 'urn:foyer:problem:tooMany' });
    expect(Number(order.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(order.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  });
});
