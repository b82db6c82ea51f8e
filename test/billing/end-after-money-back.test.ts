import { listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { dayMs, manyCards, type Shop, startShop } from './steps.ts';

const ends = ['keep', 'period-end', 'at-once'] as const;
const deliveries = ['prompt and twice', 'lost', 'four days late'] as const;

describe.each(ends)('with %s after a dispute and after a full refund', (end) => {
  let shop: Shop;
  beforeAll(async () => {
    const PLANS_FILE = plansWith({ periods: 'days', onDispute: end, onFullRefund: end });
    shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE });
    shop.stripe.tell(shop.foyer.url);
    shop.stripe.webhooks.mode = 'held';
  });
  beforeEach(() => shop.stripe.webhooks.drop());
  afterAll(() => shop?.close());

  const orders = ({ id }: User) => listOrders(shop.foyer.deps.database.db, id);
  const mails = async ({ email }: User) => (await shop.foyer.mails(email)).map(({ template }) => template);
  async function buyer(): Promise<{ user: User; invoice: string }> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    shop.stripe.webhooks.drop();
    const [order] = await orders(user);
    return { user, invoice: order?.invoiceId ?? '' };
  }
  async function deliver(how: (typeof deliveries)[number]): Promise<void> {
    if (how === 'lost') {
      shop.stripe.webhooks.drop();
      await shop.membership.reconcile({ pauseMs: 0 });
    } else {
      if (how === 'four days late') shop.passTime(4 * dayMs);
      await shop.stripe.webhooks.deliver({ order: (events) => events.toReversed(), twice: true });
    }
    for (const _ of [1, 2]) await shop.membership.work();
  }
  /** The number of charges at the end: the plan may not renew. */
  async function expectEnd(user: User, expected: (typeof ends)[number]): Promise<void> {
    const now = async () => ({
      ...(await shop.membership.getMembership(user.id)),
      planId: (await shop.userNow(user)).planId,
    });
    const standing = {
      keep: { status: 'active', cancelAtPeriodEnd: false, planId: '10' },
      'period-end': { status: 'active', cancelAtPeriodEnd: true, planId: '10' },
      'at-once': { status: 'canceled', planId: null },
    };
    expect(await now()).toMatchObject(standing[expected]);
    shop.passTime(31 * dayMs);
    await shop.membership.refresh(user.id);
    expect(await orders(user)).toHaveLength(expected === 'keep' ? 2 : 1);
    expect((await now()).planId).toBe(expected === 'keep' ? '10' : null);
  }

  it.each(deliveries)('A dispute whose events are %s has that end, once', async (how) => {
    const { user, invoice } = await buyer();
    shop.stripe.engine.dispute(invoice);
    await deliver(how);
    const told = (await mails(user)).filter((template) => template === 'payment-disputed');
    expect(told).toHaveLength(end === 'keep' ? 0 : 1);
    await expectEnd(user, end);
  });

  it.each(deliveries)('A full refund in two parts whose events are %s has that end', async (how) => {
    const { user, invoice } = await buyer();
    shop.stripe.engine.refund(invoice, 9_000);
    shop.stripe.engine.refund(invoice);
    await deliver(how);
    expect(await mails(user)).toContain('refund-made');
    await expectEnd(user, end);
  });

  it.each(deliveries)('A partial refund whose events are %s never ends a plan', async (how) => {
    const { user, invoice } = await buyer();
    shop.stripe.engine.refund(invoice, 9_899);
    await deliver(how);
    await expectEnd(user, 'keep');
  });

  it('A won dispute does not take the end back, and the member can resume a plan that still lasts', async () => {
    const { user, invoice } = await buyer();
    const dispute = shop.stripe.engine.dispute(invoice);
    await deliver('prompt and twice');
    shop.stripe.engine.moveDispute(dispute, 'won');
    await deliver('prompt and twice');
    const ending = (await shop.membership.getMembership(user.id))?.cancelAtPeriodEnd;
    expect(ending).toBe(end === 'period-end');
    expect(await shop.membership.resume(user)).toBe(end === 'period-end' ? 'resumed' : 'no-change');
    // An event that comes again does not undo what the member has decided since.
    shop.stripe.webhooks.drop();
    await shop.membership.reconcile({ pauseMs: 0 });
    await shop.membership.work();
    await expectEnd(user, end === 'at-once' ? 'at-once' : 'keep');
  });

  it('The full refund of an earlier payment ends nothing', async () => {
    const { user, invoice } = await buyer();
    shop.passTime(30 * dayMs + 60_000);
    await shop.membership.refresh(user.id);
    expect(await orders(user)).toHaveLength(2);
    shop.stripe.engine.refund(invoice);
    await deliver('prompt and twice');
    expect(await shop.membership.getMembership(user.id)).toMatchObject({ status: 'active', cancelAtPeriodEnd: false });
  });
});
