import { page, standing } from '../account/membership-steps.ts';
import { aBuyer, type Buyer } from './api-steps.ts';
import { mainForm } from './checkout/shop.ts';
import { hourMs, pass, pauseFor, startPauseShop } from './pause-steps.ts';
import type { Shop } from './steps.ts';
import { buyByPage } from './tax-steps.ts';

/** The charge that a mail names. */
const announcedIn = (mail: string) => /Charged then: (.*)/.exec(mail)?.[1] ?? 'none';

describe('the mails about a coming charge', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startPauseShop();
    const stripe = shop.stripe.client();
    const three = { duration: 'repeating', duration_in_months: 3 } as const;
    for (const coupon of [
      { id: 'HALFTHREE', percent_off: 50, ...three },
      { id: 'TINYTHREE', percent_off: 99.7, ...three },
    ]) {
      await stripe.coupons.create(coupon);
      await stripe.promotionCodes.create({ code: coupon.id, promotion: { type: 'coupon', coupon: coupon.id } });
    }
  });
  afterAll(() => shop?.close());

  /** The text of the newest of these mails. */
  async function mailTo({ user }: Buyer, template: string): Promise<string> {
    const mails = await shop.foyer.mails(user.email);
    return mails.findLast((mail) => mail.template === template)?.text ?? '';
  }
  const setBalance = ({ customer }: Buyer, balance: number) =>
    shop.stripe.client().customers.update(customer, { balance });
  const pageOf = async ({ user }: Buyer) => page(await shop.foyer.signedIn(user));

  it('The mails of a pause say what the credit pays, as the page does', async () => {
    const who = await aBuyer(shop);
    await buyByPage(shop, who, '10');
    await setBalance(who, -50_000);
    await pauseFor(await shop.foyer.signedIn(who.user), 1);
    const words = '$0.00. Another $99.00 is paid from your credit.';
    expect(await pageOf(who)).toContain(words);
    expect(await mailTo(who, 'plan-pauses')).toContain(`Charged then: ${words}`);
    await pass(shop, ((await standing(shop, who.user)).periodEnd ?? 0) + hourMs);
    expect(await mailTo(who, 'plan-paused')).toContain(`Charged then: ${words}`);
  });

  it('The mails of a pause name an amount that is too small to be charged, and the end of the code', async () => {
    const who = await aBuyer(shop);
    await buyByPage(shop, who, '10', 'TINYTHREE');
    await pauseFor(await shop.foyer.signedIn(who.user), 1);
    const words = announcedIn(await mailTo(who, 'plan-pauses'));
    expect(words).toMatch(
      /^\$0\.60\. After that, \$0\.30 is due each time\. .* \$99\.30 is charged .* \$99\.00 after that\.$/,
    );
    expect(await pageOf(who)).toContain(words);
  });

  it('The mail of a change names the charge of the later plan with its code and the amount after it', async () => {
    const who = await aBuyer(shop);
    await buyByPage(shop, who, '12', 'HALFTHREE');
    const browser = await shop.foyer.signedIn(who.user);
    await browser.get('/plan-purchase/10');
    const { action, fields } = mainForm(await (await browser.get('/plan-purchase/10')).text());
    expect((await browser.post(action, fields)).status).toBe(303);
    const mail = await mailTo(who, 'plan-changes');
    const words = announcedIn(mail);
    expect(words).toMatch(/^\$49\.50\. The discount ends on .*; after that, \$99\.00 is charged\.$/);
    expect(await pageOf(who)).toContain(words);
    expect(mail).not.toContain('Price');
  });

  it('The notice before a renewal says what the credit pays, in the language of the member', async () => {
    const who = await aBuyer(shop);
    await buyByPage(shop, who, '11');
    await setBalance(who, -100_000);
    await pass(shop, ((await standing(shop, who.user)).periodEnd ?? 0) - 30 * 24 * hourMs + hourMs);
    const words = '$0.00. Another $900.00 is paid from your credit.';
    expect(await pageOf(who)).toContain(words);
    expect(await mailTo(who, 'renewal-notice')).toContain(`Amount: ${words}`);
  });
});
