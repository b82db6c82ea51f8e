import { thorough } from '../support/thorough.ts';
import { cards } from './acts.ts';
import { changeMutations } from './change-mutations.ts';
import type { Rule } from './findings.ts';
import {
  act,
  afterPeriod,
  base,
  buy,
  type Call,
  dayMs,
  isChange,
  keeps,
  losses,
  type Mutation,
  spoil,
  without,
} from './mutation-tools.ts';
import type { Operation } from './operations.ts';
import { runScript } from './run.ts';
import { openShop, type Shop } from './shop.ts';
import { trialMutations } from './trial-mutations.ts';
import type { World } from './world.ts';

/**
 * The proof of the oracle: a product that is wrong in one way must be reported. The faults are in the database, between the
 * product and Stripe, or at Stripe, so that they do not depend on the product's code.
 */

const leaveLater: Operation = { ...base, kind: 'leave', when: 'period-end' };
const passDays = (days: number): Operation => ({ ...base, kind: 'time', ms: days * dayMs });
/** The product is killed when Stripe has made the customer, and nothing follows. */
const lostCustomer: Operation = {
  ...base,
  kind: 'card',
  card: cards.good,
  fails: false,
  fault: { kind: 'kill after', n: 1 },
};
const pause: Operation = { ...base, kind: 'pause', months: 2 };
const refund: Operation = { ...base, kind: 'refund', share: 0.5 };

/** A pause that ends a day after the announced one. */
function pausedLonger(request: Call): Call {
  const [entry] = (request.params?.pause_schedules ?? []) as {
    resume?: { resume_at?: { timestamp?: number | string } };
  }[];
  const at = entry?.resume?.resume_at;
  if (at?.timestamp === undefined) return request;
  const longer = {
    ...entry,
    resume: { ...entry?.resume, resume_at: { ...at, timestamp: Number(at.timestamp) + 86_400 } },
  };
  return { ...request, params: { ...request.params, pause_schedules: [longer] } };
}

