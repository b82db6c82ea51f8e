import fc from 'fast-check';
import type Stripe from 'stripe';
import { listOrders, StripeUnavailableError } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { toPlanId } from '../support/ids.ts';
import { anyBackend } from '../support/stores.ts';
import { cards, dayMs, from, type Shop, startShop } from './steps.ts';

/**
 * Money as properties: whatever members do in whatever order, whichever answers are lost and however webhooks come, the books
 * here are those of Stripe. A higher `FOYER_FAULT_SEEDS` has more runs; a failure prints its seed and path.
 */

const runs = Math.max(12, Math.floor(Number(process.env.FOYER_FAULT_SEEDS ?? 0) / 2));

const paidCodes = ['m-99', 'y-900', 'm-499', 'y-5000', 'm-899', 'y-8000'] as const;
const codes = ['HALF', 'TENNER', 'ALWAYS20', 'ALLOFIT'] as const;

type Step =
  | { kind: 'buy'; code: (typeof paidCodes)[number]; promotion: (typeof codes)[number] | null; times: number }
  | { kind: 'lie'; cents: number }
  | { kind: 'card'; number: string }
  | { kind: 'bank'; outcome: 'succeed' | 'fail' }
  | { kind: 'cancel' }
  | { kind: 'resume' }
  | { kind: 'free' }
  | { kind: 'pay-unpaid' }
  | { kind: 'time'; days: number }
  | { kind: 'trouble'; fault: 'lost' | 'unreachable' | 'error'; skip: number }
  | { kind: 'webhooks'; twice: boolean; seed: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('buy' as const),
      code: fc.constantFrom(...paidCodes),
      promotion: fc.option(fc.constantFrom(...codes), { freq: 2 }),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('lie' as const), cents: fc.integer({ min: 0, max: 20_000 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('card' as const),
      number: fc.constantFrom(
        cards.visa,
        cards.visa,
        cards.mastercard,
        cards.chargeDeclined,
        cards.authenticatesAlways,
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('bank' as const),
      outcome: fc.constantFrom('succeed' as const, 'succeed' as const, 'fail' as const),
    }),
  },
  ...(['cancel', 'resume', 'free', 'pay-unpaid'] as const).map((kind) => ({
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant(kind) }),
  })),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('time' as const), days: fc.integer({ min: 1, max: 40 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('trouble' as const),
      fault: fc.constantFrom('lost' as const, 'unreachable' as const, 'error' as const),
      skip: fc.integer({ min: 0, max: 6 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('webhooks' as const), twice: fc.boolean(), seed: fc.nat(1_000) }),
  },
);

/** What a member was told and what they did: what must come true. */
interface Ledger {
  user: User;
  /** What each confirmation that went through had announced, in cents. */
  announced: number[];
}

