import type Stripe from 'stripe';
import type { User } from '../account/index.ts';
import type { MembershipDeps } from './deps.ts';
import { findMembership } from './membership-store.ts';
import { ordersOf } from './order-store.ts';
import type { InvoiceShown } from './results.ts';
import { asking } from './stripe.ts';
import { ms, soldLines } from './stripe-objects.ts';

const most = 100;
const shown = ['open', 'paid', 'void', 'uncollectible'] as const;

/** The member's own invoices, but for those of nothing: trials, and plans that are free. @throws {BillingUnavailable} */
export async function invoicesOf(deps: MembershipDeps, user: User): Promise<InvoiceShown[]> {
  const membership = await findMembership(deps.database.db, user.id);
  const customer = membership?.customerId;
  if (!customer) return [];
  const [{ data }, orders] = await Promise.all([
    asking(deps.stripe, (stripe) => stripe.invoices.list({ customer, limit: most })),
    ordersOf(deps.database.db, user.id),
  ]);
  const refunded = new Map(orders.map(({ invoiceId, refundedCents }) => [invoiceId, refundedCents]));
  const planOf = async (invoice: Stripe.Invoice) => {
    const line = soldLines(invoice).sort((one, other) => other.periodEnd - one.periodEnd)[0];
    return line ? deps.prices.planOfProduct(line.productId) : null;
  };
  const invoices = data.filter(({ lines }) => lines.data.some(({ amount }) => amount !== 0));
  const planIds = await Promise.all(invoices.map(planOf));
  return invoices.flatMap((invoice, at) => {
    const status = shown.find((one) => one === invoice.status);
    if (status === undefined) return [];
    return {
      id: invoice.id,
      number: invoice.number,
      planId: planIds[at] ?? null,
      status,
      createdAt: ms(invoice.created),
      totalCents: invoice.total,
      paidCents: invoice.amount_paid,
      refundedCents: refunded.get(invoice.id) ?? 0,
      url: invoice.hosted_invoice_url ?? null,
      pdfUrl: invoice.invoice_pdf ?? null,
    };
  });
}
