import { listOrders } from '../../server/billing/index.ts';
import { anyBackend } from '../support/stores.ts';
import { cards, manyCards, type Shop, startShop } from './steps.ts';

const from = { ip: '203.0.113.7' };

/** Stripe does not document whether a changed card voids the invoice of a change that waits for its payment. */
describe('a card that is changed while an upgrade waits for its payment', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, manyCards);
  });
  afterAll(() => shop?.close());

  it.each(['keeps', 'voids'] as const)(
    'The upgrade is paid once, as announced, if Stripe %s its invoice',
    async (does) => {
      const stripe = shop.stripe.client();
      const user = await shop.foyer.addUser();
      await shop.saveCard(user);
      expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
      await shop.saveCard(user, cards.chargeDeclined);
      expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'declined' });
      const { pending } = (await shop.membership.getMembership(user.id)) ?? {};
      if (!pending) throw new Error('no change waits');

      // On the page of the membership.
      await shop.saveCard(user, cards.visa);
      if (does === 'voids') await stripe.invoices.voidInvoice(pending.invoiceId);
      const plan = shop.plan('m-499');
      let last: { kind: string } = { kind: 'none' };
      let [dueCents, tries] = [0, 0];
      // "Something has changed" at most once.
      while (last.kind !== 'paid' && tries < 2) {
        tries += 1;
        ({ dueCents } = await shop.membership.quote(user, plan, null));
        last = await shop.membership.confirm(user, { planId: plan.id, dueCents }, from);
      }
      expect(last).toMatchObject({ kind: 'paid' });
      const orders = await listOrders(shop.foyer.deps.database.db, user.id);
      expect(orders.map(({ paidCents }) => paidCents)).toEqual([dueCents, 9_900]);
      const { customerId } = (await shop.membership.refresh(user.id)) ?? {};
      const invoices = (await stripe.invoices.list({ customer: customerId ?? '', status: 'paid' })).data;
      expect(invoices.map((invoice) => invoice.amount_paid).filter((cents) => cents > 0)).toEqual([dueCents, 9_900]);
      expect((await shop.userNow(user)).planId).toBe(plan.id);
      const [order] = orders;
      expect(order?.card).toMatchObject({ lastFour: '4242' });
    },
  );
});
