import { listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { type Cli, cliOf } from '../support/cli.ts';
import { anyBackend } from '../support/stores.ts';
import { dayMs, manyCards, type Shop, startShop } from './steps.ts';

describe('foyer billing refund', () => {
  let shop: Shop;
  let operator: Cli;
  beforeAll(async () => {
    shop = await startShop(anyBackend, manyCards);
    operator = cliOf(shop.foyer, shop.stripe.environment());
  });
  afterAll(() => shop?.close());

  const orders = ({ id }: User) => listOrders(shop.foyer.deps.database.db, id);
  const standing = ({ id }: User) => shop.membership.getMembership(id);
  async function buyer(): Promise<{ user: User; invoice: string; number: string }> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    const [order] = await orders(user);
    return { user, invoice: order?.invoiceId ?? '', number: order?.invoiceNumber ?? '' };
  }
  const refundMails = async ({ email }: User) =>
    (await shop.foyer.mails(email))
      .filter(({ template }) => template === 'refund-made')
      .map(({ values }) => values.amountCents);

  it('The command refunds a part by a credit note, logs operator and amount, and leaves the plan', async () => {
    const { user, invoice, number } = await buyer();
    const run = await operator('billing', 'refund', number, '--amount', '49.50', '--json');
    expect(run.json()).toEqual({ outcome: 'refunded', invoice, amount: '49.50', user: user.id });
    expect(run.code).toBe(0);
    expect(JSON.parse(run.err)).toMatchObject({ act: 'refund', invoice, cents: 4_950, operator: expect.any(String) });
    expect(await orders(user)).toMatchObject([{ refundedCents: 4_950, creditNotes: [{ amountCents: 4_950 }] }]);
    expect(await refundMails(user)).toEqual([4_950]);
    expect(await standing(user)).toMatchObject({ status: 'active', cancelAtPeriodEnd: false });
    const { data } = await shop.stripe.client().creditNotes.list({ invoice });
    expect(data).toMatchObject([{ metadata: { foyer_operator: expect.any(String) } }]);
  });

  it.each([
    ['keep', { status: 'active', cancelAtPeriodEnd: false }],
    ['period-end', { status: 'active', cancelAtPeriodEnd: true }],
    ['at-once', { status: 'canceled' }],
  ])('With --end %s a refund has that end, whatever the catalogue says', async (end, expected) => {
    const { user, invoice } = await buyer();
    expect(await operator('billing', 'refund', invoice, '--end', end)).toMatchObject({ code: 0 });
    await shop.membership.work();
    expect(await standing(user)).toMatchObject(expected);
    expect(await orders(user)).toMatchObject([{ refundedCents: 9_900 }]);
  });

  it('A refund while Stripe is away is a task, and is made once however long Stripe is away', async () => {
    const { user, invoice } = await buyer();
    const away = cliOf(shop.foyer, { ...shop.stripe.environment(), STRIPE_API_URL: 'http://127.0.0.1:9' });
    const run = await away('billing', 'refund', invoice, '--end', 'period-end');
    expect(run).toMatchObject({ code: 0, out: expect.stringContaining('is noted') });
    expect(await orders(user)).toMatchObject([{ refundedCents: 0 }]);
    shop.passTime(2 * 60_000);
    // The answer is lost: Stripe has made the credit note.
    shop.stripe.fault('lost', (method, path) => method === 'POST' && path === '/v1/credit_notes');
    await shop.membership.work();
    shop.passTime(3 * dayMs);
    for (const _ of [1, 2, 3]) await shop.membership.work();
    expect(await orders(user)).toMatchObject([{ refundedCents: 9_900 }]);
    expect((await shop.stripe.client().creditNotes.list({ invoice })).data).toHaveLength(1);
    expect(await standing(user)).toMatchObject({ cancelAtPeriodEnd: true });
    expect(await refundMails(user)).toEqual([9_900]);
  });

  it('The command refuses unknown invoices, wrong amounts and more than is left', async () => {
    const { invoice } = await buyer();
    expect(await operator('billing', 'refund', 'in_made_up')).toMatchObject({ code: 3 });
    expect(await operator('billing', 'refund', invoice, '--amount', '4,50')).toMatchObject({ code: 2 });
    expect(await operator('billing', 'refund', invoice, '--amount', '99.01')).toMatchObject({
      code: 1,
      err: expect.stringContaining('Only 99.00 of it can be refunded'),
    });
    expect(await operator('billing', 'refund', invoice, '--end', 'never')).toMatchObject({ code: 2 });
  });

  it('A refund that Stripe refuses is given up and reported', async () => {
    const { user, invoice } = await buyer();
    shop.stripe.engine.refund(invoice, 5_000);
    const run = await operator('billing', 'refund', invoice, '--amount', '99.00');
    expect(run).toMatchObject({ code: 1, err: expect.stringContaining('Stripe refuses it') });
    await shop.membership.work();
    expect((await shop.stripe.client().creditNotes.list({ invoice })).data).toEqual([]);
    await shop.membership.reconcile({ pauseMs: 0 });
    expect(await orders(user)).toMatchObject([{ refundedCents: 5_000 }]);
  });
});
