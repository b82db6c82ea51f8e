import { listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { openShop, type Shop } from '../billing/checkout/shop.ts';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { layoutFaults } from './layout.ts';
import { enter, openPayment } from './payment-steps.ts';
import { goOnAs } from './steps.ts';
import { shareShop } from './tour-withdrawal.ts';

const dayMs = 24 * 60 * 60_000;

describe('a withdrawal that keeps the share of the days, in a browser', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(shareShop());
  });
  afterAll(() => shop?.close());

  async function vera(): Promise<User> {
    const user = await shop.foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
    await shop.customerOf(user);
    const { details } = await shop.foyer.app.membership.findDetails(user.id);
    await shop.foyer.app.membership.saveDetails(user, { ...details, postalCode: '10117', country: 'DE' });
    return user;
  }
  const orders = ({ id }: User) => listOrders(shop.foyer.deps.database.db, id);

  it.each([true, false])(
    'A member asks that the plan begins, and withdraws after days, JavaScript %s',
    async (javaScript) => {
      const user = await vera();
      await shop.saveCard(user);
      const page = await newPage({ javaScript, widthPx: 375 });
      await goOnAs(page, await shop.foyer.signedIn(user), shop.foyer.url);
      await page.goto(`${shop.foyer.url}/plan-purchase/10`);
      await page.getByRole('button', { name: 'Pay €99.00' }).click();
      await page.getByText('Please tick this box.').waitFor();
      expect(await orders(user)).toEqual([]);
      expect(await layoutFaults(page)).toEqual([]);
      if (javaScript) expect(await axeFindings(page)).toEqual([]);
      const box = page.getByRole('checkbox', { name: 'I ask that my plan begins right away.' });
      expect(await box.isChecked()).toBe(false);
      await box.check();
      await page.getByRole('button', { name: 'Pay €99.00' }).click();
      await page.waitForURL(/completed|settings|search|dashboard/);
      expect(await orders(user)).toMatchObject([{ paidCents: 9_900, beginWording: '1-en' }]);
      shop.standIn.engine.advance(3 * dayMs + 60_000);
      await goOnAs(page, await shop.foyer.signedIn(user), shop.foyer.url);
      await page.goto(`${shop.foyer.url}/settings/membership/withdraw`);
      await page.getByText(/We keep €\d+\.\d\d for 3 of \d\d days/).waitFor();
      expect(await layoutFaults(page)).toEqual([]);
      const named = /We give €(\d+)\.(\d\d) back/.exec((await page.locator('main').textContent()) ?? '');
      await page.getByRole('button', { name: 'Withdraw now' }).click();
      await page.getByText('You’ve withdrawn from the contract.').waitFor();
      expect(await orders(user)).toMatchObject([{ refundedCents: Number(`${named?.[1]}${named?.[2]}`) }]);
    },
  );

  it('The form of a card leads to the box, and sends nothing before it is ticked', async () => {
    const user = await vera();
    const page = await newPage({ widthPx: 375 });
    await goOnAs(page, await shop.foyer.signedIn(user), shop.foyer.url);
    const visit = await openPayment(page, user, shop.foyer.url);
    await enter(visit, '4242424242424242');
    const box = page.getByRole('checkbox', { name: 'I ask that my plan begins right away.' });
    await page.locator('[name=beginsAtOnce]:focus:invalid').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(visit.posted.length).toBe(0);
    // Right above the button: nothing is between the two in the order of the focus, and the fields come before.
    await page.keyboard.press('Tab');
    expect(await visit.save.evaluate((button) => button === document.activeElement)).toBe(true);
    await box.focus();
    await page.keyboard.press('Shift+Tab');
    await page.locator('[name=zip]:focus').waitFor();
    const [above, below] = [await box.boundingBox(), await visit.save.boundingBox()];
    expect((below?.y ?? 0) - (above?.y ?? 0)).toBeGreaterThan(0);
    expect((below?.y ?? 0) - (above?.y ?? 0)).toBeLessThan(160);
    await box.check();
    await visit.save.click();
    await page.waitForURL(/completed|settings|search|dashboard/);
    expect(await orders(user)).toMatchObject([{ paidCents: 9_900, beginWording: '1-en' }]);
  });
});