const mutations: Mutation[] = [
  {
    title: 'An order that is left out because nothing was paid for it',
    rule: 'O1',
    operations: [buy('10', 'ALLOFIT')],
    fault: {
      inDatabase:
        'CREATE TRIGGER unpaid BEFORE INSERT ON orders WHEN NEW.paid_cents = 0 BEGIN SELECT RAISE(IGNORE); END',
    },
  },
  {
    title: 'An order that is written twice',
    rule: 'O1',
    operations: [buy('10')],
    fault: {
      inDatabase: `CREATE TRIGGER twice AFTER INSERT ON orders WHEN NEW.invoice_id NOT LIKE '%_again' BEGIN
      INSERT INTO orders (id, user_id, invoice_id, customer_id, plan_id, order_purchase, order_type, currency, paid_cents,
        used_credit_cents, discount_cents, recurring_discount_cents, refunded_cents, ordered_at, created_at)
      SELECT id || 'x', user_id, invoice_id || '_again', customer_id, plan_id, order_purchase, order_type, currency,
        paid_cents, used_credit_cents, discount_cents, recurring_discount_cents, 0, ordered_at, created_at
      FROM orders WHERE id = NEW.id; END`,
    },
  },
  ...losses('10', 'O2', 'a plan'),
  {
    title: 'A discount that the order does not show',
    rule: 'O10',
    operations: [buy('10', 'HALF')],
    fault: {
      inDatabase: `CREATE TRIGGER forgotten AFTER INSERT ON orders BEGIN
      UPDATE orders SET discount_cents = 0, voucher = NULL WHERE id = NEW.id; END`,
    },
  },
  {
    title: 'A code that a declined card uses up',
    rule: 'O10',
    says: /is used up/,
    operations: [
      { ...base, kind: 'buy', planId: '10', code: 'ONCEONLY', card: cards.chargeDeclined, way: 'page' },
      { ...base, kind: 'time', ms: 2 * 60 * 60_000 },
      buy('14', 'ONCEONLY'),
    ],
    fault: { before: 'discounts' },
  },
  {
    title: 'A schedule that is released before a cancellation that never comes',
    rule: 'O4',
    operations: [buy('15'), buy('10'), act('cancel')],
    fault: {
      onTheWay: (request) =>
        request.params?.end_behavior === 'cancel'
          ? { ...request, path: `${request.path}/release`, params: {} }
          : without('cancel_at_period_end')(request),
    },
  },
  {
    title: 'A refund that is not stored',
    rule: 'O8',
    operations: [buy('10'), refund],
    fault: {
      inDatabase: `CREATE TRIGGER refunds AFTER UPDATE ON orders WHEN NEW.refunded_cents > 0 BEGIN
      UPDATE orders SET refunded_cents = 0 WHERE id = NEW.id; END`,
    },
  },
  {
    title: 'A withdrawal that gives back less than it has named',
    rule: 'O2',
    operations: [buy('10'), act('withdraw')],
    fault: {
      onTheWay: (request) =>
        request.method === 'POST' && request.path === '/v1/credit_notes'
          ? { ...request, params: { ...request.params, amount: '5000', refund_amount: '5000' } }
          : request,
    },
  },
  {
    title: 'A withdrawal after an upgrade that gives one of the two payments back',
    rule: 'O2',
    operations: [buy('10'), buy('12'), act('withdraw')],
    fault: {
      onTheWay: (request) =>
        request.path === '/v1/credit_notes' && Number(request.params?.refund_amount) > 9_900
          ? { ...request, params: { ...request.params, amount: '100', refund_amount: '100' } }
          : request,
    },
  },
  {
    title: 'A customer that is not deleted with an erased member',
    rule: 'O5',
    operations: [buy('10'), leaveLater, passDays(15)],
    fault: { onTheWay: (request) => (request.method === 'DELETE' ? { ...request, method: 'GET' } : request) },
  },
  {
    title: 'A plan that stays although nothing is paid for it',
    rule: 'O6',
    operations: [buy('10'), act('cancel'), afterPeriod(2 * dayMs)],
    fault: keeps('10'),
  },
  {
    title: 'A number of seats that does not reach Stripe',
    rule: 'O2',
    operations: [buy('12', undefined, 3)],
    fault: {
      onTheWay: (request) => {
        const items = request.params?.items as { quantity?: unknown }[] | undefined;
        const without = items?.map(({ quantity: _, ...item }) => item);
        return isChange(request) && without ? { ...request, params: { ...request.params, items: without } } : request;
      },
    },
  },
  {
    title: 'A claim with another number of seats',
    rule: 'O6',
    operations: [buy('12', undefined, 3)],
    fault: {
      inDatabase: `CREATE TRIGGER seats AFTER UPDATE ON users WHEN NEW.seats = 3 BEGIN
      UPDATE users SET seats = 4 WHERE id = NEW.id; END`,
    },
  },
  {
    title: 'A pause that lasts a day longer than the page has said',
    rule: 'O3',
    operations: [buy('10'), pause],
    fault: { onTheWay: pausedLonger },
  },
  {
    title: 'A plan that stays in a pause',
    rule: 'O6',
    operations: [buy('10'), pause, afterPeriod(2 * dayMs)],
    fault: keeps('10'),
  },
  {
    title: 'A receipt that names another amount for the next charge',
    rule: 'O4',
    says: /on the receipt/,
    operations: [buy('10')],
    fault: {
      inDatabase: `CREATE TRIGGER dearer AFTER UPDATE ON memberships WHEN NEW.next_charge IS NOT NULL BEGIN
      UPDATE memberships SET next_charge = json_set(NEW.next_charge, '$.amountCents', 5) WHERE user_id = NEW.user_id; END`,
    },
  },
  {
    title: 'A receipt that names another amount for the last payment',
    rule: 'O1',
    says: /the receipt of/,
    operations: [buy('10')],
    fault: {
      inDatabase: `CREATE TRIGGER cheaper AFTER INSERT ON orders BEGIN
      UPDATE orders SET paid_cents = 5 WHERE id = NEW.id; END`,
    },
  },
  {
    title: 'A customer that no repair adopts after a kill',
    rule: 'O13',
    operations: [lostCustomer],
    fault: {
      inDatabase: `CREATE TRIGGER lost BEFORE UPDATE ON memberships WHEN NEW.customer_id IS NOT NULL BEGIN
      SELECT RAISE(IGNORE); END`,
    },
  },
];

describe('a product that is wrong in one way', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
  }, 60_000);
  afterAll(() => shop?.close());

  type Case = Pick<Mutation, 'operations' | 'fault' | 'says'>;
  const judge = async (_title: string, rule: Rule, { operations, fault, says = /./ }: Case) => {
    const right = await runScript(shop, { operations });
    const { call } = shop.stripe.engine;
    const change = (world: World) => spoil(world, fault);
    const wrong = await runScript(shop, { operations, change }).finally(() => {
      shop.stripe.engine.call = call;
    });
    expect(right.findings).toEqual([]);
    const told = wrong.findings.filter(({ detail }) => says.test(detail));
    expect(told.map((finding) => finding.rule)).toContain(rule);
  };
  const [first, ...others] = [...mutations, ...changeMutations, ...trialMutations].map(
    ({ title, rule, ...rest }) => [title, rule, rest] as const,
  );

  it.each(first === undefined ? [] : [first])('%s breaks %s', judge, 120_000);
  thorough.each(others)('%s breaks %s', judge, 120_000);
});
