import { importPartnerDeals } from '../../server/users/index.ts';
import { standing } from '../account/membership-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import { pauseFor, startPauseShop } from './pause-steps.ts';
import { cards, type Shop } from './steps.ts';

describe('a partner’s deal that is taken before a pause begins', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startPauseShop();
  });
  afterAll(() => shop?.close());

  it('The paid plan ends with its period at once, and another plan can be chosen without waiting for a job', async () => {
    const user = await shop.foyer.addUser();
    await shop.membership.ensure(user, 7);
    await shop.saveCard(user, cards.visa);
    await shop.buy(user, 'm-99');
    const browser = await shop.foyer.signedIn(user);
    await pauseFor(browser, 2);
    await shop.foyer.stores.database.transaction((trx) =>
      importPartnerDeals(trx, [{ email: user.email, tier: 1 }], Date.now()),
    );
    const dealPath = '/plan-purchase-appsumo/';
    await browser.get(dealPath);
    expect((await browser.post(dealPath, { planId: '101' })).status).toBe(303);
    expect(await standing(shop, user)).toMatchObject({ cancelAtPeriodEnd: true, pause: null });
    const answer = await browser.get('/plan-purchase/12');
    expect(answer.status).toBe(200);
    expect(wordsOf(await answer.text())).toContain('Due today');
  });
});
