import type Stripe from 'stripe';
import { cards, startShop } from '../billing/steps.ts';
import { anyBackend } from '../support/stores.ts';

it('A charge has the expiry of its card and the answer of the bank, as Stripe’s charges have', async () => {
  const shop = await startShop(anyBackend);
  try {
    const charges: Record<string, Stripe.Charge> = {};
    const buy = async (number: string) => {
      const user = await shop.foyer.addUser();
      await shop.membership.ensure(user, 7);
      await shop.saveCard(user, number);
      await shop.buy(user, 'm-99');
    };
    await buy(cards.visa);
    await buy(cards.chargeDeclined);
    for (const { type, data } of (await shop.stripe.client().events.list({ limit: 100 })).data) {
      if (type === 'charge.succeeded' || type === 'charge.failed') charges[type] = data.object as Stripe.Charge;
    }
    const { 'charge.succeeded': paid, 'charge.failed': declined } = charges;
    expect(paid?.outcome).toMatchObject({ network_status: 'approved_by_network', type: 'authorized' });
    expect(declined?.outcome).toMatchObject({ network_status: 'declined_by_network', type: 'issuer_declined' });
    expect(paid?.payment_method_details?.card).toMatchObject({
      amount_authorized: 9_900,
      exp_month: 12,
      exp_year: expect.any(Number),
      last4: '4242',
      network: 'visa',
    });
    expect(paid).toMatchObject({ application: null, receipt_url: null, source: null, transfer_group: null });
  } finally {
    await shop.close();
  }
});
