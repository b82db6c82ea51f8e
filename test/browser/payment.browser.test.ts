import { translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import type { User } from '../../server/users/index.ts';
import { cards } from '../billing/checkout/card-steps.ts';
import { openShop, type Shop } from '../billing/checkout/shop.ts';
import { axeFindings, chromiumForTests, type Visitor } from '../support/chromium.ts';
import { bank, enter, openPayment, path, type Visit } from './payment-steps.ts';
import { browserLocale, goOnAs } from './steps.ts';

const t = translator('en');

describe('the payment page in a browser', () => {
  const { newPage, takeFaults } = chromiumForTests({ profilesStay: true });
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterAll(() => shop?.close());

  async function visit({ lang = 'en' }: { lang?: Language } = {}, colorScheme?: 'light' | 'dark'): Promise<Visit> {
    const user = await shop.foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
    return open(user, { locale: browserLocale[lang] }, colorScheme);
  }

  async function open(user: User, visitor: Visitor = {}, colorScheme?: 'light' | 'dark'): Promise<Visit> {
    const { url } = shop.foyer;
    const page = await newPage(visitor);
    if (colorScheme) await page.emulateMedia({ colorScheme });
    await goOnAs(page, await shop.foyer.signedIn(user), url);
    return openPayment(page, user, url);
  }
  const done = ({ page }: Visit) => page.waitForURL(/\/signup\/completed\/m-99$|\/sandbox\/search/);
  const errorsOf = async ({ page }: Visit) =>
    Object.fromEntries(
      await page
        .locator('.field.invalid')
        .evaluateAll((fields) =>
          fields.map((field) => [
            field.querySelector('[id^=field-]')?.id.replace('field-', ''),
            field.querySelector('.field-error')?.textContent,
          ]),
        ),
    );

  it('The page saves a card and pays once for a double press, and no card data is posted to Foyer', async () => {
    const visitor = await visit();
    const { page, posted, save } = visitor;
    await save.and(page.locator(':enabled')).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await visitor.name.fill('Vera Lindqvist');
    await visitor.number.fill(cards.visa);
    await visitor.expiry.fill('1234');
    await visitor.cvc.fill('123');
    await visitor.zip.fill('10115');
    await save.dblclick();
    await done(visitor);
    expect(await shop.planOf(visitor.user)).toBe('10');
    const bodies = posted.map((request) => [new URL(request.url()).pathname, request.postData() ?? '']);
    expect(bodies).toEqual([
      [`${path}/setup`, ''],
      [path, expect.stringMatching(/^planId=10&dueCents=9900&laterCents=9900&act=save-card&setupIntent=seti_\w+$/)],
    ]);
    expect(shop.foyer.logged()).not.toMatch(/4242424242424242|10115/);
  });

  it('Every incomplete field has its error, and nothing that was entered is lost', async () => {
    const visitor = await visit();
    const { page, number, expiry, cvc, name, zip, save } = visitor;
    await save.click();
    const empty = t('payment.errors.empty');
    const incomplete = {
      number: t('payment.errors.incomplete_number'),
      expiry: t('payment.errors.incomplete_expiry'),
      cvc: t('payment.errors.incomplete_cvc'),
    };
    expect(await errorsOf(visitor)).toEqual({ name: empty, ...incomplete, zip: empty });
    expect(await name.evaluate((input) => input === document.activeElement)).toBe(true);
    // The whole frame is the field.
    await page.locator('#field-cvc').click({ position: { x: 4, y: 4 } });
    expect(await cvc.evaluate((input) => input === document.activeElement)).toBe(true);
    // What stands in frames is said by an alert.
    expect(await page.getByRole('alert').first().textContent()).toContain(incomplete.cvc);
    expect(await axeFindings(page)).toEqual([]);
    // Above the form each of them has a link.
    const links = page.locator('.error-summary a');
    expect(await links.allTextContents()).toEqual([
      t('payment.form.name'),
      t('payment.form.number'),
      t('payment.form.expiry'),
      t('payment.form.cvc'),
      t('payment.form.zip'),
    ]);
    await links.nth(2).click();
    expect(await expiry.evaluate((input) => input === document.activeElement)).toBe(true);
    await links.nth(4).click();
    expect(await zip.evaluate((input) => input === document.activeElement)).toBe(true);
    await name.fill('Vera Lindqvist');
    await zip.fill('10115');
    expect(await errorsOf(visitor)).toEqual(incomplete);
    await number.fill('4242 4242');
    await cvc.fill('12');
    await expiry.fill('12 / 34');
    await save.click();
    expect(await errorsOf(visitor)).toEqual({ number: incomplete.number, cvc: incomplete.cvc });
    await number.fill(cards.visa);
    expect(await errorsOf(visitor)).toEqual({ cvc: incomplete.cvc });
    await expiry.fill('12 / 3');
    await cvc.fill('123');
    await save.click();
    expect(await errorsOf(visitor)).toEqual({ expiry: incomplete.expiry });
    expect([await name.inputValue(), await zip.inputValue(), await cvc.inputValue()]).toEqual([
      'Vera Lindqvist',
      '10115',
      '123',
    ]);
    expect(visitor.posted).toEqual([]);
  });

  it('On a phone the form is below 900 pixels high with all errors, and expiry and security code share a row', async () => {
    const visitor = await visit();
    const { page, save } = visitor;
    await page.setViewportSize({ width: 375, height: 667 });
    await save.click();
    await page.locator('.error-summary').waitFor();
    const box = async (selector: string) => (await page.locator(selector).boundingBox()) ?? { y: -1, height: -1 };
    expect((await box('form.needs-script')).height).toBeLessThan(900);
    expect((await box('#field-expiry')).y).toBe((await box('#field-cvc')).y);
    // Beside an error the field says no more how many digits the code has.
    expect(await page.getByText('3-4 digit number').isVisible()).toBe(false);
    expect(await page.locator('.secured').textContent()).toMatch(/^Secured by Stripe\./);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(375);
  });

  it('The card provider’s message is shown, and another card can be entered by keyboard', async () => {
    const visitor = await visit();
    const { page, number, save } = visitor;
    await enter(visitor, cards.declined);
    await page.locator('form .notice.error').waitFor();
    expect(await page.locator('form .notice.error').textContent()).toContain('Your card was declined.');
    // Stripe answers 402, which the page has shown.
    expect(takeFaults().join()).toMatch(/^answered 402: [^,]*$/);
    expect(await number.inputValue()).toBe('4000 0000 0000 0002');
    expect(await save.isEnabled()).toBe(true);
    await visitor.name.focus();
    await page.keyboard.press('Tab');
    expect(await number.evaluate((input) => input === document.activeElement)).toBe(true);
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type(cards.mastercard);
    for (const next of [visitor.expiry, visitor.cvc, visitor.zip]) {
      await page.keyboard.press('Tab');
      expect(await next.evaluate((input) => input === document.activeElement)).toBe(true);
    }
    await page.keyboard.press('Enter');
    await done(visitor);
    expect(await shop.planOf(visitor.user)).toBe('10');
  });

  it('Another card is folded below a saved one, and is entered there once it is open', async () => {
    const user = await shop.foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
    await shop.saveCard(user);
    const visitor = await open(user);
    const { page, number, save } = visitor;
    await number.waitFor({ state: 'attached' });
    expect([await number.isVisible(), await save.isVisible()]).toEqual([false, false]);
    const fills = () =>
      page
        .locator('button.block:visible')
        .evaluateAll((buttons) => buttons.map((one) => getComputedStyle(one).backgroundColor));
    const filled = await fills();
    expect(filled).toHaveLength(1);
    await page.getByText('Another card', { exact: true }).click();
    await number.waitFor();
    await page.locator('form#pay button.block:enabled').waitFor();
    await page.mouse.move(0, 0);
    // The only button is that of the open form, not the one that charges the card above it.
    expect(await fills()).toEqual(filled);
    expect(await save.isVisible()).toBe(true);
    expect(await axeFindings(page)).toEqual([]);
    await enter(visitor, cards.mastercard);
    await done(visitor);
    expect(visitor.posted.map((request) => new URL(request.url()).pathname)).toEqual([`${path}/setup`, path]);
    expect(await shop.planOf(user)).toBe('10');
  });

  it('A 3-D Secure challenge while a card is saved fails first and then succeeds', async () => {
    const visitor = await visit();
    const { page, save } = visitor;
    await enter(visitor, cards.asksOnce);
    await bank(visitor).getByRole('button', { name: 'Fail' }).click();
    const notice = page.locator('form .notice.error');
    await notice.waitFor();
    expect(await notice.textContent()).toMatch(/unable to authenticate/);
    expect(await shop.planOf(visitor.user)).toBeNull();
    await save.click();
    await bank(visitor).getByRole('button', { name: 'Complete' }).click();
    await done(visitor);
    expect(await shop.planOf(visitor.user)).toBe('10');
  });

  it('A 3-D Secure challenge while the card is charged fails, is retried and succeeds', async () => {
    const visitor = await visit();
    const { page } = visitor;
    await enter(visitor, cards.asksAlways);
    await bank(visitor).getByRole('button', { name: 'Complete' }).click();
    await page.getByRole('heading', { name: t('payment.bank.title') }).waitFor();
    await bank(visitor).getByRole('button', { name: 'Fail' }).click();
    await page.getByRole('alert').getByText(t('payment.bank.failedTitle')).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('link', { name: t('payment.saved.other') }).waitFor();
    await page.getByRole('button', { name: t('payment.retry') }).click();
    await bank(visitor).getByRole('button', { name: 'Complete' }).click();
    await done(visitor);
    expect(await shop.planOf(visitor.user)).toBe('10');
  });

  it('Too many cards give the time to wait, and nothing that was entered is lost', async () => {
    const visitor = await visit();
    const { page, number, zip, save } = visitor;
    const message = 'Too many attempts. Please try again in 60 min.';
    await page.route(/\/addPayment\/setup$/, (route) => route.fulfill({ status: 429, json: { message } }));
    await enter(visitor, cards.visa);
    await page.getByRole('alert').getByText(message).waitFor();
    expect(takeFaults().join()).toMatch(/^answered 429: [^,]*$/);
    expect([await number.inputValue(), await zip.inputValue(), await save.isEnabled()]).toEqual([
      '4242 4242 4242 4242',
      '10115',
      true,
    ]);
    await page.unroute(/\/addPayment\/setup$/);
    await save.click();
    await done(visitor);
  });

  it('A message is shown when Stripe’s script does not load', async () => {
    const user = await shop.foyer.addUser();
    const page = await newPage();
    await goOnAs(page, await shop.foyer.signedIn(user), shop.foyer.url);
    await page.route(/stripe\.js$/, (route) => route.abort());
    await page.goto(shop.foyer.url + path);
    await page.getByRole('alert').getByText(t('payment.errors.notLoaded')).waitFor();
    expect(await page.getByRole('button', { name: t('checkout.pay', { amount: '$99.00' }) }).isDisabled()).toBe(true);
    expect(takeFaults().join()).toMatch(/^failed: GET \S+stripe\.js: net::ERR_FAILED$/);
  });

  it('Without JavaScript the page says what it needs, and a saved card is charged without it', async () => {
    const user = await shop.foyer.addUser();
    const first = await open(user, { javaScript: false });
    await first.page.getByText(t('payment.script.card')).waitFor();
    expect(await first.save.isVisible()).toBe(false);
    await shop.saveCard(user);
    await first.page.reload();
    await first.page.getByText('Visa •••• 4242', { exact: true }).waitFor();
    const needs = first.page.getByText(t('payment.script.card'));
    expect(await needs.isVisible()).toBe(false);
    await first.page.getByText('Another card', { exact: true }).click();
    expect(await needs.isVisible()).toBe(true);
    await first.page.getByRole('button', { name: t('checkout.pay', { amount: '$99.00' }) }).click();
    await done(first);
    expect(await shop.planOf(user)).toBe('10');
  });

  it('Without JavaScript a bank challenge links to Stripe’s page, and nothing is bought before it is passed', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user, 'pm_card_authenticationRequired');
    const { page } = await open(user, { javaScript: false });
    await page.getByRole('button', { name: t('checkout.pay', { amount: '$99.00' }) }).click();
    await page.getByText(t('payment.script.bank')).waitFor();
    expect(await page.getByRole('link', { name: t('payment.bank.hosted') }).getAttribute('href')).toMatch(
      new RegExp(`^${shop.standIn.url}/`),
    );
    await page.getByRole('button', { name: t('payment.bank.done') }).click();
    await page.getByText(t('payment.script.bank')).waitFor();
    expect(await shop.planOf(user)).toBeNull();
  });

  it.each(['light', 'dark'] as const)('Stripe’s fields have the colours of the page, %s', async (colorScheme) => {
    const { page, number } = await visit({ lang: 'de' }, colorScheme);
    await number.waitFor();
    const alike = () =>
      page.waitForFunction(() => {
        const [stripes, ours] = ['#field-number input', '#field-name'].map((field) => document.querySelector(field));
        return stripes && ours && getComputedStyle(stripes).color === getComputedStyle(ours).color;
      });
    await alike();
    await page.emulateMedia({ colorScheme: colorScheme === 'light' ? 'dark' : 'light' });
    await alike();
    expect(await axeFindings(page, 'colours')).toEqual([]);
  });
});
