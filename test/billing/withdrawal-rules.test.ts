import fc from 'fast-check';
import type { Order } from '../../server/billing/index.ts';
import { findAnnouncedWithdrawal, findWithdrawal } from '../../server/billing/subscription/withdrawal-rules.ts';

const dayMs = 24 * 60 * 60_000;
const orderedAt = Date.UTC(2026, 10, 28, 14, 2);
const prorated = { withdrawalDays: 14, withdrawalRefund: 'prorated' } as const;

const toOrder = (values: object): Order =>
  ({
    orderType: 'upgrade',
    subscriptionId: 'sub_1',
    paidCents: 9_900,
    usedCreditCents: 0,
    refundedCents: 0,
    creditNotes: [] as Order['creditNotes'],
    disputeState: null,
    beginRequestedAt: orderedAt,
    renewsAt: orderedAt + 30 * dayMs,
    orderedAt,
    ...values,
  }) as Order;

const cents = fc.integer({ min: 0, max: 99_999_999 });
/** A paid period of a month, or of a year. */
const paid = fc.record({
  paidCents: cents,
  usedCreditCents: cents,
  renewsAt: fc.integer({ min: 28, max: 366 }).map((days) => orderedAt + days * dayMs),
});
const sinceMs = fc.integer({ min: 0, max: 14 * dayMs - 1 });

