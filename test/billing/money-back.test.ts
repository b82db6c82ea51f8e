import { diffWithStripe, listOrders } from '../../server/billing/index.ts';
import { reconcileDaily } from '../../server/billing/jobs/comparison.ts';
import type { User } from '../../server/users/index.ts';
import { toStripeCustomerId, toUserId } from '../support/ids.ts';
import { anyBackend } from '../support/stores.ts';
import { wordsOf } from './checkout/shop.ts';
import { dayMs, manyCards, type Shop, startShop } from './steps.ts';

const hourMs = 60 * 60_000;

describe('refunds, disputes and credit notes', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, manyCards);
    shop.stripe.tell(shop.foyer.url);
    shop.stripe.webhooks.mode = 'held';
  });
  beforeEach(() => shop.stripe.webhooks.drop());
  afterAll(() => shop?.close());

  const db = () => shop.foyer.deps.database.db;
  const orders = ({ id }: User) => listOrders(db(), id);
  const engine = () => shop.stripe.engine;
  const diff = async () => (await diffWithStripe(shop.membership.deps, { pauseMs: 0 })).left;
  const reconcile = () => shop.membership.reconcile({ pauseMs: 0 });
  async function buyer(): Promise<User & { invoice: string }> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    expect(await shop.buy(user, 'y-900')).toMatchObject({ kind: 'paid' });
    shop.stripe.webhooks.drop();
    const [order] = await orders(user);
    return { ...user, invoice: order?.invoiceId ?? '' };
  }
  const refundMails = async ({ email }: User) =>
    (await shop.foyer.mails(email))
      .filter(({ template }) => template.startsWith('refund-'))
      .map(({ template, values }) => `${template} ${values.amountCents}`);
  /** Every event twice, the newest first. */
  const deliverShuffled = async () => {
    const answers = await shop.stripe.webhooks.deliver({ order: (events) => events.toReversed(), twice: true });
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  };
  const ofOrder = (invoice: string) => (one: { detail: string }) => one.detail.startsWith(invoice);

  it('A refund whose webhook was lost is found by the comparison four days later, and the member is told once', async () => {
    const user = await buyer();
    engine().refund(user.invoice, 7_500);
    shop.stripe.webhooks.drop();
    shop.passTime(4 * dayMs);
    expect((await diff()).filter(ofOrder(user.invoice))).toMatchObject([
      { kind: 'refund missing', userId: user.id, detail: `${user.invoice}: 0 here, 7500 at Stripe` },
    ]);
    for (const _ of [1, 2]) expect((await reconcile()).left).toEqual([]);
    expect(await orders(user)).toMatchObject([{ refundedCents: 7_500 }]);
    expect(await refundMails(user)).toEqual(['refund-made 7500']);
    expect(await diff()).toEqual([]);
  });

  it('A refund whose webhook was lost is found by its event in the next hour, whatever the last hour was', async () => {
    const user = await buyer();
    await reconcileDaily(shop.membership.deps);
    engine().refund(user.invoice, 7_500);
    shop.stripe.webhooks.drop();
    shop.passTime(4 * dayMs);
    for (const _ of [1, 2]) await shop.membership.work();
    expect(await orders(user)).toMatchObject([{ refundedCents: 7_500 }]);
    expect(await refundMails(user)).toEqual(['refund-made 7500']);
  });

  it('A refund that fails lowers the order, and the member is told of both', async () => {
    const user = await buyer();
    const failing = engine().refund(user.invoice, 5_000);
    engine().refund(user.invoice, 1_000, 'pending');
    await deliverShuffled();
    expect(await orders(user)).toMatchObject([{ refundedCents: 6_000 }]);
    engine().endRefund(failing, 'failed');
    await deliverShuffled();
    expect(await orders(user)).toMatchObject([{ refundedCents: 1_000 }]);
    expect(await refundMails(user)).toEqual(['refund-made 6000', 'refund-failed 5000']);
    expect((await diff()).filter(ofOrder(user.invoice))).toEqual([]);
  });

  it('A refund that fails without a webhook is a difference that the comparison repairs', async () => {
    const user = await buyer();
    const failing = engine().refund(user.invoice, 5_000);
    await deliverShuffled();
    engine().endRefund(failing, 'canceled');
    shop.stripe.webhooks.drop();
    expect((await diff()).filter(ofOrder(user.invoice))).toMatchObject([
      { kind: 'refund amount', detail: `${user.invoice}: 5000 here, 0 at Stripe` },
    ]);
    await reconcile();
    expect(await orders(user)).toMatchObject([{ refundedCents: 0 }]);
    expect(await refundMails(user)).toEqual(['refund-made 5000', 'refund-failed 5000']);
  });

  it.each([
    ['won', 'needs_response', 'won'],
    ['lost', 'needs_response', 'lost'],
    ['warning_closed', 'warning_needs_response', 'won'],
  ] as const)('A dispute that ends as %s is open until then, in any order of its events', async (end, start, state) => {
    const user = await buyer();
    const dispute = engine().dispute(user.invoice, start);
    await deliverShuffled();
    expect(await orders(user)).toMatchObject([{ disputeState: 'open', disputedAt: expect.any(Number) }]);
    engine().moveDispute(dispute, end);
    await deliverShuffled();
    expect(await orders(user)).toMatchObject([{ disputeState: state, refundedCents: 0 }]);
  });

  it.each(['won', 'lost'] as const)(
    'A dispute that ended as %s before any of its events arrived is not open',
    async (end) => {
      const user = await buyer();
      engine().moveDispute(engine().dispute(user.invoice), end);
      await deliverShuffled();
      expect(await orders(user)).toMatchObject([{ disputeState: end, disputedAt: expect.any(Number) }]);
      expect((await diff()).filter(ofOrder(user.invoice))).toEqual([]);
    },
  );

  it('A refund that failed before any of its events arrived is none, and no mail says that it was made', async () => {
    const user = await buyer();
    engine().endRefund(engine().refund(user.invoice, 5_000), 'failed');
    await deliverShuffled();
    expect(await orders(user)).toMatchObject([{ refundedCents: 0 }]);
    expect(await refundMails(user)).toEqual([]);
    expect((await diff()).filter(ofOrder(user.invoice))).toEqual([]);
  });

  it.each([
    ['won', undefined],
    ['lost', 'Paid back by your bank'],
  ] as const)('The list of invoices shows a dispute as disputed until it is %s', async (end, then) => {
    const user = await buyer();
    const dispute = engine().dispute(user.invoice);
    await deliverShuffled();
    const words = async () =>
      wordsOf(await (await (await shop.foyer.signedIn(user)).get('/settings/membership')).text());
    expect(await words()).toContain('Disputed');
    engine().moveDispute(dispute, end);
    await deliverShuffled();
    expect(await words()).not.toContain('Disputed');
    if (then) expect(await words()).toContain(then);
    else expect(await words()).not.toMatch(/ispute/);
  });

  it('A dispute whose events were lost is a difference that the comparison repairs', async () => {
    const user = await buyer();
    const dispute = engine().dispute(user.invoice);
    shop.stripe.webhooks.drop();
    const found = async () =>
      (await diff()).filter(ofOrder(user.invoice)).map(({ kind, detail }) => `${kind} ${detail}`);
    expect(await found()).toEqual([`dispute ${user.invoice}: none here, open at Stripe`]);
    await reconcile();
    expect(await orders(user)).toMatchObject([{ disputeState: 'open' }]);
    engine().moveDispute(dispute, 'lost');
    expect(await found()).toEqual([`dispute ${user.invoice}: open here, lost at Stripe`]);
    await reconcile();
    expect(await found()).toEqual([]);
  });

  it('An order from before payments were stored learns its payment in the next comparison', async () => {
    const user = await buyer();
    await db().updateTable('orders').set({ paymentIntentId: null }).where('userId', '=', user.id).execute();
    engine().refund(user.invoice, 300);
    shop.stripe.webhooks.drop();
    await reconcile();
    expect(await orders(user)).toMatchObject([{ refundedCents: 300, paymentIntentId: expect.stringMatching(/^pi_/) }]);
  });

  it('A refund and a dispute from long ago are recorded without a mail and end nothing', async () => {
    const user = await buyer();
    engine().refund(user.invoice, 300);
    engine().dispute(user.invoice);
    shop.stripe.webhooks.drop();
    shop.passTime(31 * dayMs);
    await reconcile();
    await shop.membership.work();
    expect(await orders(user)).toMatchObject([{ refundedCents: 300, disputeState: 'open' }]);
    expect(await refundMails(user)).toEqual([]);
    expect(await shop.membership.getMembership(user.id)).toMatchObject({ cancelAtPeriodEnd: false });
  });

  it('The hourly pass makes a constant number of requests, however many members there are', async () => {
    await reconcileDaily(shop.membership.deps);
    const at = shop.foyer.deps.now();
    const rows = Array.from({ length: 1_000 }, (_, index) => ({
      userId: toUserId(`01900000-0000-7000-8000-${String(index).padStart(12, '0')}`),
      customerId: toStripeCustomerId(`cus_many_${index}`),
      trialDays: 0,
      generation: 0,
      status: 'none' as const,
      cancelAtPeriodEnd: 0,
      version: 0,
      createdAt: at,
      updatedAt: at,
    }));
    for (let from = 0; from < rows.length; from += 100)
      await db()
        .insertInto('memberships')
        .values(rows.slice(from, from + 100))
        .execute();
    shop.passTime(hourMs);
    await shop.membership.work();
    shop.passTime(hourMs);
    const calls: string[] = [];
    shop.stripe.observe(({ method, path }) => calls.push(`${method} ${path}`));
    await shop.membership.work();
    expect(calls).toEqual(['GET /v1/events', 'GET /v1/events']);
    calls.length = 0;
    await shop.membership.work();
    expect(calls).toEqual([]);
    for (const { userId } of rows) await db().deleteFrom('memberships').where('userId', '=', userId).execute();
  });

  it('A credit note stands at its order after its event, and after a lost event by the comparison', async () => {
    const user = await buyer();
    const note = (amount: number) =>
      shop.stripe
        .client()
        .creditNotes.create({ invoice: user.invoice, amount, refund_amount: amount, email_type: 'none' });
    const first = await note(900);
    await deliverShuffled();
    const stored = { id: first.id, number: first.number, amountCents: 900, pdfUrl: first.pdf };
    expect(await orders(user)).toMatchObject([{ refundedCents: 900, creditNotes: [stored] }]);
    const second = await note(100);
    shop.stripe.webhooks.drop();
    expect((await diff()).filter(ofOrder(user.invoice)).map(({ kind }) => kind)).toEqual([
      'refund amount',
      'credit note',
    ]);
    expect((await reconcile()).left).toEqual([]);
    expect(await orders(user)).toMatchObject([
      { refundedCents: 1_000, creditNotes: [stored, { number: second.number, amountCents: 100 }] },
    ]);
    expect(await refundMails(user)).toEqual(['refund-made 900', 'refund-made 100']);
  });

  it('The members of missed events are read once, however many events there are', async () => {
    const user = await buyer();
    await shop.membership.work();
    shop.passTime(hourMs);
    await shop.membership.work();
    const { customerId } = (await shop.membership.getMembership(user.id)) ?? {};
    for (const name of ['One', 'Two', 'Three']) {
      const { subscriptionId } = (await shop.membership.getMembership(user.id)) ?? {};
      await shop.stripe.client().subscriptions.update(subscriptionId ?? '', { metadata: { name } });
    }
    shop.stripe.webhooks.drop();
    shop.passTime(hourMs);
    const reads: string[] = [];
    shop.stripe.observe(({ path }) => {
      if (path === `/v1/customers/${customerId}`) reads.push(path);
    });
    await shop.membership.work();
    expect(reads).toHaveLength(1);
  });
});
