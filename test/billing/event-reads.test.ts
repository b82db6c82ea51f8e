import { withUserLock } from '../../server/billing/user-lock.ts';
import { createEventReader } from '../../server/billing/webhooks/event-reader.ts';
import { anyBackend } from '../support/stores.ts';
import { type Shop, startShop } from './steps.ts';

describe('reads for the events of Stripe', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend);
  });
  afterAll(() => shop?.close());

  it('Events that arrive during an act of their member share one read after it', async () => {
    const user = await shop.foyer.addUser();
    await shop.membership.ensure(user, 7);
    const stripe = shop.stripe.client();
    const { data: events } = await stripe.events.list({ types: ['customer.subscription.created', 'invoice.paid'] });
    expect(events).toHaveLength(2);
    const { deps } = shop.membership;
    const reader = createEventReader(deps);
    let reads = 0;
    shop.stripe.observe(({ path }) => {
      if (path === '/v1/subscriptions') reads += 1;
    });
    const act = Promise.withResolvers<void>();
    const acting = withUserLock(deps.database, user.id, () => act.promise);
    const taken = events.map((event) => reader.take(event));
    await stripe.events.list({ limit: 1 });
    expect(reads).toBe(0);
    act.resolve();
    await acting;
    expect(await Promise.all(taken)).toEqual(['done', 'done']);
    expect(reads).toBe(1);
  });

  it('A card or a credit that is changed at Stripe alone is known by Stripe’s event, without an act of the member', async () => {
    shop.stripe.tell(shop.foyer.url);
    const user = await shop.foyer.addUser();
    const { customerId } = await shop.membership.ensure(user, 7);
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    const { id: paymentMethod } = await shop.stripe
      .client()
      .paymentMethods.attach('pm_card_mastercard', { customer: customerId ?? '' });
    await shop.stripe.webhooks.idle();
    const isDefault = { default_payment_method: paymentMethod };
    await shop.stripe.client().customers.update(customerId ?? '', { invoice_settings: isDefault, balance: -1_000 });
    await shop.stripe.webhooks.idle();
    expect(await shop.membership.getMembership(user.id)).toMatchObject({
      card: { paymentMethodId: paymentMethod },
      balanceCents: -1_000,
      nextCharge: { amountCents: 8_900, creditUsedCents: 1_000 },
    });
  });
});
