import { listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { wordsOf } from './checkout/shop.ts';
import { cards, dayMs, from, manyCards, type Shop, startShop } from './steps.ts';

const hourMs = dayMs / 24;

/** docs/decisions/0009-grace-once-a-year.md */
describe('days of grace', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, manyCards);
  });
  afterAll(() => shop?.close());

  const standing = ({ id }: User) => shop.membership.refresh(id);
  const planOf = async (user: User) => (await shop.userNow(user)).planId;
  const invoices = async (user: User, status: 'open' | 'void') => {
    const { customerId } = (await shop.membership.getMembership(user.id)) ?? {};
    return (await shop.stripe.client().invoices.list({ customer: customerId ?? '', status })).data.map(({ id }) => id);
  };
  /** Buys, and lets the card fail at the next renewal. */
  async function buyAndFail(user: User): Promise<void> {
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    const card = (await shop.membership.getMembership(user.id))?.card;
    shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', cards.chargeDeclined);
    shop.passTime(30 * dayMs + hourMs);
    expect(await standing(user)).toMatchObject({ status: 'past_due', unpaid: { amountCents: 9_900 } });
  }
  async function lapse(user: User): Promise<void> {
    await buyAndFail(user);
    expect(await planOf(user)).toBe('10');
    shop.passTime(8 * dayMs);
    await shop.membership.work();
    expect(await standing(user)).toMatchObject({ status: 'canceled' });
  }

  it('A member gets unpaid days of grace once, and at the next failure the plan pauses and the page says so', async () => {
    const user = await shop.foyer.addUser();
    await lapse(user);
    await buyAndFail(user);
    expect(await planOf(user)).toBeNull();
    const browser = await shop.foyer.signedIn(user);
    const words = wordsOf(await (await browser.get('/settings/membership')).text());
    expect(words).toMatch(/Your plan is paused until this is paid\..* Starter, every 30 days .* Cancel membership/);
    expect(words).not.toContain('Active until');
    expect(wordsOf(await (await browser.get('/settings/membership/cancel')).text())).toMatch(/It ends right away/);
    // For as long as others keep theirs it can be paid, and is the member's again.
    await shop.membership.work();
    await shop.saveCard(user, cards.mastercard);
    expect(await shop.membership.payUnpaid(user, from)).toMatchObject({ kind: 'paid' });
    expect(await planOf(user)).toBe('10');
    expect(await listOrders(shop.foyer.deps.database.db, user.id)).toHaveLength(3);
  });

  it('While a plan is paused until it is paid, the page names the free plan that the member has', async () => {
    const user = await shop.foyer.addUser();
    await lapse(user);
    const free = shop.plan('m-free');
    await shop.membership.takeFree(user, free);
    await buyAndFail(user);
    expect(await planOf(user)).toBe(free.id);
    const browser = await shop.foyer.signedIn(user);
    expect(wordsOf(await (await browser.get('/settings/membership')).text())).toMatch(
      new RegExp(`Your plan is paused until this is paid\\. Until then you have ${free.name}`),
    );
  });

  it('A membership without days of grace ends with its subscription', async () => {
    const user = await shop.foyer.addUser();
    await lapse(user);
    await buyAndFail(user);
    shop.passTime(8 * dayMs);
    const browser = await shop.foyer.signedIn(user);
    expect(wordsOf(await (await browser.get('/settings/membership')).text())).toContain('Plan None');
    await shop.membership.work();
    expect(await standing(user)).toMatchObject({ status: 'canceled', unpaid: null });
    expect(await invoices(user, 'open')).toEqual([]);
  });

  it('A member cancels without days of grace, and nothing more is charged', async () => {
    const user = await shop.foyer.addUser();
    await lapse(user);
    await buyAndFail(user);
    const answer = await (await shop.foyer.signedIn(user)).post('/settings/membership/cancel');
    expect(answer.headers.get('location')).toBe('/settings/membership#membership:ended');
    expect([await invoices(user, 'open'), await planOf(user)]).toEqual([[], null]);
  });

  it('Days of grace that were paid for do not count as used', async () => {
    const user = await shop.foyer.addUser();
    await buyAndFail(user);
    await shop.saveCard(user, cards.mastercard);
    expect(await shop.membership.payUnpaid(user, from)).toMatchObject({ kind: 'paid' });
    const card = (await shop.membership.getMembership(user.id))?.card;
    shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', cards.chargeDeclined);
    shop.passTime(30 * dayMs);
    expect(await standing(user)).toMatchObject({ status: 'past_due' });
    expect(await planOf(user)).toBe('10');
  });

  it('A member gets days of grace again after a year', async () => {
    const user = await shop.foyer.addUser();
    await lapse(user);
    shop.passTime(330 * dayMs);
    await buyAndFail(user);
    expect(await planOf(user)).toBe('10');
  });

  it('The days of grace end when Stripe stops first, and its page takes no money for a plan that has ended', async () => {
    const user = await shop.foyer.addUser();
    await buyAndFail(user);
    const { subscriptionId } = (await shop.membership.getMembership(user.id)) ?? {};
    const [renewal] = await invoices(user, 'open');
    // What Stripe does after the last try, as the dashboard says: the invoice stays open.
    await shop.stripe.client().subscriptions.cancel(subscriptionId ?? '');
    expect(await invoices(user, 'open')).toEqual([renewal]);
    expect(await standing(user)).toMatchObject({ status: 'canceled', unpaid: null });
    expect(await planOf(user)).toBeNull();
    expect([await invoices(user, 'open'), await invoices(user, 'void')]).toEqual([[], [renewal]]);
  });
});

