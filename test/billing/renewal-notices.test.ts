import { listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { dayMs, manyCards, type Shop, startShop } from './steps.ts';

const hourMs = 60 * 60_000;

describe('notices before a yearly renewal', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, manyCards);
  });
  afterAll(() => shop?.close());

  async function buyer(code: string, of = shop): Promise<User> {
    const user = await of.foyer.addUser();
    await of.saveCard(user);
    expect(await of.buy(user, code)).toMatchObject({ kind: 'paid' });
    return user;
  }
  const notices = async ({ email }: User, of = shop) =>
    (await of.foyer.mails(email)).filter(({ template }) => template === 'renewal-notice').map(({ values }) => values);
  /** Lets time pass, with the minute job twice. */
  async function pass(ms: number, of = shop): Promise<void> {
    of.passTime(ms);
    for (const _ of [1, 2]) await of.membership.work();
  }

  it('A notice is sent once thirty and once seven days before, with the day and the amount of the charge', async () => {
    const [yearly, monthly] = [await buyer('y-900'), await buyer('m-99')];
    const { periodEnd } = (await shop.membership.getMembership(yearly.id)) ?? {};
    await pass(335 * dayMs - hourMs);
    expect(await notices(yearly)).toEqual([]);
    await pass(2 * hourMs);
    const expected = { planName: 'Starter', amountCents: 90_000, currency: 'usd', renewsAt: periodEnd };
    expect(await notices(yearly)).toMatchObject([expected]);
    await pass(20 * dayMs);
    expect(await notices(yearly)).toHaveLength(1);
    await pass(3 * dayMs);
    expect(await notices(yearly)).toMatchObject([expected, expected]);
    await pass(7 * dayMs);
    await shop.membership.refresh(yearly.id);
    const [renewal] = await listOrders(shop.foyer.deps.database.db, yearly.id);
    expect(renewal).toMatchObject({ orderType: 'renewal', paidCents: 90_000 });
    expect(await notices(yearly)).toHaveLength(2);
    expect(await notices(monthly)).toEqual([]);
  });

  it('No notice is sent after a cancellation, also while Stripe has not confirmed it', async () => {
    const [cancelled, waiting] = [await buyer('y-900'), await buyer('y-900')];
    await shop.membership.cancel(cancelled);
    shop.passTime(336 * dayMs);
    shop.stripe.fault('error', (method, path) => method === 'POST' && path.startsWith('/v1/subscription'));
    expect(await shop.membership.cancel(waiting)).toBe('noted');
    await pass(0);
    await pass(24 * dayMs);
    for (const user of [cancelled, waiting]) expect(await notices(user)).toEqual([]);
  });

  it('A notice that was missed is not sent beside the next one', async () => {
    const user = await buyer('y-900');
    await pass(360 * dayMs);
    expect(await notices(user)).toHaveLength(1);
  });

  it.each([
    [[], 0],
    [[14], 1],
  ])('With the days %j of the catalogue the member gets %i notices', async (renewalNoticeDays, count) => {
    const PLANS_FILE = plansWith({ periods: 'days', renewalNoticeDays });
    const other = await startShop(anyBackend, { ...manyCards, PLANS_FILE });
    try {
      const user = await buyer('y-900', other);
      await pass(340 * dayMs, other);
      expect(await notices(user, other)).toEqual([]);
      await pass(20 * dayMs, other);
      expect(await notices(user, other)).toHaveLength(count);
    } finally {
      await other.close();
    }
  });
});
