import type Stripe from 'stripe';
import { toStripeInvoiceId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import type { InvoiceView } from '../results.ts';
import { callStripe, readTaxPercent } from '../stripe/stripe-client.ts';
import { hasSoldLines, soldLines } from '../stripe/stripe-invoices.ts';
import { toMs } from '../stripe/stripe-objects.ts';
import { findMembership } from '../subscription/membership-store.ts';
import { listOrders } from './order-store.ts';

const max = 100;
const view = ['open', 'paid', 'void', 'uncollectible'] as const;

/** The user's own invoices, except those of zero: trials and free plans. @throws {StripeUnavailableError} */
export async function listInvoices(deps: BillingDeps, user: User): Promise<InvoiceView[]> {
  const membership = await findMembership(deps.database.db, user.id);
  const customer = membership?.customerId;
  if (!customer) return [];
  const [{ data }, orders] = await Promise.all([
    callStripe(deps.stripe, (stripe) => stripe.invoices.list({ customer, limit: max })),
    listOrders(deps.database.db, user.id),
  ]);
  const refunded = new Map(orders.map(({ invoiceId, refundedCents }) => [invoiceId, refundedCents]));
  const soldPlan = async (invoice: Stripe.Invoice): Promise<Pick<InvoiceView, 'planId' | 'period'>> => {
    const [line] = soldLines(invoice);
    if (!line) return { planId: null, period: null };
    const [planId, period] = await Promise.all([
      deps.prices.planOfProduct(line.productId),
      deps.prices.findPeriod(line.priceId),
    ]);
    return { planId, period };
  };
  const invoices = data.filter((one) => hasSoldLines(one) || one.lines.data.some(({ amount }) => amount !== 0));
  const [plans, percents] = await Promise.all([
    Promise.all(invoices.map(soldPlan)),
    Promise.all(invoices.map((invoice) => readTaxPercent(deps, invoice))),
  ]);
  return invoices.flatMap((invoice, at) => {
    const status = view.find((one) => one === invoice.status);
    if (status === undefined) return [];
    return {
      id: invoice.id,
      number: invoice.number,
      planId: plans[at]?.planId ?? null,
      period: plans[at]?.period ?? null,
      status,
      createdAt: toMs(invoice.created),
      totalCents: invoice.total,
      paidCents: invoice.amount_paid,
      refundedCents: refunded.get(toStripeInvoiceId(invoice.id)) ?? 0,
      taxPercent: percents[at],
      isReverseCharge: (invoice.total_taxes ?? []).some((tax) => tax.taxability_reason === 'reverse_charge'),
      url: invoice.hosted_invoice_url ?? null,
      pdfUrl: invoice.invoice_pdf ?? null,
    };
  });
}
