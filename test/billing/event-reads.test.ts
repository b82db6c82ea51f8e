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
});
