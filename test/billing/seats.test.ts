import { page, path, standing } from '../account/membership-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import { charges, pass } from './pause-steps.ts';
import {
  askForSeats,
  confirmOnPage,
  openPlan,
  seatsOf,
  seatsPath,
  startSeatsShop,
  typeSeats,
  withSeats,
} from './seats-steps.ts';
import { cards, dayMs, type Shop } from './steps.ts';

describe('a plan that is sold by the seat', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startSeatsShop();
  });
  afterAll(() => shop?.close());

  async function member(card = cards.visa as string) {
    const user = await shop.foyer.addUser();
    await shop.membership.ensure(user, 7);
    await shop.saveCard(user, card);
    return { user, browser: await shop.foyer.signedIn(user) };
  }

  it('Page, button, renewal, order and Stripe have the price of all seats', async () => {
    const { user, browser } = await member();
    const first = await openPlan(browser, '10');
    expect(wordsOf(first.html)).toContain('$99 a month per seat');
    expect(wordsOf(first.html)).toContain('Pay $99.00');
    expect((await typeSeats(browser, '10', '5')).headers.get('location')).toBe('/plan-purchase/10');
    const { html, fields } = await openPlan(browser, '10');
    expect(wordsOf(html)).toContain('Starter, monthly, 5 seats');
    expect(wordsOf(html)).toContain('Pay $495.00');
    expect(wordsOf(html)).toMatch(/at \$495\.00/);
    expect(fields).toMatchObject({ planId: '10', seats: '5', dueCents: '49500', laterCents: '49500' });
    await confirmOnPage(browser, '10');
    expect(await charges(shop, user)).toEqual([49_500]);
    expect(await seatsOf(shop, user)).toEqual({ stored: 5, next: undefined, claim: 5, atStripe: 5 });
    expect((await standing(shop, user)).nextCharge).toMatchObject({ amountCents: 49_500 });
    const shown = await page(browser);
    expect(shown).toContain('Starter, monthly, 5 seats');
    expect(shown).toContain('$495 a month');
    const mails = await shop.foyer.mails(user.email);
    expect(mails.find(({ template }) => template === 'receipt')?.text).toContain('Starter, 5 seats, monthly');
  });

  it('A promotion code takes its percentage off all seats', async () => {
    const { user, browser } = await member();
    const coupon = await shop.stripe.client().coupons.create({ percent_off: 10, duration: 'once' });
    await shop.stripe.client().promotionCodes.create({
      promotion: { type: 'coupon', coupon: coupon.id },
      code: 'SEATS10',
    });
    await typeSeats(browser, '10', '4');
    await browser.post('/plan-purchase/10', { act: 'promo', planId: '10', promo: 'SEATS10' });
    expect(wordsOf((await openPlan(browser, '10')).html)).toContain('Pay $356.40');
    // Another number keeps the code.
    await typeSeats(browser, '10', '2');
    expect(wordsOf((await openPlan(browser, '10')).html)).toContain('Pay $178.20');
    await confirmOnPage(browser, '10');
    expect(await charges(shop, user)).toEqual([17_820]);
  });

  it('More seats are charged at once for the rest of the period, at the announced amount', async () => {
    const { user, browser } = await withSeats(shop, 2);
    shop.passTime(15 * dayMs);
    const asked = await askForSeats(browser, '5');
    expect(asked.headers.get('location')).toBe('/plan-purchase/10');
    const { html, fields } = await openPlan(browser, '10');
    const due = Number(fields.dueCents);
    // Three more for about half a month.
    expect(due).toBeGreaterThan(13_000);
    expect(due).toBeLessThan(16_500);
    expect(wordsOf(html)).toContain(`Pay $${(due / 100).toFixed(2)}`);
    expect(fields.laterCents).toBe('49500');
    await confirmOnPage(browser, '10');
    expect(await charges(shop, user)).toEqual([19_800, due]);
    expect(await seatsOf(shop, user)).toEqual({ stored: 5, next: undefined, claim: 5, atStripe: 5 });
    const end = (await standing(shop, user)).periodEnd ?? 0;
    await pass(shop, end + 2 * 60 * 60_000);
    expect(await charges(shop, user)).toEqual([19_800, due, 49_500]);
    expect(await shop.membership.reconcile()).toMatchObject({ repaired: [], left: [] });
  });

  it('Fewer seats begin after the paid period, and can be taken back until then', async () => {
    const { user, browser } = await withSeats(shop, 5);
    await askForSeats(browser, '3');
    const { html, fields } = await openPlan(browser, '10');
    expect(wordsOf(html)).toContain('Starter, monthly, 3 seats');
    expect(fields).toMatchObject({ dueCents: '0', laterCents: '29700', seats: '3' });
    await confirmOnPage(browser, '10');
    expect(await seatsOf(shop, user)).toEqual({ stored: 5, next: 3, claim: 5, atStripe: 5 });
    expect(await page(browser)).toContain('Starter, monthly, 3 seats');
    // The present number takes it back.
    expect((await askForSeats(browser, '5')).headers.get('location')).toBe(`${path}/resume`);
    await browser.post(`${path}/resume`, {});
    expect(await seatsOf(shop, user)).toEqual({ stored: 5, next: undefined, claim: 5, atStripe: 5 });

    await askForSeats(browser, '3');
    await confirmOnPage(browser, '10');
    const end = (await standing(shop, user)).periodEnd ?? 0;
    await pass(shop, end + 2 * 60 * 60_000);
    expect(await charges(shop, user)).toEqual([49_500, 29_700]);
    expect(await seatsOf(shop, user)).toEqual({ stored: 3, next: undefined, claim: 3, atStripe: 3 });
    const changes = (await shop.foyer.mails(user.email)).filter(({ template }) => template === 'plan-changes');
    expect(changes[0]?.text).toContain('Starter, 5 seats');
    expect(changes[0]?.text).toContain('Starter, 3 seats');
    expect(await shop.membership.reconcile()).toMatchObject({ repaired: [], left: [] });
  });

  it('Another plan keeps the number, as far as it allows it; a plan without seats has one', async () => {
    const { user, browser } = await withSeats(shop, 12);
    // Growth allows ten, which cost more than twelve of Starter.
    const growth = await openPlan(browser, '12');
    expect(wordsOf(growth.html)).toContain('Growth, monthly, 10 seats');
    await confirmOnPage(browser, '12');
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 10, claim: 10, atStripe: 10 });
    // The yearly one has none.
    const { html } = await openPlan(browser, '13');
    expect(html).not.toContain('name="seats"');
    expect(wordsOf(html)).toContain('Growth, monthly, 10 seats ends today, and Growth, annual begins.');
    expect(wordsOf(html)).not.toMatch(/annual, \d+ seat/);
    await confirmOnPage(browser, '13');
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 1, claim: 1, atStripe: 1 });
    expect((await shop.userNow(user)).planId).toBe('13');
  });

  it('A higher plan with fewer seats, which costs less, begins after the paid period', async () => {
    const { user, browser } = await withSeats(shop, 50);
    await typeSeats(browser, '12', '2');
    const { fields } = await openPlan(browser, '12');
    expect(fields).toMatchObject({ dueCents: '0', laterCents: '99800' });
    await confirmOnPage(browser, '12');
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 50, next: 2, atStripe: 50 });
  });

  it('The number stays when a cancellation is taken back, and in each renewal', async () => {
    const { user, browser } = await withSeats(shop, 4);
    await shop.membership.cancel(user);
    await browser.post(`${path}/resume`, {});
    const end = (await standing(shop, user)).periodEnd ?? 0;
    await pass(shop, end + 2 * 60 * 60_000);
    expect(await charges(shop, user)).toEqual([39_600, 39_600]);
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 4, claim: 4, atStripe: 4 });
  });

  it('A number that the operator sets at Stripe is the number here', async () => {
    const { user } = await withSeats(shop, 2);
    const { subscriptionId } = await standing(shop, user);
    const client = shop.stripe.client();
    const { items } = await client.subscriptions.retrieve(subscriptionId ?? '');
    await client.subscriptions.update(subscriptionId ?? '', {
      items: [{ id: items.data[0]?.id ?? '', quantity: 7 }],
      proration_behavior: 'none',
    });
    await shop.stripe.webhooks.idle();
    await shop.membership.work();
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 7, claim: 7 });
  });

  it('Every further seat, and fewer ones later, have the price that the member has, also after it was raised', async () => {
    const client = shop.stripe.client();
    const [present] = (await client.prices.list({ lookup_keys: ['m-99'] })).data;
    const { user, browser } = await withSeats(shop, 2);
    // The operator raises it: the old price is archived.
    const raised = await client.prices.create({
      product: String(present?.product),
      currency: 'usd',
      unit_amount: 15_000,
      recurring: { interval: 'month' },
      lookup_key: 'm-99',
      transfer_lookup_key: true,
      metadata: { foyer_plan: '10' },
    });
    await client.prices.update(present?.id ?? '', { active: false });
    shop.membership.deps.prices.forget();
    await askForSeats(browser, '3');
    const { html, fields } = await openPlan(browser, '10');
    expect(wordsOf(html)).toContain('$99 a month per seat');
    expect(fields.laterCents).toBe('29700');
    await confirmOnPage(browser, '10');
    expect(await charges(shop, user)).toEqual([19_800, Number(fields.dueCents)]);
    await askForSeats(browser, '1');
    expect((await openPlan(browser, '10')).fields.laterCents).toBe('9900');
    await confirmOnPage(browser, '10');
    const end = (await standing(shop, user)).periodEnd ?? 0;
    await pass(shop, end + 2 * 60 * 60_000);
    expect((await charges(shop, user)).at(-1)).toBe(9_900);
    expect((await client.prices.retrieve(present?.id ?? '')).active).toBe(false);
    await client.prices.update(present?.id ?? '', { active: true, lookup_key: 'm-99', transfer_lookup_key: true });
    await client.prices.update(raised.id, { active: false });
    shop.membership.deps.prices.forget();
  });

  it('A member who asks for deletion and stays gets the fewer seats to come again', async () => {
    const { user, browser } = await withSeats(shop, 5);
    await askForSeats(browser, '2');
    await confirmOnPage(browser, '10');
    await browser.post('/settings/delete-account', { confirm: '1', membership: 'period-end' });
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 5, next: undefined });
    const again = await shop.foyer.signedIn(user);
    await again.post('/settings/deletion-requested', {});
    await shop.membership.work();
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 5, next: 2, atStripe: 5 });
  });

  it('The page of a plan without seats has no field for them', async () => {
    const { browser } = await member();
    expect((await openPlan(browser, '13')).html).not.toContain('name="seats"');
    expect((await openPlan(browser, '10')).html).toContain('name="seats"');
    // Without a plan there is nothing to change.
    expect((await browser.get(seatsPath)).headers.get('location')).toContain(path);
  });
});
