import { openShop, type Shop } from '../billing/checkout/shop.ts';
import { giftPath, giftPlans, makeGift } from '../billing/gift-steps.ts';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { password } from '../support/foyer.ts';
import { andLoad } from './steps.ts';

describe('a gift code in a browser', () => {
  const { newPage, takeFaults } = chromiumForTests({ profilesStay: true });
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop({ PLANS_FILE: giftPlans() });
  });
  afterAll(() => shop?.close());
  afterEach(() => expect(takeFaults()).toEqual([]));

  it.each([true, false])(
    'A member opens the link of a gift, signs in, redeems the code and sees the plan with its end (JavaScript: %s)',
    async (javaScript) => {
      const user = await shop.foyer.addUser();
      const { code } = await makeGift(shop, shop.standIn.engine.nowMs());
      const page = await newPage({ javaScript, widthPx: 375 });
      await page.goto(`${shop.foyer.url}${giftPath}?code=${code}`);
      await page.locator('[name=username]').fill(user.email);
      await page.locator('[name=password]').fill(password);
      await andLoad(page, () => page.locator('[name=password]').press('Enter'));
      await page.getByRole('heading', { name: 'Redeem a gift code' }).waitFor();
      expect(await page.getByLabel('Gift code').inputValue()).toBe(code);
      if (javaScript) expect(await axeFindings(page)).toEqual([]);
      // A typing mistake stays in the field with its error.
      await page.getByLabel('Gift code').fill('7K2M-9QXD');
      await andLoad(page, () => page.getByRole('button', { name: 'Redeem', exact: true }).click());
      await page.getByText('We don’t know this code.').waitFor();
      expect(await page.getByLabel('Gift code').inputValue()).toBe('7K2M-9QXD');
      expect(await shop.planOf(user)).toBeNull();
      await page.getByLabel('Gift code').fill(code.toLowerCase());
      await andLoad(page, () => page.getByRole('button', { name: 'Redeem', exact: true }).click());
      await page.getByText('Your code has been redeemed.').waitFor();
      await page.getByText(/^Starter.*Gift until/).waitFor();
      expect(await shop.planOf(user)).toBe('11');
      // Back and the same code again: nothing is lost and nothing is added.
      await page.goto(`${shop.foyer.url}${giftPath}?code=${code}`);
      await andLoad(page, () => page.getByRole('button', { name: 'Redeem', exact: true }).click());
      await page.getByText(/^Starter.*Gift until/).waitFor();
      if (javaScript) expect(await axeFindings(page)).toEqual([]);
    },
  );
});
