import { wordsOf } from './checkout/shop.ts';
import { forgetCards, type Member, member, planPage, startTrialShop, trier } from './plan-trial-steps.ts';
import { cards, type Shop } from './steps.ts';

const starter = '14 days free, then $99 a month.';
const growth = '5 days free, then $499 a month.';

describe('the free days in the list of plans', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startTrialShop();
  });
  afterAll(() => shop?.close());

  const list = async ({ browser }: Member, type = '1') =>
    wordsOf(await (await browser.get(`/plan-purchase?type=${type}`)).text());
  const isOfferedOnPage = async ({ browser }: Member) => 'trialEnd' in (await planPage(browser)).fields;

  it('A member who never paid reads the days of each plan that has them, with a new card and without one', async () => {
    for (const card of [undefined, null]) {
      const who = await member(shop, { ...(card === null && { card }) });
      const words = await list(who);
      expect(words).toContain(starter);
      expect(words).toContain(growth);
      expect(words.match(/days? free/g)).toHaveLength(2);
      expect(await list(who, '2')).not.toMatch(/days? free/);
      expect(await isOfferedOnPage(who)).toBe(true);
    }
  });

  it('A member whose card or mailbox has had free days reads of none, as on the page of the plan', async () => {
    await forgetCards(shop);
    await trier(shop, { email: 'list.trier@gmail.com' });
    const sameMailbox = await member(shop, { email: 'listtrier+1@gmail.com', card: null });
    expect(await list(sameMailbox)).not.toMatch(/days? free/);
    expect(await isOfferedOnPage(sameMailbox)).toBe(false);
    const sameCard = await member(shop, { card: null });
    await shop.saveCard(sameCard.user, cards.visa);
    expect(await list(sameCard)).not.toMatch(/days? free/);
    expect(await isOfferedOnPage(sameCard)).toBe(false);
  });

  it('A member who has begun a trial reads of no further one', async () => {
    expect(await list(await trier(shop))).not.toMatch(/days? free/);
  });

  it('A member who owes an amount from before reads of none: with it the plan may be sold without', async () => {
    const who = await member(shop);
    const { customerId } = (await shop.membership.getMembership(who.user.id)) ?? {};
    await shop.stripe.client().customers.update(customerId ?? '', { balance: 500 });
    await shop.membership.refresh(who.user.id);
    expect(await list(who)).not.toMatch(/days? free/);
  });

  it('While Stripe cannot say whether a card has had them, the list shows the plans and promises nothing', async () => {
    const who = await member(shop);
    shop.stripe.fault('error', (_method, path) => path.startsWith('/v1/payment_methods/'));
    const words = await list(who);
    expect(words).toContain('Starter');
    expect(words).not.toMatch(/days? free/);
    expect(await list(who)).toContain(starter);
  });
});