describe.each([anyBackend])('money, on $name', (backend) => {
  let shop: Shop;
  let stripe: Stripe;
  beforeAll(async () => {
    const limits = { CARD_LIMIT_MEMBER: '100000', CARD_LIMIT_ADDRESS: '100000', CARD_LIMIT_OVERALL: '100000' };
    shop = await startShop(backend, limits, { draftsRenewals: true });
    shop.stripe.tell(shop.foyer.url);
    shop.stripe.webhooks.mode = 'held';
    stripe = shop.stripe.client();
    const coupons: [string, Stripe.CouponCreateParams][] = [
      ['HALF', { percent_off: 50, duration: 'once' }],
      ['TENNER', { amount_off: 1_000, currency: 'usd', duration: 'once' }],
      ['ALWAYS20', { percent_off: 20, duration: 'forever' }],
      ['ALLOFIT', { percent_off: 100, duration: 'once' }],
    ];
    for (const [code, coupon] of coupons) {
      const { id } = await stripe.coupons.create(coupon);
      await stripe.promotionCodes.create({ code, promotion: { type: 'coupon', coupon: id } });
    }
  });
  afterAll(() => shop?.close());

  const shuffled = (seed: number) => (events: ReturnType<typeof shop.stripe.webhooks.waiting>[number][]) =>
    events
      .map((event, index) => ({ event, at: Math.imul(index + 1, 2_654_435_761 ^ seed) >>> 0 }))
      .sort((one, other) => one.at - other.at)
      .map(({ event }) => event);

  async function buy({ user, announced }: Ledger, { code, promotion, times }: Step & { kind: 'buy' }): Promise<void> {
    const { membership } = shop;
    const chosen = await membership.choose(user, shop.plan(code));
    if (promotion !== null) await membership.applyPromotion(user, promotion, from);
    const purchase = (await membership.purchase(user.id)) ?? chosen;
    const quote = await membership.quote(user, purchase.plan, purchase.promotion);
    const said = { planId: purchase.plan.id, dueCents: quote.dueCents };
    announced.push(quote.dueCents);
    // A double click, and one more.
    await Promise.allSettled(Array.from({ length: times }, () => membership.confirm(user, said, from)));
  }

  async function act(ledger: Ledger, todo: Step): Promise<void> {
    const { user } = ledger;
    const { membership, stripe: standIn } = shop;
    switch (todo.kind) {
      case 'buy':
        return buy(ledger, todo);
      case 'lie': {
        const purchase = await membership.purchase(user.id);
        if (purchase) ledger.announced.push(todo.cents);
        await membership.confirm(user, { planId: toPlanId(purchase?.plan.id ?? '10'), dueCents: todo.cents }, from);
        return;
      }
      case 'card':
        return shop.saveCard(user, todo.number);
      case 'bank': {
        const { customerId } = (await membership.getMembership(user.id)) ?? {};
        if (!customerId) return;
        // Past the wire: the trouble there is the product's.
        const { data } = standIn.engine.call({
          method: 'GET',
          path: '/v1/payment_intents',
          params: { customer: customerId },
        }) as {
          data: Stripe.PaymentIntent[];
        };
        const asked = data.find(({ status }) => status === 'requires_action');
        if (asked) standIn.engine.authenticate(asked.id, todo.outcome);
        await membership.outcome(user);
        return;
      }
      case 'cancel':
        return void (await membership.cancel(user));
      case 'resume':
        return void (await membership.resume(user));
      case 'free':
        return void (await membership.takeFree(user, shop.plan('m-free')));
      case 'pay-unpaid':
        return void (await membership.payUnpaid(user, from));
      case 'time':
        // As in life: what runs by itself has its turn every day.
        for (let day = 0; day < todo.days; day += 1) {
          shop.passTime(dayMs);
          await membership.work();
        }
        return;
      case 'trouble': {
        let skip = todo.skip;
        standIn.fault(todo.fault, () => {
          skip -= 1;
          return skip < 0;
        });
        return;
      }
      case 'webhooks':
        await standIn.webhooks.deliver({ order: shuffled(todo.seed), twice: todo.twice });
    }
  }

  /** The trouble is over, and everything that Stripe had to say has come. */
  async function settle({ user }: Ledger): Promise<void> {
    const { membership, stripe: standIn } = shop;
    // Whatever fault is left meets somebody; after that many requests none is.
    for (let tries = 0; tries < 60; tries += 1) await stripe.prices.list({ limit: 1 }).catch(() => {});
    await standIn.webhooks.deliver({ order: shuffled(7), twice: true });
    await membership.outcome(user).catch((error: unknown) => {
      if (!(error instanceof StripeUnavailableError)) throw error;
    });
    await membership.refresh(user.id);
  }

  async function check({ user, announced }: Ledger): Promise<void> {
    const { membership, foyer } = shop;
    const standing = await membership.getMembership(user.id);
    const orders = await listOrders(foyer.deps.database.db, user.id);
    const member = await shop.userNow(user);
    if (!standing?.customerId) {
      expect(orders).toEqual([]);
      expect([null, '1']).toContain(member.planId);
      return;
    }
    const { data: invoices } = await stripe.invoices.list({ customer: standing.customerId, limit: 100 });
    const { data: subscriptions } = await stripe.subscriptions.list({ customer: standing.customerId, status: 'all' });
    const sold = invoices.filter(({ lines }) => lines.data.some(({ amount }) => amount > 0));
    const paid = sold.filter(({ status }) => status === 'paid');
    // Orders here are the paid invoices there, each once, to the cent.
    expect(orders.map(({ invoiceId }) => invoiceId).sort()).toEqual(paid.map(({ id }) => id).sort());
    for (const order of orders) {
      const invoice = paid.find(({ id }) => id === order.invoiceId);
      expect([order.paidCents, order.planId]).toEqual([invoice?.amount_paid, expect.any(String)]);
    }
    // What was charged for a change is what its page has announced, and no announcement is charged twice.
    const left = [...announced];
    for (const { billing_reason, amount_paid } of paid) {
      if (billing_reason === 'subscription_cycle') continue;
      expect(left).toContain(amount_paid);
      left.splice(left.indexOf(amount_paid), 1);
    }
    // One subscription at a time.
    expect(
      subscriptions.filter(({ status }) => !['canceled', 'incomplete_expired'].includes(status)).length,
    ).toBeLessThanOrEqual(1);
    // No one has a plan that is not paid or free.
    if (member.planId !== null && member.planId !== '1') {
      const bought = orders.find(({ planId }) => planId === member.planId);
      expect(bought).toBeDefined();
      const live = subscriptions.find(({ status }) => !['canceled', 'incomplete_expired'].includes(status));
      expect(['active', 'past_due', 'trialing']).toContain(live?.status);
      if (live?.status === 'past_due') {
        expect(shop.foyer.deps.now()).toBeLessThanOrEqual((standing.unpaidSince ?? 0) + 7 * dayMs);
      }
      // The newest thing that was paid.
      expect(orders[0]?.planId).toBe(member.planId);
    }
  }

  it(
    'The rules of money hold after any actions in any order',
    async () => {
      let told = '';
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
          const ledger: Ledger = { user: await shop.foyer.addUser(), announced: [] };
          const [first] = steps;
          if (first?.kind !== 'card') await shop.saveCard(ledger.user);
          for (const todo of steps) {
            await act(ledger, todo).catch((error: unknown) => {
              told = String(error);
              // Stripe was away: the member sees so, and tries again.
              if (!(error instanceof StripeUnavailableError) && !/no card could be begun|was not saved/.test(told))
                throw error;
            });
          }
          await settle(ledger);
          await check(ledger);
        }),
        {
          numRuns: runs,
          verbose: 1,
          ...(process.env.FOYER_MONEY_SEED && { seed: Number(process.env.FOYER_MONEY_SEED) }),
        },
      );
      expect(runs).toBeGreaterThanOrEqual(12);
    },
    runs * 20_000,
  );
});
