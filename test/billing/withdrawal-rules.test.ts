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
    const at = (ms: number, announcedDays: number) =>
      findAnnouncedWithdrawal([toOrder({})], { rules: prorated, announcedDays }, orderedAt + ms);
    const minuteMs = 60_000;
    expect(at(3 * dayMs + 29 * minuteMs, 2)).toMatchObject({ refundCents: 9_240, days: { used: 2 } });
    expect(at(3 * dayMs + 31 * minuteMs, 2)).toBe('changed');
    expect(at(dayMs + 10 * minuteMs, 0)).toMatchObject({ refundCents: 9_900 });
    for (const forged of [-1, 0, 1, 4, 30]) expect(at(3.5 * dayMs, forged)).toBe('changed');
    expect(at(14 * dayMs, 13)).toBeUndefined();
  });
});
