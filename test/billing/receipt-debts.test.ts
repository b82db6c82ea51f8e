import { aBuyer, type Buyer } from './api-steps.ts';
import { mainForm, wordsOf } from './checkout/shop.ts';
import { startPauseShop } from './pause-steps.ts';
import type { Shop } from './steps.ts';
import { buyByPage } from './tax-steps.ts';

/** The amounts of a receipt add up: also after an upgrade, and where a rest is too small to be charged or owed from before. */
describe('the amounts of a receipt', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startPauseShop();
  });
  afterAll(() => shop?.close());

  /** Buys with this balance at Stripe: below 0 credit, above 0 owed. */
  async function buyWith(balance: number) {
    const who: Buyer = await aBuyer(shop);
    await shop.stripe.client().customers.update(who.customer, { balance });
    const summary = await buyByPage(shop, who, '10');
    const browser = await shop.foyer.signedIn(who.user);
    const page = wordsOf(await (await browser.get('/signup/completed/m-99')).text());
    const mails = await shop.foyer.mails(who.user.email);
    const mail = mails.find(({ template }) => template === 'receipt')?.text ?? '';
    return { summary, page, mail };
  }

  it('A rest that is too small to be charged is named by the mail and by the page after the purchase', async () => {
    const { summary, page, mail } = await buyWith(-9_895);
    const label = 'Too small to charge, added to your next payment';
    expect(summary).toContain(`${label} −$0.05`);
    expect(mail).toMatch(
      new RegExp(`Price: \\$99\\.00\\nCredit used: −\\$98\\.95\\n${label}: −\\$0\\.05\\nAmount charged: \\$0\\.00`),
    );
    expect(page).toContain(`From your credit $98.95 ${label} $0.05`);
    expect(mail).not.toContain('Owed from before');
  });

  it('A debt from before that is charged with the purchase is named by both', async () => {
    const { summary, page, mail } = await buyWith(20);
    expect(summary).toContain('Owed from before $0.20');
    expect(mail).toContain('Owed from before: $0.20\nAmount charged: $99.20');
    expect(page).toContain('Owed from before $0.20');
    expect(mail).not.toContain('Too small');
  });

  it.each([
    {
      from: '10',
      to: '12',
      amounts: 'Price: \\$499\\.00\nUnused time of your plan: −\\$99\\.00\nAmount charged: \\$400\\.00',
    },
    {
      from: '12',
      to: '13',
      code: 'ALLOFF',
      amounts:
        'Price: \\$5,000\\.00\nDiscount: −\\$5,000\\.00\nUnused time of your plan: −\\$499\\.00\n' +
        'Kept as your credit: \\$499\\.00\nAmount charged: \\$0\\.00',
    },
  ])('An upgrade from $from to $to names the unused time of the plan before', async ({ from, to, code, amounts }) => {
    const who: Buyer = await aBuyer(shop);
    await buyByPage(shop, who, from);
    const browser = await shop.foyer.signedIn(who.user);
    if (code !== undefined) {
      const stripe = shop.stripe.client();
      await stripe.coupons.create({ id: 'off', percent_off: 100, duration: 'once' });
      await stripe.promotionCodes.create({ code, promotion: { type: 'coupon', coupon: 'off' } });
      await browser.get(`/plan-purchase/${to}`);
      await browser.post(`/plan-purchase/${to}`, { act: 'promo', planId: to, promo: code });
    }
    const { action, fields } = mainForm(await (await browser.get(`/plan-purchase/${to}`)).text());
    expect((await browser.post(action, fields)).status).toBe(303);
    const mails = await shop.foyer.mails(who.user.email);
    const texts = mails.filter(({ template }) => template === 'receipt').map(({ text }) => text);
    expect(texts.filter((text) => new RegExp(amounts).test(text ?? ''))).toHaveLength(1);
  });

  it('A purchase without a debt names none', async () => {
    const { page, mail } = await buyWith(0);
    for (const text of [page, mail]) expect(text).not.toMatch(/Too small|Owed from before/);
  });
});
