import { listOrders } from '../../server/billing/index.ts';
import { anyBackend } from '../support/stores.ts';
import { aBuyer, asClient, type Buyer, chargedTo, starter } from './api-steps.ts';
import { cards, type Shop, startShop } from './steps.ts';

// One pair of stores is enough: test/api/matrix.test.ts makes each of these calls on all.
describe('purchases in the JSON API', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { CARD_LIMIT_ADDRESS: '100000' });
    const stripe = shop.stripe.client();
    await stripe.coupons.create({ id: 'fifth', percent_off: 20, duration: 'forever' });
    await stripe.promotionCodes.create({ code: 'SPRING20', promotion: { type: 'coupon', coupon: 'fifth' } });
  });
  afterAll(() => shop?.close());

  const orders = ({ user }: Pick<Buyer, 'user'>) => listOrders(shop.foyer.deps.database.db, user.id);

  describe('buying a plan', () => {
    /** With a card; whatever is refused here leaves nothing behind. */
    let refused: Buyer;
    beforeAll(async () => {
      refused = await aBuyer(shop);
    });

    it('Buying a plan charges the amount shown, answers with the invoice and gives the plan', async () => {
      const buyer = await aBuyer(shop);
      const answer = await buyer.call('POST', buyer.path, starter);
      const [order] = await orders(buyer);
      expect(answer).toEqual({
        status: 200,
        body: {
          status: 'paid',
          planId: '10',
          stripe_invoice_id: order?.invoiceId,
          order_date: order?.orderedAt,
          amount: '99.00',
          currency: 'usd',
          starts_at: order?.orderedAt,
          amount_owed: '0.00',
          next_charge: {
            amount: '99.00',
            at: order?.renewsAt,
            amount_owed: '0.00',
            credit_used: '0.00',
            tax: '0.00',
            discount_ends_at: null,
            regular_amount: '99.00',
          },
        },
      });
      expect(await chargedTo(shop, buyer.customer)).toEqual([9_900]);
      expect(await shop.userNow(buyer.user)).toMatchObject({ planId: '10' });
    });

    it('Buying a plan twice, or twice at once, charges once and answers the same', async () => {
      const buyer = await aBuyer(shop);
      const both = await Promise.all([1, 2].map(() => buyer.call('POST', buyer.path, starter)));
      const again = await buyer.call('POST', buyer.path, starter);
      const dearer = await buyer.call('POST', buyer.path, { ...starter, amount: '100.00' });
      expect(dearer).toMatchObject({ status: 409, body: { detail: 'There is nothing to change' } });
      expect(await buyer.call('POST', buyer.path, starter)).toEqual(again);
      expect(both.map(({ status }) => status)).toEqual([200, 200]);
      for (const { body } of both) expect(body.stripe_invoice_id).toBe(again.body.stripe_invoice_id);
      expect(await chargedTo(shop, buyer.customer)).toEqual([9_900]);
    });

    it.each<[string, object, string, string]>([
      ['a cheaper amount', { amount: '1.00' }, 'amount', '99.00'],
      ['nothing', { amount: 0 }, 'amount', '99.00'],
      ['a dearer amount: also that is not what was shown', { amount: '99.01' }, 'amount', '99.00'],
      ['another amount of the plan', { plan_amount: 1 }, 'plan_amount', '99.00'],
      ['a year for the price of a month', { validity: 365 }, 'validity', '30'],
      ['another currency', { currency: 'jpy' }, 'currency', 'usd'],
      ['a discount of its own', { planDiscountVoucher: '98.00' }, 'planDiscountVoucher', '0.00'],
      ['a discount for good', { recurDiscount: 99 }, 'recurDiscount', '0.00'],
      ['another purchase', { purchase_type: ['wallet'] }, 'purchase_type', 'plan'],
      [
        'a yearly plan’s name and a month’s amount',
        { plan_name: 'y-900', interval: 'year', validity: 365, plan_amount: 900 },
        'amount',
        '900.00',
      ],
    ])('Buying a plan with %s gets 409 and charges nothing', async (_what, more, name, is) => {
      const answer = await refused.call('POST', refused.path, { ...starter, ...more });
      expect(answer).toMatchObject({ status: 409, body: { errors: [{ name: `body.${name}`, detail: `is ${is}` }] } });
      expect(await chargedTo(shop, refused.customer)).toEqual([]);
      expect(await shop.userNow(refused.user)).toMatchObject({ planId: null });
    });

    it.each([
      ['m-99', 'year'],
      ['Starter', undefined],
      ['Basic-Plan-M', 'month'],
      ['Free', 'month'],
      ['Appsumo-Tier-3', undefined],
      ['m-30', 'month'],
    ])('The plan name %j with the interval %j is no plan for sale', async (plan_name, interval) => {
      const answer = await refused.call('POST', refused.path, {
        plan_name,
        amount: '0.00',
        ...(interval && { interval }),
      });
      expect(answer).toMatchObject({ status: 409, body: { errors: [{ name: 'body.plan_name' }] } });
    });

    it('Buying a plan finds the plan by its name and interval', async () => {
      const buyer = await aBuyer(shop);
      const named = { plan_name: 'Starter', interval: 'month', amount: 99 };
      expect(await buyer.call('POST', buyer.path, named)).toMatchObject({ status: 200, body: { planId: '10' } });
    });

    it('Buying a plan with a code charges exactly the discounted amount', async () => {
      const buyer = await aBuyer(shop);
      const coupon = { ...starter, discountCoupon: 'spring20' };
      expect(await buyer.call('POST', buyer.path, coupon)).toMatchObject({
        status: 409,
        body: {
          errors: [
            { name: 'body.amount', detail: 'is 79.20' },
            { name: 'body.recurDiscount', detail: 'is 19.80' },
          ],
        },
      });
      const said = { ...coupon, amount: 79.2, planDiscountVoucher: '19.80', recurDiscount: '19.80' };
      expect(await buyer.call('POST', buyer.path, said)).toMatchObject({ status: 200, body: { amount: '79.20' } });
      expect(await chargedTo(shop, buyer.customer)).toEqual([7_920]);
      const [order] = await orders(buyer);
      expect(await buyer.call('POST', '/user/orderCreation', { invoiceId: order?.invoiceId })).toMatchObject({
        status: 200,
        body: {
          data: {
            totalAmountPaid: '79.20',
            usedCredits: '0.00',
            discountCoupon: 'SPRING20',
            planDiscountVoucher: '19.80',
            recurDiscount: '19.80',
            orderType: 'upgrade',
            validity: 30,
          },
        },
      });
    });

    it('Buying a plan with a second code gets 409', async () => {
      const buyer = await aBuyer(shop);
      await buyer.call('PUT', `/customer/signup/${buyer.subscription}`, { coupon: 'SPRING20', planId: '10' });
      const second = { ...starter, amount: '79.20', recurDiscount: '19.80', discountCoupon: 'fifth' };
      expect(await buyer.call('POST', buyer.path, second)).toMatchObject({
        status: 409,
        body: { detail: 'Cannot apply more than one coupon code' },
      });
      expect(await chargedTo(shop, buyer.customer)).toEqual([]);
    });

    it('Buying a plan with a declined card gets 402 with the provider’s message, and another card completes it', async () => {
      const buyer = await aBuyer(shop, cards.chargeDeclined);
      expect(await buyer.call('POST', buyer.path, starter)).toMatchObject({
        status: 402,
        body: { type: 'urn:foyer:problem:paymentRequired', errMessage: expect.stringMatching(/declined/) },
      });
      expect(await shop.userNow(buyer.user)).toMatchObject({ planId: null });
      await shop.saveCard(buyer.user, cards.visa);
      expect(await buyer.call('POST', buyer.path, starter)).toMatchObject({ status: 200 });
      expect(await chargedTo(shop, buyer.customer)).toEqual([9_900]);
    });

    it('A purchase that waited for its payment and was voided at Stripe can be started again', async () => {
      const buyer = await aBuyer(shop, cards.chargeDeclined);
      await buyer.call('POST', buyer.path, starter);
      const { data } = await shop.stripe.client().invoices.list({ customer: buyer.customer, status: 'open' });
      await shop.stripe.client().invoices.voidInvoice(data[0]?.id ?? '');
      await shop.saveCard(buyer.user, cards.mastercard);
      const answers = [await buyer.call('POST', buyer.path, starter), await buyer.call('POST', buyer.path, starter)];
      // The first may only find that it was voided: the answer of before is still what Stripe gives to the same question.
      expect(answers.at(-1)).toMatchObject({ status: 200, body: { amount: '99.00' } });
      expect(await chargedTo(shop, buyer.customer)).toEqual([9_900]);
    });

    it('Buying a plan with a card that needs authentication gets 402 with a client secret and completes after it', async () => {
      const buyer = await aBuyer(shop, cards.authenticatesAlways);
      const waiting = await buyer.call('POST', buyer.path, starter);
      expect(waiting).toMatchObject({
        status: 402,
        body: { type: 'urn:foyer:problem:paymentAction', client_secret: expect.stringMatching(/^pi_\w+_secret_\w+$/) },
      });
      expect(await shop.userNow(buyer.user)).toMatchObject({ planId: null });
      const intent = String(waiting.body.client_secret).split('_secret_')[0] ?? '';
      shop.stripe.engine.authenticate(intent, 'succeed');
      expect(await buyer.call('POST', buyer.path, starter)).toMatchObject({ status: 200, body: { amount: '99.00' } });
      expect(await chargedTo(shop, buyer.customer)).toEqual([9_900]);
    });

    it('Buying a plan without a card gets 409', async () => {
      const buyer = await aBuyer(shop, null);
      expect(await buyer.call('POST', buyer.path, starter)).toMatchObject({
        status: 409,
        body: { detail: 'There is no card to charge' },
      });
    });

    it('Buying a lower plan takes effect at the end of the paid period and charges nothing', async () => {
      const buyer = await aBuyer(shop);
      await shop.buy(buyer.user, 'm-499');
      const answer = await buyer.call('POST', buyer.path, { ...starter, amount: '0.00' });
      expect(answer).toMatchObject({
        status: 200,
        body: { status: 'scheduled', planId: '10', stripe_invoice_id: null, amount: '0.00' },
      });
      expect(Number(answer.body.starts_at)).toBeGreaterThan(shop.foyer.deps.now());
      expect(await shop.userNow(buyer.user)).toMatchObject({ planId: '12' });
      expect(await chargedTo(shop, buyer.customer)).toEqual([49_900]);
    });

    it('A lower plan that Stripe does not take at once is noted, not scheduled, until Stripe has it', async () => {
      const buyer = await aBuyer(shop);
      await shop.buy(buyer.user, 'm-499');
      shop.stripe.fault('unreachable', (method, path) => method === 'POST' && path === '/v1/subscription_schedules');
      const lower = { ...starter, amount: '0.00' };
      const answer = await buyer.call('POST', buyer.path, lower);
      expect(answer).toMatchObject({ status: 200, body: { status: 'noted', planId: '10', amount: '0.00' } });
      expect(Number(answer.body.starts_at)).toBeGreaterThan(shop.foyer.deps.now());
      shop.passTime(2 * 60_000);
      await shop.membership.work();
      expect(await shop.membership.getMembership(buyer.user.id)).toMatchObject({ nextPlanId: '10' });
      expect(await buyer.call('POST', buyer.path, lower)).toMatchObject({ status: 200, body: { status: 'scheduled' } });
    });

    it('Buying a plan while Stripe is away answers in the words of the specification, and a repeat charges once', async () => {
      const buyer = await aBuyer(shop);
      shop.stripe.fault(
        'lost',
        (method, path) => method === 'POST' && path === `/v1/subscriptions/${buyer.subscription}`,
      );
      expect(await buyer.call('POST', buyer.path, starter)).toMatchObject({
        status: 503,
        body: { detail: 'Something went wrong!' },
      });
      expect(await buyer.call('POST', buyer.path, starter)).toMatchObject({ status: 200 });
      expect(await chargedTo(shop, buyer.customer)).toEqual([9_900]);
    });

    it('Buying a plan with another member’s customer or subscription, or a mix, gets 404 as if there were none', async () => {
      const [own, other] = [await aBuyer(shop), await aBuyer(shop)];
      for (const path of [
        other.path,
        `/customer/${own.customer}/subscription/${other.subscription}`,
        `/customer/${other.customer}/subscription/${own.subscription}`,
        `/customer/${own.customer}/subscription/sub_none`,
      ]) {
        expect(await own.call('POST', path, starter)).toMatchObject({
          status: 404,
          body: { detail: 'Subscription retrieval failed!' },
        });
      }
      expect([await chargedTo(shop, own.customer), await chargedTo(shop, other.customer)]).toEqual([[], []]);
    });

    it('Buying a plan by a client needs payments:write', async () => {
      const buyer = await aBuyer(shop);
      const reader = await asClient(shop, 'users:read', 'users:write', 'plans:read');
      expect(await reader('POST', buyer.path, starter)).toMatchObject({ status: 403 });
      const payer = await asClient(shop, 'payments:write');
      expect(await payer('POST', buyer.path, starter)).toMatchObject({ status: 200 });
    });
  });
});
