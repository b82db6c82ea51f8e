import { listOrders } from '../../server/billing/index.ts';
import { later, page, path, standing } from '../account/membership-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import { charges, openAct } from './pause-steps.ts';
import { askForSeats, confirmOnPage, openPlan, seatsOf, startSeatsShop, withSeats } from './seats-steps.ts';
import { cards, dayMs, type Shop } from './steps.ts';

const refunded = async (shop: Shop, user: { id: Parameters<typeof listOrders>[1] }) =>
  (await listOrders(shop.foyer.deps.database.db, user.id)).reduce((sum, { refundedCents }) => sum + refundedCents, 0);

describe('the end of a plan with seats', () => {
  it('A cancellation at once gives the unused part of all seats back, also of those that were added', async () => {
    const shop = await startSeatsShop({}, { cancel: 'prorated' });
    const { user, browser } = await withSeats(shop, 2);
    shop.passTime(10 * dayMs);
    await askForSeats(browser, '4');
    await confirmOnPage(browser, '10');
    const paid = (await charges(shop, user)).reduce((sum, cents) => sum + cents, 0);
    shop.passTime(10 * dayMs);
    await shop.membership.refresh(user.id);
    const recent = await shop.foyer.signedIn(user);
    const { html, fields } = await openAct(recent, 'cancel');
    const [, amount = ''] = /We give \$([\d.]+) back to your card/.exec(wordsOf(html)) ?? [];
    const announced = Math.round(Number(amount) * 100);
    // About ten of thirty days of four seats.
    expect(announced).toBeGreaterThan(11_000);
    expect(announced).toBeLessThan(15_000);
    await recent.post(`${path}/cancel`, fields);
    await later(shop, 60_000);
    await shop.membership.work();
    await shop.membership.refresh(user.id);
    expect(await refunded(shop, user)).toBe(announced);
    expect(paid).toBeGreaterThan(announced);
    expect((await shop.userNow(user)).planId).toBeNull();
    await shop.close();
  });

  it('A withdrawal gives the price of all seats back', async () => {
    const shop = await startSeatsShop({}, { consumers: { withdrawalDays: 14, refund: 'full' } });
    const user = await shop.foyer.addUser();
    await shop.membership.ensure(user, 7);
    await shop.saveCard(user);
    const { details } = await shop.membership.findDetails(user.id);
    await shop.membership.saveDetails(user, { ...details, country: 'DE', postalCode: '10115' });
    const browser = await shop.foyer.signedIn(user);
    await browser.post('/plan-purchase/10', { act: 'seats', planId: '10', seats: '3' });
    await confirmOnPage(browser, '10');
    expect(await charges(shop, user)).toEqual([29_700]);
    expect(await shop.membership.withdraw(user)).toBe('withdrawn');
    await later(shop, 60_000);
    await shop.membership.refresh(user.id);
    expect(await refunded(shop, user)).toBe(29_700);
    await shop.close();
  });

  it('A renewal that fails keeps the number through grace, and its payment keeps it further', async () => {
    const shop = await startSeatsShop();
    const { user } = await withSeats(shop, 3);
    const { card, periodEnd } = await standing(shop, user);
    shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', cards.chargeDeclined);
    await later(shop, (periodEnd ?? 0) + 2 * 60 * 60_000 - shop.stripe.engine.nowMs());
    await shop.membership.refresh(user.id);
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 3, claim: 3 });
    expect((await shop.userNow(user)).planId).toBe('10');
    // Nothing is sold meanwhile.
    const browser = await shop.foyer.signedIn(user);
    expect((await askForSeats(browser, '5')).headers.get('location')).toContain(`${path}#membership:nothing`);
    await shop.saveCard(user, cards.visa);
    await shop.membership.payUnpaid(user, { ip: '203.0.113.7' });
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 3, claim: 3, atStripe: 3 });
    expect(await charges(shop, user)).toEqual([29_700, 29_700]);
    await shop.close();
  });

  it('After the end of the plan its page proposes the number of before, and buys it anew', async () => {
    const shop = await startSeatsShop();
    const { user } = await withSeats(shop, 3);
    await shop.membership.cancel(user);
    const { periodEnd } = await standing(shop, user);
    await later(shop, (periodEnd ?? 0) + 2 * 60 * 60_000 - shop.stripe.engine.nowMs());
    await shop.membership.refresh(user.id);
    expect((await shop.userNow(user)).planId).toBeNull();
    const browser = await shop.foyer.signedIn(user);
    expect(await page(browser)).not.toContain('Change seats');
    const { fields } = await openPlan(browser, '10');
    expect(fields).toMatchObject({ seats: '3', dueCents: '29700' });
    await confirmOnPage(browser, '10');
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 3, claim: 3, atStripe: 3 });
    await shop.close();
  });
});
