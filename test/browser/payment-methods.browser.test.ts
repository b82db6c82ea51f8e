import { cards } from '../billing/checkout/card-steps.ts';
import { openShop, type Shop } from '../billing/checkout/shop.ts';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { plansWith } from '../support/plans.ts';
import { goOnAs } from './steps.ts';

const path = '/plan-purchase/10/addPayment';

describe('the payment element in a browser', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let shop: Shop;
  beforeAll(async () => {
    const plans = plansWith({ currency: 'eur' });
    shop = await openShop({ PAYMENT_METHODS: 'card,sepa_debit,ideal', PLANS_FILE: plans });
  });
  afterAll(() => shop?.close());

  async function open() {
    const user = await shop.foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
    const page = await newPage({});
    await goOnAs(page, await shop.foyer.signedIn(user), shop.foyer.url);
    await page.goto(shop.foyer.url + path);
    const save = page.locator('form.needs-script button');
    await save.and(page.locator(':enabled')).waitFor();
    return { user, page, save };
  }

  it('A card is entered in the payment element and pays at once', async () => {
    const { user, page, save } = await open();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('card number').fill(cards.visa);
    await page.getByLabel('expiration date').fill('12 / 34');
    await page.getByLabel('CVC').fill('123');
    await save.click();
    await page.waitForURL(/\/signup\/completed\/m-99$|\/sandbox\/search/);
    expect(await shop.planOf(user)).toBe('10');
  });

  it('A SEPA debit shows its mandate before the button, and the page after it waits for the bank', async () => {
    const { user, page, save } = await open();
    await page.getByLabel('SEPA Direct Debit').check();
    expect(await page.getByText('you allow this business and Stripe to debit your account').isVisible()).toBe(true);
    await page.getByLabel('IBAN').fill('DE89 3704 0044 0532 0130 00');
    await page.getByLabel('Full name').locator('visible=true').fill('Vera Lindqvist');
    await page.getByLabel('Email').locator('visible=true').fill(user.email);
    await save.click();
    await page.waitForURL(/\/settings\/membership$/);
    await page.getByText('We are waiting for your bank').waitFor();
    expect(await shop.planOf(user)).toBeNull();
  });

  it('iDEAL leaves for the bank’s page and comes back to the button that pays', async () => {
    const { user, page, save } = await open();
    await page.getByLabel('iDEAL').check();
    await page.getByLabel('Full name').locator('visible=true').fill('Vera Lindqvist');
    await page.getByLabel('Email').locator('visible=true').fill(user.email);
    await save.click();
    await page.getByRole('button', { name: 'Authorize' }).click();
    await page.waitForURL(/setup_intent=seti_/);
    await page.getByText('Your bank has confirmed this payment method.').waitFor();
    await page.locator('form.form:not(.needs-script) button').click();
    await page.waitForURL(/\/settings\/membership$/);
    await page.getByText('We are waiting for your bank').waitFor();
    expect(await shop.planOf(user)).toBeNull();
  });
});
