import { texts } from '../../locales/index.ts';
import { translator } from '../../sandbox/texts.ts';
import { cards } from '../billing/checkout/card-steps.ts';
import { openShop, type Shop } from '../billing/checkout/shop.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { bank, enter, openPayment } from './payment-steps.ts';
import { browserLocale, goOnAs } from './steps.ts';

describe('refused cards in a browser', () => {
  const { newPage, takeFaults } = chromiumForTests({ profilesStay: true });
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterAll(() => shop?.close());

  it.each(['de', 'fr', 'nl'] as const)(
    'The reason of a refused card and of a failed 3-D Secure challenge is in the language of the page (%s)',
    async (lang) => {
      const user = await shop.foyer.addUser();
      const page = await newPage({ locale: browserLocale[lang] });
      await goOnAs(page, await shop.foyer.signedIn(user), shop.foyer.url);
      const visitor = await openPayment(page, user, shop.foyer.url);
      const { refused } = texts[lang].payment;
      const notice = page.locator('form .notice.error');
      await enter(visitor, '4000000000009995');
      await notice.getByText(refused.funds).waitFor();
      expect(takeFaults().join()).toMatch(/^answered 402: [^,]*$/);
      await enter(visitor, cards.asksOnce);
      await bank(visitor).getByRole('button', { name: 'Fail' }).click();
      await notice.getByText(refused.notAuthenticated).waitFor();
      await enter(visitor, cards.asksAlways);
      await bank(visitor).getByRole('button', { name: 'Complete' }).click();
      await page.getByRole('heading', { name: translator(lang)('payment.bank.title') }).waitFor();
      await bank(visitor).getByRole('button', { name: 'Fail' }).click();
      await page.getByRole('alert').getByText(refused.notAuthenticated).waitFor();
    },
  );
});
