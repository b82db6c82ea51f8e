import fc from 'fast-check';
import type Stripe from 'stripe';
import { type AmountLine, toAmountLines } from '../../server/billing/stripe/stripe-invoices.ts';
import { day, engineKit, visa } from '../sandbox/stripe-engine-kit.ts';

const smallestCharge = 50;
const productOf = ({ pricing }: Stripe.InvoiceLineItem) => pricing?.price_details?.product ?? '';
const part = (cents: number, percent: number) => Math.round((cents * percent) / 100);
const sum = (lines: readonly AmountLine[]) => lines.reduce((total, { cents }) => total + cents, 0);
const cents = fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 1_000_000 }));
const percent = fc.constantFrom(0, 0.05, 12.5, 20, 33.33, 50, 99.99, 100);

/** The invoice of an upgrade with a code, as the stand-in makes it: the credit for unused time, then the rest. */
function upgradeInvoice(): Stripe.Invoice {
  const kit = engineKit({ checks: false });
  const { id } = kit.post<Stripe.Coupon>('/v1/coupons', { percent_off: 20, duration: 'once' });
  const subscription = kit.subscribe(kit.customer(visa), kit.price(9_900), {
    billing_mode: { type: 'flexible', flexible: { proration_discounts: 'itemized' } },
  });
  kit.engine.advance(3 * day);
  kit.post(`/v1/subscriptions/${subscription.id}`, { discounts: [{ coupon: id }] });
  const change = { ...kit.to(subscription, kit.price(49_900)), proration_behavior: 'always_invoice' };
  return kit.invoice(kit.post<Stripe.Subscription>(`/v1/subscriptions/${subscription.id}`, change));
}

const toTax = (amount: number, tax_behavior: 'exclusive' | 'inclusive'): Stripe.Invoice.TotalTax => ({
  amount,
  tax_behavior,
  tax_rate_details: null,
  taxability_reason: 'standard_rated',
  taxable_amount: null,
  type: 'tax_rate_details',
});

describe('the lines of an announced amount', () => {
  const base = upgradeInvoice();
  const [credit, sale] = base.lines.data;
  if (!credit || !sale) throw new Error('the invoice of an upgrade has two lines');
  const productId = productOf(sale);

  const invoices = fc
    .record({
      price: cents,
      discount: percent,
      unused: cents,
      unusedDiscount: percent,
      taxPercent: fc.constantFrom(0, 7, 19),
      behaviour: fc.constantFrom('exclusive' as const, 'inclusive' as const),
      balance: fc.oneof(fc.constant(0), fc.integer({ min: -600_000, max: 49 }), fc.integer({ min: 0, max: 60_000 })),
      itemizes: fc.boolean(),
    })
    .map(({ price, discount, unused, unusedDiscount, taxPercent, behaviour, balance, itemizes }): Stripe.Invoice => {
      const [off, unusedOff] = [part(price, discount), part(unused, unusedDiscount)];
      const line = (of: Stripe.InvoiceLineItem, gross: number, cut: number): Stripe.InvoiceLineItem => ({
        ...of,
        amount: itemizes ? gross : gross - cut,
        discount_amounts: [{ discount: 'di_1', amount: itemizes ? cut : 0 }],
      });
      const net = price - off - (unused - unusedOff);
      const tax = part(net, taxPercent);
      const total = net + (behaviour === 'exclusive' ? tax : 0);
      const owed = total + balance;
      return {
        ...base,
        lines: { ...base.lines, data: [line(credit, 0 - unused, 0 - unusedOff), line(sale, price, off)] },
        total_taxes: [toTax(tax, behaviour)],
        starting_balance: balance,
        ending_balance: null,
        total,
        amount_due: owed >= smallestCharge ? owed : 0,
      };
    });

  it('The lines add up to the amount due, whatever prices, codes, balances and taxes there are', () => {
    fc.assert(
      fc.property(invoices, (invoice) => {
        const lines = toAmountLines(invoice, productId);
        expect(lines).toBeDefined();
        expect(sum(lines ?? [])).toBe(invoice.amount_due);
      }),
      { numRuns: 2_000 },
    );
  });

  it('Each line has the sign of its label, and labels of the balance say where it goes', () => {
    const takenOff = ['promo', 'unused', 'credit', 'small'];
    fc.assert(
      fc.property(invoices, (invoice) => {
        const lines = toAmountLines(invoice, productId) ?? [];
        for (const { kind, cents: amount } of lines) {
          if (takenOff.includes(kind)) expect(amount).toBeLessThan(0);
          else if (kind !== 'tax') expect(amount).toBeGreaterThanOrEqual(0);
        }
        const kinds = lines.map(({ kind }) => kind);
        expect(new Set(kinds).size).toBe(kinds.length);
        const left = invoice.starting_balance + invoice.total - invoice.amount_due;
        expect(kinds.includes('owed')).toBe(invoice.starting_balance > 0);
        expect(kinds.includes('small')).toBe(left > 0);
        expect(kinds.includes('kept')).toBe(left < Math.min(0, invoice.starting_balance));
        expect(kinds.includes('credit')).toBe(Math.min(0, left) > Math.min(0, invoice.starting_balance));
      }),
      { numRuns: 2_000 },
    );
  });

  it('There are no lines for an invoice whose amounts do not agree, and none of another plan are called this one', () => {
    expect(toAmountLines({ ...base, total: base.total + 1 }, productId)).toBeUndefined();
    const [other] = toAmountLines(base, productOf(credit)) ?? [];
    expect(other).toMatchObject({ kind: 'other', cents: sale.amount, text: sale.description });
  });
});
