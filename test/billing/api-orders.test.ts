import { listOrders } from '../../server/billing/index.ts';
import { anyBackend } from '../support/stores.ts';
import { aBuyer, type Buyer, starter } from './api-steps.ts';
import { cards, type Shop, startShop } from './steps.ts';

// One pair of stores is enough: test/api/matrix.test.ts makes each of these calls on all.
describe('orders in the JSON API', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { CARD_LIMIT_ADDRESS: '100000' });
  });
  afterAll(() => shop?.close());

  const orders = ({ user }: Pick<Buyer, 'user'>) => listOrders(shop.foyer.deps.database.db, user.id);

  describe('POST /user/orderCreation', () => {
    const path = '/user/orderCreation';
    let buyer: Buyer;
    let invoiceId: string;
    beforeAll(async () => {
      buyer = await aBuyer(shop);
      invoiceId = String((await buyer.call('POST', buyer.path, starter)).body.stripe_invoice_id);
    });

    it('POST /user/orderCreation answers with the server’s own order, the same each time', async () => {
      const [order] = await orders(buyer);
      const said = {
        invoiceId,
        orderDate: order?.orderedAt,
        orderPurchase: 'plan',
        orderType: 'upgrade',
        totalAmountPaid: '99.00',
        usedCredits: '0.00',
        userId: buyer.user.id,
      };
      const answers = [await buyer.call('POST', path, said), await buyer.call('POST', path, said)];
      expect(answers[0]).toMatchObject({ status: 200, body: { data: { ...said, id: order?.id, planId: '10' } } });
      expect(answers[1]).toEqual(answers[0]);
      expect(await orders(buyer)).toHaveLength(1);
    });

    it.each<[string, object]>([
      ['totalAmountPaid', { totalAmountPaid: '9900.00' }],
      ['usedCredits', { usedCredits: 5 }],
      ['orderType', { orderType: 'renewal' }],
      ['orderPurchase', { orderPurchase: 'wallet' }],
      ['planId', { planId: '15' }],
      ['userId', { userId: 'somebody' }],
    ])('POST /user/orderCreation with another %s gets 409', async (name, more) => {
      expect(await buyer.call('POST', path, { invoiceId, ...more })).toMatchObject({
        status: 409,
        body: { errors: [{ name: `body.${name}` }] },
      });
    });

    it.each<[string, object]>([
      ['id', { id: 'mine' }],
      ['date in milliseconds', { orderDate: 1_577_836_800_000 }],
      ['date as text', { orderDate: 'yesterday' }],
      ['id and date of null', { id: null, orderDate: null }],
    ])(
      'POST /user/orderCreation ignores the caller’s own %s and answers the order of the server',
      async (_what, own) => {
        const plain = await buyer.call('POST', path, { invoiceId });
        expect(plain.status).toBe(200);
        expect(await buyer.call('POST', path, { invoiceId, totalAmountPaid: '99.00', ...own })).toEqual(plain);
      },
    );

    it('POST /user/orderCreation gets 404 for another member’s invoice, an unpaid invoice or none', async () => {
      const other = await aBuyer(shop, cards.authenticatesAlways);
      expect(await other.call('POST', path, { invoiceId })).toMatchObject({
        status: 404,
        body: { detail: 'Something went wrong!' },
      });
      await other.call('POST', other.path, starter);
      const open = (await shop.stripe.client().invoices.list({ customer: other.customer, status: 'open' })).data[0];
      expect(await other.call('POST', path, { invoiceId: open?.id })).toMatchObject({ status: 404 });
      expect(await other.call('POST', path, { invoiceId: 'in_none', totalAmountPaid: '99.00' })).toMatchObject({
        status: 404,
      });
      expect(await orders(other)).toEqual([]);
    });

    it('POST /user/orderCreation finds the order of a renewal for which no webhook has come', async () => {
      const renewing = await aBuyer(shop);
      await renewing.call('POST', renewing.path, starter);
      shop.passTime(31 * 24 * 60 * 60_000);
      const [renewal] = (await shop.stripe.client().invoices.list({ customer: renewing.customer, status: 'paid' }))
        .data;
      expect(await orders(renewing)).toHaveLength(1);
      const again = await shop.foyer.signedIn(renewing.user);
      const answer = await again.postJson(path, { invoiceId: renewal?.id, totalAmountPaid: '99.00' });
      expect(await answer.json()).toMatchObject({ data: { orderType: 'renewal', totalAmountPaid: '99.00' } });
      expect(await orders(renewing)).toHaveLength(2);
    });
  });
});
