import { islandProps, saveCardAt } from '../billing/checkout/card-steps.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { cards, dayMs, type Shop } from '../billing/steps.ts';
import { day, later, page, path, standing, startMembershipPages, withFailedRenewal } from './membership-steps.ts';

describe('the page of a membership that is not paid', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startMembershipPages();
  });
  afterAll(() => shop?.close());

  it('A failed renewal shows the amount, the next attempt and the last day, and another card settles it', async () => {
    const { user, browser } = await withFailedRenewal(shop);
    const { unpaid } = await standing(shop, user);
    expect(unpaid).toMatchObject({ why: 'failed', amountCents: 9_900 });
    const words = await page(browser);
    expect(words).toContain(
      'Your last payment didn’t go through We couldn’t charge $99.00. Your saved card is Visa •••• 4242.',
    );
    expect(words).toContain(`We try again on ${day(unpaid?.nextAttemptAt ?? 0)}.`);
    expect(words).toMatch(/You keep your plan until/);
    expect(await page(browser, '/settings')).toContain('Your last payment didn’t go through');
    // The card is still declined; the page has the message of the card provider.
    const declined = await browser.post(`${path}/pay`);
    expect(declined.status).toBe(402);
    expect(wordsOf(await declined.text())).toContain('Your card was declined.');
    const settled = await saveCardAt({ standIn: shop.stripe } as never, browser, `${path}/card`, cards.mastercard);
    expect([settled.status, settled.headers.get('location')]).toEqual([303, `${path}#membership:card`]);
    expect(await page(browser, `${path}/pay`)).toContain('It’s charged to Mastercard •••• 4444.');
    expect((await browser.post(`${path}/pay`)).headers.get('location')).toBe(`${path}#membership:paid`);
    expect(await standing(shop, user)).toMatchObject({ status: 'active', unpaid: null });
    expect(await page(browser)).not.toContain('didn’t go through');
    // A second press charges nothing.
    expect((await browser.post(`${path}/pay`)).headers.get('location')).toBe(`${path}#membership:nothing`);
    const paid = (await shop.membership.invoices(user)).filter(({ paidCents }) => paidCents > 0);
    expect(paid.map(({ paidCents }) => paidCents)).toEqual([9_900, 9_900]);
    const mails = (await shop.foyer.mails(user.email)).map(({ template }) => template);
    expect(mails.filter((template) => template === 'receipt')).toHaveLength(2);
  });

  it('Cancelling a failed renewal ends the membership at once, and its invoice can no longer be paid', async () => {
    const { user, browser } = await withFailedRenewal(shop);
    const { unpaid } = await standing(shop, user);
    expect(await page(browser, `${path}/cancel`)).toContain('It ends right away, because its renewal isn’t paid.');
    expect((await browser.post(`${path}/cancel`)).headers.get('location')).toBe(`${path}#membership:ended`);
    const words = await page(browser, `${path}#membership:ended`);
    expect(words).toContain('Your membership has ended.');
    expect(words).toContain('Plan None');
    expect(words).not.toContain('didn’t go through');
    const invoices = await shop.membership.invoices(user);
    expect(invoices.find(({ id }) => id === unpaid?.invoiceId)).toMatchObject({ status: 'void', paidCents: 0 });
    expect((await shop.userNow(user)).planId).toBeNull();
  });

  it('A failed renewal must be settled before another plan is bought, and a free plan ends it at once', async () => {
    const { user, browser } = await withFailedRenewal(shop);
    // An open invoice names its plan, as a paid one does.
    expect(await page(browser)).toMatch(
      /For Amount Status .*? Starter, every 30 days Renewal \$99\.00 Open .*? Starter, every 30 days New plan/,
    );
    expect(await page(browser, `${path}/pay`)).toMatch(/Account settings Membership/);
    for (const address of ['/plan-purchase/12', '/plan-purchase/12/addPayment']) {
      expect((await browser.get(address)).headers.get('location')).toMatch(/\/settings\/membership$/);
    }
    const { unpaid } = await standing(shop, user);
    const free = shop.membership.catalogue.byCode('m-free');
    if (free) expect(await shop.membership.takeFree(user, free)).toMatchObject({ kind: 'paid', plan: { id: '1' } });
    const invoices = await shop.membership.invoices(user);
    expect(invoices.find(({ id }) => id === unpaid?.invoiceId)).toMatchObject({ status: 'void', paidCents: 0 });
    expect((await shop.userNow(user)).planId).toBe('1');
    expect(await page(browser)).not.toContain('didn’t go through');
  });

  it('The page promises no day in the past once an unpaid renewal is over', async () => {
    const { user, browser } = await withFailedRenewal(shop);
    await later(shop, 8 * dayMs);
    const words = await page(browser);
    expect(words).toContain('Plan None');
    expect((await standing(shop, user)).unpaid).not.toBeNull();
    expect(words).not.toMatch(/You keep your plan until/);
  });

  it('Pay now with a card whose bank asks at every payment leads to that question and not to a decline', async () => {
    const { user, browser } = await withFailedRenewal(shop);
    await shop.saveCard(user, cards.authenticatesAlways);
    const asked = await browser.post(`${path}/pay`);
    expect(asked.status).toBe(200);
    expect(islandProps(await asked.text(), 'payment-action')).toMatchObject({ action: `${path}/pay` });
  });

  it('A renewal that needs bank authentication is confirmed on this page, which shows the result', async () => {
    const { user, browser } = await withFailedRenewal(shop, cards.authenticatesAlways);
    expect((await standing(shop, user)).unpaid).toMatchObject({ why: 'action-required' });
    expect(await page(browser)).toContain('Your bank needs you to confirm $99.00.');
    const home = await page(browser, '/settings');
    expect(home).toContain('Confirm payment');
    expect(home).not.toContain('Fix the payment');
    const asked = await browser.post(`${path}/pay`);
    expect(asked.status).toBe(200);
    expect(asked.headers.get('content-security-policy')).toContain(shop.stripe.url);
    const { clientSecret, action } = islandProps(await asked.text(), 'payment-action');
    expect(action).toBe(`${path}/pay`);
    // The bank has not answered yet.
    const early = await browser.post(`${path}/pay`, { act: 'outcome' });
    expect([early.status, wordsOf(await early.text())]).toEqual([
      402,
      expect.stringContaining('hasn’t been confirmed yet'),
    ]);
    shop.stripe.engine.authenticate(String(clientSecret).split('_secret_')[0] ?? '', 'succeed');
    const done = await browser.post(`${path}/pay`, { act: 'outcome' });
    expect(done.headers.get('location')).toBe(`${path}#membership:paid`);
    expect(await standing(shop, user)).toMatchObject({ status: 'active', unpaid: null });
  });
});
