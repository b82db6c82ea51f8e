import { listEvents } from '../../server/audit/index.ts';
import { listOrders } from '../../server/billing/index.ts';
import { dayMs, manyCards, type Shop, startShop } from '../billing/steps.ts';
import { toUserId } from '../support/ids.ts';
import { anyBackend } from '../support/stores.ts';

describe('payments in the audit trail', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, manyCards);
    shop.stripe.tell(shop.foyer.url);
    shop.stripe.webhooks.mode = 'held';
  });
  afterAll(() => shop?.close());

  it('A purchase is recorded once, and a refund with Stripe as its actor', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    expect(await shop.buy(user, 'y-900')).toMatchObject({ kind: 'paid' });
    const [order] = await listOrders(shop.foyer.deps.database.db, user.id);
    const invoice = order?.invoiceId ?? '';
    shop.stripe.engine.refund(invoice, 7_500);
    const dispute = await shop.stripe.webhooks.deliver({ twice: true });
    expect(new Set(dispute.map(({ status }) => status))).toEqual(new Set([200]));
    shop.passTime(dayMs);
    await shop.membership.work();
    await shop.foyer.app.audit.seal();
    const events = await listEvents(shop.foyer.deps.database.db, { userId: toUserId(user.id), limit: 50 });
    const payments = events.filter(({ type }) => type.startsWith('payment.')).toReversed();
    expect(payments).toMatchObject([
      { type: 'payment.made', details: { invoice, amountCents: 90_000, currency: 'usd' } },
      { type: 'payment.refunded', details: { invoice, amountCents: 7_500 }, actor: { kind: 'stripe' }, address: null },
    ]);
    const changes = events.filter(({ type }) => type === 'membership.changed');
    expect(changes[0]).toMatchObject({ type: 'membership.changed', details: { status: 'active' } });
  });
});
