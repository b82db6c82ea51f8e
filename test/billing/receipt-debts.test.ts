import { aBuyer, type Buyer } from './api-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import { startPauseShop } from './pause-steps.ts';
import type { Shop } from './steps.ts';
import { buyByPage } from './tax-steps.ts';

/** The amounts of a receipt add up: also where a rest is too small to be charged, or is owed from before. */
describe('the receipt of a purchase around a debt', () => {
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

  it('A purchase without a debt names none', async () => {
    const { page, mail } = await buyWith(0);
    for (const text of [page, mail]) expect(text).not.toMatch(/Too small|Owed from before/);
  });
});
