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
});
