import type { Page } from 'playwright-core';
import { cards } from '../billing/checkout/card-steps.ts';
import { openShop, type Shop } from '../billing/checkout/shop.ts';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { plansWith } from '../support/plans.ts';
import { layoutFaults } from './layout.ts';
import { goOnAs } from './steps.ts';
import { buy } from './tour-membership.ts';

const path = '/plan-purchase/10/addPayment';

/** On how many lines a word of an element is. */
const linesOf = (page: Page, selector: string, word: string): Promise<number> =>
  page.locator(selector).evaluate((element, text) => {
    const node = element.firstChild;
    const start = node?.textContent?.indexOf(text) ?? -1;
    if (!node || start < 0) return 0;
    const range = document.createRange();
    range.setStart(node, start);
    range.setEnd(node, start + text.length);
    return range.getClientRects().length;
  }, word);

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

  it.each(['light', 'dark'] as const)(
    'The fields of the payment element look like those of the page (%s)',
    async (colorScheme) => {
      const { page } = await open();
      await page.emulateMedia({ colorScheme });
      await page.getByText('iDEAL').click();
      const looks = await page.evaluate(() => {
        const of = (element: Element | null | undefined, names: readonly string[]) => {
          const style = element ? getComputedStyle(element) : undefined;
          return names.map((name) => style?.getPropertyValue(name));
        };
        const own = document.createElement('div');
        own.className = 'field';
        own.innerHTML = '<label>Own</label><div class="control"><input></div>';
        document.querySelector('.payment-element')?.before(own);
        const visible = (selector: string) =>
          [...document.querySelectorAll(`.payment-element ${selector}`)].find((one) => one.getClientRects().length > 0);
        const label = ['color', 'font-family', 'font-size', 'font-weight'];
        const field = ['background-color', 'border-radius', 'border-top-color', 'font-size', 'font-family', 'height'];
        return {
          own: [of(own.querySelector('label'), label), of(own.querySelector('input'), field)],
          stripe: [of(visible('.Label'), label), of(visible('.Input'), field)],
          ring: of(document.querySelector('.payment-element :checked'), ['border-top-width', 'border-top-color']),
        };
      });
      expect(looks.stripe).toEqual(looks.own);
      expect(looks.ring).toEqual(['6px', colorScheme === 'dark' ? 'rgb(92, 200, 181)' : 'rgb(14, 107, 94)']);
    },
  );

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

  it('The sentence about the days of a debit is shown below a method that debits, and below no card', async () => {
    const { page } = await open();
    const sentence = page.getByText('A bank debit takes up to 14 working days');
    await sentence.waitFor({ state: 'hidden' });
    await page.getByText('SEPA').first().click();
    await sentence.waitFor();
    await page.getByText('iDEAL').click();
    expect(await sentence.isVisible()).toBe(true);
    await page.locator('.payment-element input[type=radio]').first().check();
    await sentence.waitFor({ state: 'hidden' });
  });

  it('The invoices fit into their card beside the side menu, in German and with the widest number', async () => {
    const user = await shop.foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
    await buy('m-99')(user, shop);
    const page = await newPage({});
    await goOnAs(page, await shop.foyer.signedIn(user), shop.foyer.url);
    await page.context().addCookies([{ name: 'foyer_lang', value: 'de', url: shop.foyer.url }]);
    for (const width of [768, 820, 1366]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${shop.foyer.url}/settings/membership`);
      const layout = await page.locator('#invoices').evaluate((card) => {
        const number = card.querySelector('tbody .unbroken .small');
        if (number) number.lastChild?.replaceWith('WWWWWWWW-0002');
        const table = card.querySelector('table')?.getBoundingClientRect();
        return {
          number: number?.textContent,
          over: Math.round((table?.right ?? 0) - card.getBoundingClientRect().right),
        };
      });
      expect({ width, ...layout }).toMatchObject({ width, number: 'WWWWWWWW-0002' });
      expect(layout.over).toBeLessThanOrEqual(0);
    }
  });

  it('The German button that obliges to pay stands on one line on a desk, and within a phone', async () => {
    const user = await shop.foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
    await shop.saveCard(user);
    const page = await newPage({});
    await goOnAs(page, await shop.foyer.signedIn(user), shop.foyer.url);
    await page.context().addCookies([{ name: 'foyer_lang', value: 'de', url: shop.foyer.url }]);
    await page.goto(`${shop.foyer.url}/plan-purchase/13`);
    const button = page.getByRole('button', { name: 'Zahlungspflichtig bestellen' });
    for (const [width, height] of [
      [1366, 50],
      [320, 70],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      expect((await button.boundingBox())?.height).toBeLessThanOrEqual(height);
      expect(await layoutFaults(page)).toEqual([]);
    }
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
    await page.getByText('We’re waiting for your bank').waitFor();
    expect(await shop.planOf(user)).toBeNull();
    // The longest name and button in any language.
    await page.context().addCookies([{ name: 'foyer_lang', value: 'fr', url: page.url() }]);
    await page.setViewportSize({ width: 375, height: 900 });
    await page.reload();
    expect(await linesOf(page, '#card .item-label', 'Prélèvement')).toBe(1);
    expect(await layoutFaults(page)).toEqual([]);
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
    await page.getByText('We’re waiting for your bank').waitFor();
    expect(await shop.planOf(user)).toBeNull();
  });
});
