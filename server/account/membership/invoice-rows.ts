import type { InvoiceRow } from '../../../views/account/membership-view.ts';
import { capitalized, formatDate, formatPercent } from '../../../views/format.ts';
import {
  asSubscribed,
  type Catalogue,
  type InvoiceView,
  type Membership,
  type Order,
  planLine,
  type TextContext,
  withSeats,
} from '../../billing/index.ts';
import { toStripeInvoiceId } from '../../shared/index.ts';
import { amountIn } from './membership-view.ts';

// The rows of the card of invoices and orders.

/** The tax in an amount, with its rate. */
function taxNote(
  { t, lang, money }: NoteContext,
  taxCents: number,
  { taxPercent, isReverseCharge }: InvoiceView,
): string[] {
  if (isReverseCharge) return [capitalized(lang, t('checkout.lines.reverseCharge', { tax: t('checkout.lines.tax') }))];
  if (taxCents <= 0) return [];
  const amount = money(taxCents);
  if (taxPercent === undefined) return [t('membership.invoices.tax', { amount })];
  return [t('membership.invoices.taxAt', { amount, percent: formatPercent(lang, taxPercent) })];
}

interface NoteContext extends TextContext {
  money: (cents: number) => string;
}

/** The notes of an order beside its amount. */
function orderNotes(
  { t, lang, money }: NoteContext,
  order: Order | undefined,
  { invoice, refundedCents }: { invoice: InvoiceView; refundedCents: number },
): string[] {
  return [
    ...(order && order.discountCents > 0 ? [t('membership.invoices.off', { amount: money(order.discountCents) })] : []),
    // Credit for unused time can be more than the plan costs: then its tax is no part of what was paid.
    ...taxNote({ t, lang, money }, order?.taxCents ?? 0, invoice),
    ...(order && order.usedCreditCents > 0
      ? [t('membership.invoices.credit', { amount: money(order.usedCreditCents) })]
      : []),
    ...(refundedCents > 0 ? [t('membership.invoices.refunded', { amount: money(refundedCents) })] : []),
    // A dispute that the member has lost is settled.
    ...(order?.disputeState === 'open' ? [t('membership.invoices.disputed')] : []),
    ...(order?.disputeState === 'lost' ? [t('membership.invoices.disputeLost')] : []),
  ];
}

/** The invoice of a charge that has failed, as it is stored. */
function findUnpaid(
  { byId }: Pick<Catalogue, 'byId'>,
  { unpaid, unpaidSince, pricedPlanId, price, noted }: Membership,
): InvoiceView[] {
  // A canceled plan ends without this payment.
  if (!unpaid || unpaidSince === null || noted === 'cancel') return [];
  const plan = byId(pricedPlanId);
  return [
    {
      id: unpaid.invoiceId,
      number: null,
      planId: pricedPlanId,
      period: plan && price ? asSubscribed(plan, price).period : null,
      status: 'open',
      createdAt: unpaidSince,
      totalCents: unpaid.amountCents,
      paidCents: 0,
      refundedCents: 0,
      url: unpaid.url,
      pdfUrl: null,
    },
  ];
}

/** The state in words; a debit that the bank has refused stays open at Stripe until its purchase has ended. */
function toState(
  { id, status }: InvoiceView,
  {
    refundedCents,
    paidCents,
    membership,
  }: { refundedCents: number; paidCents: number; membership: Membership | undefined },
): InvoiceRow['state'] {
  const { pending } = membership ?? {};
  if (status === 'open' && pending?.failed && pending.invoiceId === id) return 'failed';
  if (status !== 'paid' || refundedCents <= 0) return status;
  return refundedCents >= paidCents ? 'refunded' : 'partlyRefunded';
}

interface InvoiceFacts {
  invoices: readonly InvoiceView[] | undefined;
  orders: readonly Order[];
  membership: Membership | undefined;
}

/**
 * Stripe's invoices with their stored orders; while Stripe is unavailable, the orders and the unpaid invoice alone. The
 * newest first.
 */
export function invoiceRows(
  ctx: TextContext,
  catalogue: Pick<Catalogue, 'byId' | 'currency'>,
  { invoices, orders, membership }: InvoiceFacts,
): InvoiceRow[] {
  const byInvoice = new Map(orders.map((order) => [order.invoiceId, order]));
  const known = new Set(invoices?.map(({ id }) => id));
  const stored = orders
    .filter(({ invoiceId }) => !known.has(invoiceId))
    .map(
      (order): InvoiceView => ({
        id: order.invoiceId,
        number: order.invoiceNumber,
        planId: order.planId,
        // An order does not name it, and the catalogue's may be another by now.
        period: null,
        status: 'paid',
        createdAt: order.orderedAt,
        totalCents: order.paidCents,
        paidCents: order.paidCents,
        refundedCents: order.refundedCents,
        url: order.invoiceUrl,
        pdfUrl: null,
      }),
    );
  const unpaid = membership ? findUnpaid(catalogue, membership).filter(({ id }) => !known.has(id)) : [];
  const isUnpaid = (id: string) => id === membership?.unpaid?.invoiceId;
  return [...(invoices ?? []), ...stored, ...unpaid]
    .toSorted((one, other) => other.createdAt - one.createdAt)
    .map((invoice): InvoiceRow => {
      const order = byInvoice.get(toStripeInvoiceId(invoice.id));
      const money = amountIn(ctx, order?.currency ?? catalogue.currency);
      const plan = catalogue.byId(order?.planId ?? invoice.planId);
      const refundedCents = Math.max(invoice.refundedCents, order?.refundedCents ?? 0);
      const isPaid = invoice.status === 'paid';
      const paidCents = isPaid ? invoice.paidCents : invoice.totalCents;
      return {
        id: invoice.id,
        at: order?.orderedAt ?? invoice.createdAt,
        number: invoice.number,
        plan: plan && planLine(ctx.t, { ...withSeats(plan, order?.seats ?? 1), period: invoice.period }),
        // A charge that has failed has no order yet: it is that of a period.
        kind: order?.orderType ?? (isUnpaid(invoice.id) ? 'renewal' : undefined),
        begins:
          order?.beginRequestedAt == null
            ? undefined
            : ctx.t('membership.invoices.beginsAtOnce', {
                date: formatDate(ctx.lang, order.beginRequestedAt, 'short'),
              }),
        amount: money(paidCents),
        state: toState(invoice, { refundedCents, paidCents, membership }),
        notes: orderNotes({ t: ctx.t, lang: ctx.lang, money }, order, { invoice, refundedCents }),
        creditNotes: (order?.creditNotes ?? []).map(({ number, amountCents, pdfUrl }) => ({
          number,
          pdfUrl,
          amount: money(amountCents),
        })),
        url: invoice.url,
        pdfUrl: invoice.pdfUrl,
      };
    });
}