it('With fourteen days of grace the plan is kept until Smart Retries collect the renewal on day ten', async () => {
  const shop = await startShop(anyBackend, { PLANS_FILE: plansWith({ periods: 'days', graceDays: 14 }) });
  try {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    const { card, customerId } = (await shop.membership.getMembership(user.id)) ?? {};
    shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', cards.chargeDeclined);
    shop.passTime(30 * dayMs + hourMs);
    for (let day = 0; day < 9; day += 1) {
      await shop.membership.work();
      await shop.membership.refresh(user.id);
      expect((await shop.userNow(user)).planId).toBe('10');
      shop.passTime(dayMs);
    }
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'past_due', unpaid: { attempts: 5 } });
    shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', cards.visa);
    shop.passTime(dayMs + hourMs);
    await shop.membership.work();
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'active', unpaid: null });
    expect((await shop.userNow(user)).planId).toBe('10');
    const paid = await shop.stripe.client().invoices.list({ customer: customerId ?? '', status: 'paid' });
    expect(paid.data.filter(({ amount_paid: cents }) => cents > 0)).toHaveLength(2);
  } finally {
    await shop.close();
  }
});

it('With fourteen days of grace a renewal that succeeds on day ten keeps the plan', async () => {
  const shop = await startShop(anyBackend, { PLANS_FILE: plansWith({ periods: 'days', graceDays: 14 }) });
  try {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    const card = (await shop.membership.getMembership(user.id))?.card?.paymentMethodId ?? '';
    shop.stripe.engine.setCardBehaviour(card, cards.chargeDeclined);
    shop.passTime(30 * dayMs + hourMs);
    await shop.membership.refresh(user.id);
    shop.passTime(10 * dayMs);
    await shop.membership.work();
    expect((await shop.userNow(user)).planId).toBe('10');
    shop.stripe.engine.setCardBehaviour(card, cards.visa);
    expect(await shop.membership.payUnpaid(user, from)).toMatchObject({ kind: 'paid' });
    shop.passTime(5 * dayMs);
    await shop.membership.work();
    expect((await shop.userNow(user)).planId).toBe('10');
  } finally {
    await shop.close();
  }
});
