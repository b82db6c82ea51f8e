import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { startStripe, type TestStripe } from '../support/stripe.ts';
import { layoutFaults } from './layout.ts';

describe('the sandbox’s billing page in a browser', () => {
  const { newPage } = chromiumForTests();
  let foyer: TestFoyer;
  let standIn: TestStripe;
  beforeAll(async () => {
    standIn = await startStripe();
    foyer = await startFoyer(anyBackend, standIn.environment());
    const stripe = standIn.client();
    const product = await stripe.products.create({ name: 'Basic' });
    const recurring = { interval: 'month' } as const;
    const price = await stripe.prices.create({ product: product.id, currency: 'usd', unit_amount: 9_900, recurring });
    const customer = await stripe.customers.create({ email: 'vera.of.the.very.long.address@example.com' });
    const { id } = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
    await stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: price.id }],
      default_payment_method: id,
    });
  });
  afterAll(async () => {
    await foyer?.close();
    await standIn?.close();
  });

  it('The billing page moves the clock a month ahead, the plan renews, and the page fits on a phone', async () => {
    const page = await newPage({ widthPx: 320 });
    await page.goto(`${foyer.url}/sandbox`);
    await page.getByRole('link', { name: 'Billing', exact: true }).click();
    expect(await page.getByRole('button', { name: /^Refund/ }).count()).toBe(1);
    // On a phone the buttons of the clock share rows, and a card has no labels that each of them repeats.
    await page.setViewportSize({ width: 375, height: 667 });
    const clock = await page.getByRole('button', { name: /forward$/ }).all();
    const rows = new Set(await Promise.all(clock.map(async (button) => (await button.boundingBox())?.y)));
    expect([clock.length, rows.size]).toEqual([5, 3]);
    expect(await page.getByText('What happens').count()).toBe(0);
    await page.setViewportSize({ width: 320, height: 667 });
    await page.getByRole('button', { name: '30 days forward' }).click();
    await page.getByText('30 days ahead').waitFor();
    await page.getByRole('button', { name: '1 day forward' }).click();
    await page.getByText('31 days ahead').waitFor();
    expect(await page.getByRole('button', { name: /^Refund/ }).count()).toBe(2);
    // An id's width depends on its letters: give the page the widest one that Stripe could draw.
    await page
      .locator('.item-label')
      .first()
      .evaluate((label) => {
        label.textContent = `price_${'W'.repeat(24)}`;
      });
    expect(await layoutFaults(page)).toEqual([]);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('link', { name: /-0001$/ }).click();
    await page.getByRole('heading', { level: 1, name: /^Invoice .*-0001$/ }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});