describe('the share of the days until a withdrawal', () => {
  it('Refund, credit and share add up to the payment, and none is more than what it comes from', () => {
    fc.assert(
      fc.property(paid, sinceMs, (values, ms) => {
        const total = values.paidCents + values.usedCreditCents;
        const found = findWithdrawal([toOrder(values)], prorated, orderedAt + ms);
        if (!found) return expect(total).toBe(0);
        const { refundCents, creditCents, days } = found;
        expect(refundCents + creditCents + (days?.cents ?? 0)).toBe(total);
        expect(refundCents).toBeLessThanOrEqual(values.paidCents);
        expect(creditCents).toBeLessThanOrEqual(values.usedCreditCents);
        expect(Math.min(refundCents, creditCents, days?.cents ?? 0)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('The member never pays more than the exact time would cost, and at most a day less', () => {
    fc.assert(
      fc.property(paid, sinceMs, (values, ms) => {
        const total = values.paidCents + values.usedCreditCents;
        const lengthMs = values.renewsAt - orderedAt;
        const kept = findWithdrawal([toOrder(values)], prorated, orderedAt + ms)?.days?.cents ?? 0;
        expect(kept).toBeLessThanOrEqual((total * ms) / lengthMs);
        expect(kept).toBeGreaterThanOrEqual((total * (ms - dayMs)) / lengthMs - 1);
      }),
    );
  });

  it('A later withdrawal never gives more back', () => {
    fc.assert(
      fc.property(paid, sinceMs, sinceMs, (values, one, other) => {
        const back = (ms: number) => {
          const found = findWithdrawal([toOrder(values)], prorated, orderedAt + ms);
          return (found?.refundCents ?? 0) + (found?.creditCents ?? 0);
        };
        expect(back(Math.max(one, other))).toBeLessThanOrEqual(back(Math.min(one, other)));
      }),
    );
  });

  it('Without the request of the member, and with `full`, everything is given back', () => {
    fc.assert(
      fc.property(paid, sinceMs, (values, ms) => {
        const unasked = findWithdrawal([toOrder({ ...values, beginRequestedAt: null })], prorated, orderedAt + ms);
        const full = { ...prorated, withdrawalRefund: 'full' } as const;
        const whole = findWithdrawal([toOrder(values)], full, orderedAt + ms);
        for (const found of [unasked, whole]) {
          expect([found?.refundCents ?? 0, found?.creditCents ?? 0]).toEqual([
            values.paidCents,
            values.usedCreditCents,
          ]);
          expect(found?.days).toBeUndefined();
        }
      }),
    );
  });

  it('A calendar month of 31 days counts 31, also where the clocks change', () => {
    const order = toOrder({ paidCents: 31_00, renewsAt: orderedAt + 31 * dayMs - 3_600_000 });
    expect(findWithdrawal([order], prorated, orderedAt + 13.5 * dayMs)?.days).toMatchObject({
      used: 13,
      total: 31,
      cents: 13_00,
    });
  });

  it('An announced day holds for half an hour after the next one has begun, and no longer', () => {
    const at = (ms: number, days: number, payments = 1) =>
      findAnnouncedWithdrawal([toOrder({})], { rules: prorated, announced: { days, payments } }, orderedAt + ms);
    const minuteMs = 60_000;
    expect(at(3 * dayMs + 29 * minuteMs, 2)).toMatchObject({ refundCents: 9_240, days: { used: 2 } });
    expect(at(3 * dayMs + 31 * minuteMs, 2)).toBe('changed');
    expect(at(dayMs + 10 * minuteMs, 0)).toMatchObject({ refundCents: 9_900 });
    for (const forged of [-1, 0, 1, 4, 30]) expect(at(3.5 * dayMs, forged)).toBe('changed');
    expect(at(14 * dayMs, 13)).toBeUndefined();
    // The form is of the page before or after an upgrade.
    for (const payments of [-1, 0, 2, 3]) expect(at(3.5 * dayMs, 3, payments)).toBe('changed');
  });
});

describe('a withdrawal from a purchase and the upgrades within its paid time', () => {
  const hourMs = 60 * 60_000;
  /** A purchase, and upgrades some hours after it, the newest first. */
  const contract = fc
    .record({
      first: paid,
      later: fc.array(fc.record({ of: paid, afterMs: fc.integer({ min: 1, max: 13 * 24 }) }), { maxLength: 3 }),
    })
    .map(({ first, later }) => {
      const times = later.map(({ afterMs }) => afterMs * hourMs).sort((one, other) => one - other);
      const upgrades = later.map(({ of }, at) => {
        const ms = times[at] ?? 0;
        return {
          ...of,
          paidCents: of.paidCents + 1,
          orderedAt: orderedAt + ms,
          renewsAt: of.renewsAt + ms,
          beginRequestedAt: null,
        };
      });
      return [first, ...upgrades].map((values) => toOrder(values)).toReversed();
    });
  const price = (order: Order) => order.paidCents + order.usedCreditCents;
  const sum = (amounts: readonly number[]) => amounts.reduce((total, one) => total + one, 0);

  it('All that was paid is given back or kept, and no payment gives back more than it was', () => {
    fc.assert(
      fc.property(contract, sinceMs, (orders, ms) => {
        const found = findWithdrawal(orders, prorated, orderedAt + ms);
        if (!found) return;
        const { parts, days, refundCents, creditCents } = found;
        expect(parts.map(({ order }) => order)).toEqual(orders);
        expect(refundCents + creditCents + (days?.cents ?? 0)).toBe(sum(orders.map(price)));
        for (const { order, refundCents: card, balanceCents } of parts) {
          expect(Math.min(card, balanceCents)).toBeGreaterThanOrEqual(0);
          expect(card).toBeLessThanOrEqual(order.paidCents);
          expect(balanceCents).toBeLessThanOrEqual(order.usedCreditCents);
        }
        expect([refundCents, creditCents]).toEqual([
          sum(parts.map((part) => part.refundCents)),
          sum(parts.map((part) => part.balanceCents)),
        ]);
      }),
    );
  });

  it('An upgrade, however late or often, makes no day of the time before it free', () => {
    // Thirty days of 30.00, the first five of them used; then 60.00 a month, five days of them used.
    const first = toOrder({ paidCents: 30_00 });
    const second = toOrder({ paidCents: 35_00, orderedAt: orderedAt + 5 * dayMs, renewsAt: orderedAt + 35 * dayMs });
    expect(findWithdrawal([second, first], prorated, orderedAt + 10.5 * dayMs)).toMatchObject({
      days: { used: 10, total: 35, cents: 5_00 + 10_00 },
      refundCents: 50_00,
    });
    // One more seat every twenty hours of ten days: these cost what the ten days of the first have cost, and the seats'.
    const seats = Array.from({ length: 11 }, (_, at) =>
      toOrder({ paidCents: 60, orderedAt: orderedAt + (11 - at) * 20 * hourMs }),
    );
    const kept = findWithdrawal([...seats, first], prorated, orderedAt + 10 * dayMs)?.days;
    expect(kept?.used).toBe(10);
    expect(kept?.cents).toBeGreaterThan(10_00);
  });

  it.each<[string, object[]]>([
    ['a renewal', [{ orderType: 'renewal', orderedAt: orderedAt + dayMs }]],
    ['a payment that went back in part', [{ orderedAt: orderedAt + dayMs }, { refundedCents: 1 }]],
    ['an upgrade that has left credit', [{ paidCents: 0, orderedAt: orderedAt + dayMs }]],
    ['a lost dispute', [{ orderedAt: orderedAt + dayMs, disputeState: 'lost' }]],
  ])('After %s there is none', (_what, [newest, first = {}]) => {
    const orders = [toOrder(newest ?? {}), toOrder(first)];
    expect(findWithdrawal(orders, prorated, orderedAt + 2 * dayMs)).toBeUndefined();
  });

  it('The days are those of the purchase, not of the upgrade', () => {
    const orders = [toOrder({ orderedAt: orderedAt + 10 * dayMs }), toOrder({})];
    expect(findWithdrawal(orders, prorated, orderedAt + 14 * dayMs - 1)?.until).toBe(orderedAt + 14 * dayMs);
    expect(findWithdrawal(orders, prorated, orderedAt + 14 * dayMs)).toBeUndefined();
    // Another subscription is another contract.
    const other = [toOrder({ orderedAt: orderedAt + 10 * dayMs, subscriptionId: 'sub_2' }), toOrder({})];
    expect(findWithdrawal(other, prorated, orderedAt + 15 * dayMs)?.until).toBe(orderedAt + 24 * dayMs);
  });
});
