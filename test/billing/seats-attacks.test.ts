import { later, page, path, standing } from '../account/membership-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import { atStripe, charges, failing, faultKinds, pass } from './pause-steps.ts';
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
import { cards, from, type Shop } from './steps.ts';

const minuteMs = 60_000;

describe('attacks on the number of seats, and faults', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startSeatsShop();
  });
  afterAll(() => shop?.close());

  it.each(['0', '-1', '1.5', '1e9', '51', '', 'five', '0x5', '9999999999'])(
    'A purchase of "%s" seats is refused, what was typed stays, and nothing changes',
    async (typed) => {
      const { user, browser } = await withSeats(shop, 2);
      for (const [answer, value] of [
        [await typeSeats(browser, '10', typed), typed],
        [await askForSeats(browser, typed), typed],
      ] as const) {
        expect(answer.status).toBe(422);
        const html = await answer.text();
        expect(wordsOf(html)).toContain('Enter a whole number from 1 to 50.');
        expect(html).toContain(`value="${value}"`);
      }
      expect(await charges(shop, user)).toEqual([19_800]);
      expect(await seatsOf(shop, user)).toMatchObject({ stored: 2, atStripe: 2 });
    },
  );

  it('A number that is tampered with between quote and confirmation charges nothing, and the page names the true amount', async () => {
    const { user, browser } = await withSeats(shop, 2);
    await askForSeats(browser, '3');
    const changes: Record<string, string>[] = [{ seats: '50' }, { seats: '1e9' }, { seats: '3.5' }, { dueCents: '1' }];
    for (const change of changes) {
      const answer = await confirmOnPage(browser, '10', change);
      expect(answer.status).toBe(409);
      expect(wordsOf(await answer.text())).toContain('Starter, monthly, 3 seats');
    }
    expect(await charges(shop, user)).toEqual([19_800]);
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 2, atStripe: 2 });
  });

  it('A number that another tab has chosen is not charged by the button of this one', async () => {
    const { user, browser } = await withSeats(shop, 2);
    await askForSeats(browser, '3');
    const { fields } = await openPlan(browser, '10');
    await askForSeats(browser, '40');
    const answer = await browser.post('/plan-purchase/10', fields);
    expect(answer.status).toBe(409);
    expect(wordsOf(await answer.text())).toContain('40 seats');
    expect(await charges(shop, user)).toEqual([19_800]);
  });

  it('Two confirmations at once charge once', async () => {
    const { user, browser } = await withSeats(shop, 2);
    await askForSeats(browser, '6');
    const { fields } = await openPlan(browser, '10');
    const answers = await Promise.all([
      browser.post('/plan-purchase/10', fields),
      browser.post('/plan-purchase/10', fields),
    ]);
    for (const answer of answers) expect(answer.headers.get('location')).toContain('/signup/completed/m-99');
    expect(await charges(shop, user)).toHaveLength(2);
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 6, atStripe: 6 });
    // The same form once more is the same answer.
    const again = await browser.post('/plan-purchase/10', fields);
    expect(again.headers.get('location')).toContain('/signup/completed/m-99');
    expect(await charges(shop, user)).toHaveLength(2);
  });

  it('Two confirmations of fewer seats at once schedule one change', async () => {
    const { user, browser } = await withSeats(shop, 5);
    await askForSeats(browser, '3');
    const { fields } = await openPlan(browser, '10');
    await Promise.all([browser.post('/plan-purchase/10', fields), browser.post('/plan-purchase/10', fields)]);
    expect(await seatsOf(shop, user)).toEqual({ stored: 5, next: 3, claim: 5, atStripe: 5 });
    expect((await shop.foyer.mails(user.email)).filter(({ template }) => template === 'plan-changes')).toHaveLength(1);
  });

  it('A member without a plan, with a plan without seats, or signed out has no seats to change', async () => {
    const user = await shop.foyer.addUser();
    await shop.membership.ensure(user, 7);
    const browser = await shop.foyer.signedIn(user);
    expect((await askForSeats(browser, '5')).headers.get('location')).toContain(`${path}#membership:nothing`);
    await shop.saveCard(user, cards.visa);
    await shop.buy(user, 'm-899');
    expect((await browser.get(seatsPath)).headers.get('location')).toContain(`${path}#membership:nothing`);
    expect((await askForSeats(browser, '5')).headers.get('location')).toContain(`${path}#membership:nothing`);
    expect(await page(browser)).not.toContain('Change seats');
    // Seats of a plan that has none are no field of its form.
    const forged = await typeSeats(browser, '14', '5');
    expect(forged.status).toBe(409);
    expect(await charges(shop, user)).toEqual([89_900]);
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 1, atStripe: 1 });
    expect((await shop.foyer.browser().post(seatsPath, { seats: '5' })).headers.get('location')).toContain(
      '/?redirect=',
    );
  });

  it("Another member's subscription stays as it is, whatever fields a form carries", async () => {
    const owner = await withSeats(shop, 3);
    const { subscriptionId, customerId } = await standing(shop, owner.user);
    const thief = await withSeats(shop, 1);
    const fields = {
      seats: '9',
      userId: owner.user.id,
      subscriptionId: subscriptionId ?? '',
      customer: customerId ?? '',
    };
    await thief.browser.post(seatsPath, fields);
    await confirmOnPage(thief.browser, '10', { ...fields });
    expect(await seatsOf(shop, owner.user)).toMatchObject({ stored: 3, atStripe: 3 });
    expect(await charges(shop, owner.user)).toEqual([29_700]);
    expect(await seatsOf(shop, thief.user)).toMatchObject({ stored: 9, atStripe: 9 });
  });

  it('A declined card changes no seats, and another card pays the same amount once', async () => {
    const { user, browser } = await withSeats(shop, 2);
    const { card } = await standing(shop, user);
    shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', cards.chargeDeclined);
    await askForSeats(browser, '4');
    const { fields } = await openPlan(browser, '10');
    const declined = await browser.post('/plan-purchase/10', fields);
    expect(declined.status).toBe(402);
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 2, claim: 2, atStripe: 2 });
    expect(await page(browser)).toContain('Starter, monthly, 4 seats');
    await shop.saveCard(user, cards.mastercard);
    const paid = await browser.post('/plan-purchase/10', fields);
    expect(paid.headers.get('location')).toContain('/signup/completed/m-99');
    expect(await charges(shop, user)).toEqual([19_800, Number(fields.dueCents)]);
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 4, claim: 4, atStripe: 4 });
  });

  it('A bank that asks the member first gives no seats before the answer', async () => {
    const { user, browser } = await withSeats(shop, 2);
    const { card } = await standing(shop, user);
    shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', cards.authenticatesAlways);
    await askForSeats(browser, '4');
    const { fields } = await openPlan(browser, '10');
    const asked = await browser.post('/plan-purchase/10', fields);
    expect(asked.status).toBe(200);
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 2, claim: 2, atStripe: 2 });
    const { latest_invoice: latest } = await atStripe(shop, user);
    const invoice = await shop.stripe
      .client()
      .invoices.retrieve(typeof latest === 'string' ? latest : (latest?.id ?? ''), {
        expand: ['payments.data.payment.payment_intent'],
      });
    const intent = invoice.payments?.data[0]?.payment.payment_intent;
    shop.stripe.engine.authenticate(typeof intent === 'string' ? intent : (intent?.id ?? ''), 'succeed');
    const outcome = await browser.post('/plan-purchase/10/addPayment', { act: 'outcome', ...fields });
    expect(outcome.headers.get('location')).toContain('/signup/completed/m-99');
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 4, claim: 4, atStripe: 4 });
    expect(await charges(shop, user)).toHaveLength(2);
  });

  it('A payment of more seats that is given up for fewer ones changes nothing but those', async () => {
    const { user, browser } = await withSeats(shop, 4);
    const { card } = await standing(shop, user);
    shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', cards.chargeDeclined);
    await askForSeats(browser, '9');
    await confirmOnPage(browser, '10');
    await typeSeats(browser, '10', '2');
    await confirmOnPage(browser, '10');
    expect(await seatsOf(shop, user)).toEqual({ stored: 4, next: 2, claim: 4, atStripe: 4 });
    expect((await atStripe(shop, user)).pending_update).toBeNull();
    expect(await charges(shop, user)).toEqual([39_600]);
  });

  it('More seats replace fewer ones to come; if their payment is given up, the fewer ones come again', async () => {
    const { user, browser } = await withSeats(shop, 5);
    await askForSeats(browser, '2');
    await confirmOnPage(browser, '10');
    const { card } = await standing(shop, user);
    shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', cards.chargeDeclined);
    await typeSeats(browser, '10', '8');
    expect((await confirmOnPage(browser, '10')).status).toBe(402);
    // The member chooses what they have: the payment is given up.
    await shop.membership.choose(user, shop.plan('m-899'));
    expect(await seatsOf(shop, user)).toEqual({ stored: 5, next: 2, claim: 5, atStripe: 5 });
    shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', cards.visa);
    await typeSeats(browser, '10', '8');
    await confirmOnPage(browser, '10');
    expect(await seatsOf(shop, user)).toEqual({ stored: 8, next: undefined, claim: 8, atStripe: 8 });
    const end = (await standing(shop, user)).periodEnd ?? 0;
    await pass(shop, end + 2 * 60 * 60_000);
    expect((await charges(shop, user)).at(-1)).toBe(79_200);
  });

  it('A race of more seats with a cancellation ends in one of both, and charges at most once', async () => {
    const { user, browser } = await withSeats(shop, 2);
    await askForSeats(browser, '5');
    const { fields } = await openPlan(browser, '10');
    await Promise.all([browser.post('/plan-purchase/10', fields), shop.membership.cancel(user)]);
    const { stored, atStripe: there } = await seatsOf(shop, user);
    expect(stored).toBe(there);
    expect((await charges(shop, user)).length).toBe(stored === 5 ? 2 : 1);
  });

  it('A race of fewer seats with an upgrade keeps the number that was paid', async () => {
    const { user, browser } = await withSeats(shop, 5);
    await askForSeats(browser, '3');
    const { fields } = await openPlan(browser, '10');
    const upgrade = async () => {
      const purchase = await shop.membership.choose(user, shop.plan('m-899'));
      const { dueCents } = await shop.membership.quote(user, purchase.plan, purchase.promotion);
      return shop.membership.confirm(user, { planId: purchase.plan.id, dueCents }, from);
    };
    await Promise.all([browser.post('/plan-purchase/10', fields), upgrade()]);
    const { planId } = await shop.userNow(user);
    const seats = await seatsOf(shop, user);
    expect(seats.stored).toBe(seats.atStripe);
    expect(seats.stored).toBe(planId === '14' ? 1 : 5);
  });

  it.each(faultKinds)('More seats whose request is %s are charged once when the member asks again', async (kind) => {
    const { user, browser } = await withSeats(shop, 2);
    await askForSeats(browser, '3');
    const { fields } = await openPlan(browser, '10');
    expect(await failing(shop, { kind, nth: 1 }, () => browser.post('/plan-purchase/10', fields))).toBe(true);
    await later(shop, minuteMs);
    const answer = await browser.post('/plan-purchase/10', fields);
    expect(answer.headers.get('location')).toContain('/signup/completed/m-99');
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 3, atStripe: 3 });
    expect(await charges(shop, user)).toEqual([19_800, Number(fields.dueCents)]);
  });

  const faults = faultKinds.flatMap((kind) => [1, 2].map((nth) => [kind, nth] as const));
  it.each(faults)('Fewer seats with %s at request %i come within minutes, as announced', async (kind, nth) => {
    const { user, browser } = await withSeats(shop, 5);
    await askForSeats(browser, '2');
    const { fields } = await openPlan(browser, '10');
    await failing(shop, { kind, nth }, () => browser.post('/plan-purchase/10', fields));
    // Noted, the page shows it as done.
    expect((await standing(shop, user)).nextSeats).toBe(2);
    await later(shop, 5 * minuteMs);
    await shop.membership.work();
    expect(await seatsOf(shop, user)).toEqual({ stored: 5, next: 2, claim: 5, atStripe: 5 });
    await pass(shop, ((await standing(shop, user)).periodEnd ?? 0) + 2 * 60 * minuteMs);
    expect(await charges(shop, user)).toEqual([49_500, 19_800]);
  });
});
