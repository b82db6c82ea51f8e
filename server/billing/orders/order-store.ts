import { sql, type Transaction } from 'kysely';
import type Stripe from 'stripe';
import { type StripeCustomerId, type StripeInvoiceId, toStripeInvoiceId, type UserId } from '../../shared/index.ts';
import { type Db, type Row, type Schema, uuidv7 } from '../../store/index.ts';
import { type Catalogue, validityDays } from '../catalogue/catalogue.ts';
import type { Prices } from '../catalogue/prices.ts';
import type { StoredPurchase } from '../purchase/purchase-store.ts';
import { byCode, type StripeSnapshot } from '../stripe/read-stripe-snapshot.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import {
  addedDebtCents,
  allTaxCents,
  hasSoldLines,
  isDiscounted,
  soldDiscountCents,
  soldLines,
  toSubscriptionId,
  usedCreditCents,
} from '../stripe/stripe-invoices.ts';
import { toAppliedDiscount, toId, toMs, toStoredSeats } from '../stripe/stripe-objects.ts';
import type { Snapshot } from '../subscription/membership-store.ts';
import type { MoneyBack } from './money-back.ts';
import type { CreditNote, Order } from './order.ts';

/** Tests whether an invoice needs an order: it sold something and is paid, possibly with a credit or a code alone. */
export const isOrdered = (invoice: Stripe.Invoice): boolean => invoice.status === 'paid' && hasSoldLines(invoice);

/**
 * Tests for a period of the contract that runs already. Stripe calls the end of a pause an update: then the payment before
 * was of the same plan, and its time was over.
 */
function isRenewal({ invoices }: Pick<StripeSnapshot, 'invoices'>, invoice: Stripe.Invoice): boolean {
  if (invoice.billing_reason !== 'subscription_update') return invoice.billing_reason === 'subscription_cycle';
  const subscriptionId = toSubscriptionId(invoice);
  const earlier = invoices
    .slice(invoices.indexOf(invoice) + 1)
    .find((one) => isOrdered(one) && toSubscriptionId(one) === subscriptionId);
  const [[line], [before]] = [soldLines(invoice), earlier ? soldLines(earlier) : []];
  return line !== undefined && before?.productId === line.productId && before.periodEnd <= toMs(invoice.created);
}

/** The payment that has paid an invoice; null: nothing was charged. @param invoice with its payments expanded */
export function paidIntentId({ payments }: Stripe.Invoice): string | null {
  const intent = payments?.data.find(({ status }) => status === 'paid')?.payment.payment_intent;
  return intent === undefined ? null : toId(intent);
}

/** The card of an invoice; null if no card was charged, as for a payment outside of Stripe. */
const chargedCard = (invoice: Stripe.Invoice, card: Snapshot['card']): Order['card'] =>
  card && invoice.amount_paid > (invoice.amount_paid_off_stripe ?? 0)
    ? { brand: card.brand, lastFour: card.lastFour }
    : null;

/** The order of a paid invoice. All its data come from Stripe, none from a page. */
export async function toOrder(
  { prices, catalogue, facts }: { prices: Prices; catalogue: Catalogue; facts: StripeSnapshot },
  invoice: Stripe.Invoice,
  {
    userId,
    customerId,
    card,
    nextCharge,
  }: { userId: UserId; customerId: StripeCustomerId } & Pick<Snapshot, 'card' | 'nextCharge'>,
): Promise<Omit<Order, 'id'>> {
  const [line] = soldLines(invoice);
  const plan = catalogue.byId(line && (await prices.planOfProduct(line.productId)));
  const discountCents = soldDiscountCents(invoice);
  const input = invoice.discounts.find((one) => typeof one === 'string' || !('deleted' in one));
  const discount = byCode(facts, toAppliedDiscount(input as string | Stripe.Discount | undefined));
  const isLatest = facts.subscriptions.some(({ latest_invoice: latest }) => latest && toId(latest) === invoice.id);
  return {
    userId,
    customerId,
    invoiceId: toStripeInvoiceId(invoice.id),
    invoiceNumber: invoice.number,
    invoiceUrl: invoice.hosted_invoice_url ?? null,
    subscriptionId: toSubscriptionId(invoice),
    planId: plan?.id ?? null,
    orderPurchase: 'plan',
    orderType: isRenewal(facts, invoice) ? 'renewal' : 'upgrade',
    currency: invoice.currency,
    paidCents: invoice.amount_paid,
    planAmountCents: line?.amountCents ?? null,
    seats: toStoredSeats(line?.seats),
    usedCreditCents: usedCreditCents(invoice),
    debtCents: addedDebtCents(invoice),
    discountCents,
    taxCents: allTaxCents(invoice),
    // Only the newest order has later charges.
    recurringDiscountCents: isLatest ? (nextCharge?.discountCents ?? 0) : 0,
    voucher: isDiscounted(invoice) ? (discount?.code ?? null) : null,
    refundedCents: 0,
    disputedAt: null,
    disputeState: null,
    creditNotes: [],
    paymentIntentId: paidIntentId(invoice),
    beginRequestedAt: null,
    beginWording: null,
    card: chargedCard(invoice, card),
    validityDays: plan?.type ? validityDays[plan.type] : null,
    renewsAt: line?.periodEnd ?? null,
    orderedAt: toMs(invoice.status_transitions.paid_at ?? invoice.created),
  };
}

/** An order of the purchase that is being charged, with the request of its user that the plan begins at once. */
export function withRequestToBegin<T extends Omit<Order, 'id'>>(
  order: T,
  purchase: Pick<StoredPurchase, 'state' | 'planId' | 'charge'> | undefined,
): T {
  const { requestToBegin, subscriptionId } = purchase?.charge ?? {};
  const isOfPurchase =
    purchase?.state === 'charging' &&
    order.orderType === 'upgrade' &&
    order.subscriptionId === subscriptionId &&
    order.planId === purchase.planId;
  if (!requestToBegin || !isOfPurchase) return order;
  return { ...order, beginRequestedAt: requestToBegin.at, beginWording: requestToBegin.wording };
}

const fromRow = ({ createdAt: _, ...row }: Row<'orders'>): Order => ({
  ...row,
  card: parseColumn(storedValues.orderCard, row.card),
  creditNotes: parseColumn(storedValues.creditNotes, row.creditNotes) ?? [],
});

const written = (notes: readonly CreditNote[]) => (notes.length === 0 ? null : JSON.stringify(notes));

/**
 * Writes the order of an invoice, unless it exists; one without its payment learns that.
 * @returns the order if this call has written it
 */
export async function insertOrder(
  trx: Transaction<Schema>,
  order: Omit<Order, 'id'>,
  nowMs: number,
): Promise<Order | undefined> {
  const id = uuidv7(nowMs);
  const { card, creditNotes, paymentIntentId } = order;
  const row = await trx
    .insertInto('orders')
    .values({
      ...order,
      id,
      card: card && JSON.stringify(card),
      creditNotes: written(creditNotes),
      createdAt: nowMs,
    })
    .onConflict((conflict) => {
      const known = conflict.column('invoiceId');
      return paymentIntentId === null
        ? known.doNothing()
        : known.doUpdateSet({ paymentIntentId }).where('orders.paymentIntentId', 'is', null);
    })
    .returningAll()
    .executeTakeFirst();
  return row?.id === id ? fromRow(row) : undefined;
}

export async function findOrderByInvoice(db: Db, invoiceId: StripeInvoiceId): Promise<Order | undefined> {
  const row = await db.selectFrom('orders').selectAll().where('invoiceId', '=', invoiceId).executeTakeFirst();
  return row && fromRow(row);
}

/** By the invoice's id at Stripe, or by the number on it. */
export async function findOrderByIdOrNumber(db: Db, invoice: string): Promise<Order | undefined> {
  const row = await db
    .selectFrom('orders')
    .selectAll()
    .where((eb) => eb.or([eb('invoiceId', '=', toStripeInvoiceId(invoice)), eb('invoiceNumber', '=', invoice)]))
    .executeTakeFirst();
  return row && fromRow(row);
}

const newestFirst = (db: Db, userId: UserId) =>
  db.selectFrom('orders').selectAll().where('userId', '=', userId).orderBy('orderedAt', 'desc').orderBy('id', 'desc');

/** The newest first. */
export async function listOrders(db: Db, userId: UserId): Promise<Order[]> {
  return (await newestFirst(db, userId).execute()).map(fromRow);
}

export async function findLatestOrder(db: Db, userId: UserId): Promise<Order | undefined> {
  const row = await newestFirst(db, userId).limit(1).executeTakeFirst();
  return row && fromRow(row);
}

export async function listOrdersByPayments(db: Db, paymentIntentIds: string[]): Promise<Order[]> {
  const rows = await db.selectFrom('orders').selectAll().where('paymentIntentId', 'in', paymentIntentIds).execute();
  return rows.map(fromRow);
}

export async function listOrdersByInvoices(db: Db, invoiceIds: StripeInvoiceId[]): Promise<Order[]> {
  const rows = await db.selectFrom('orders').selectAll().where('invoiceId', 'in', invoiceIds).execute();
  return rows.map(fromRow);
}

/** Orders with a refund, a dispute or a credit note. */
export async function listOrdersWithMoneyBack(db: Db): Promise<Order[]> {
  const rows = await db
    .selectFrom('orders')
    .selectAll()
    // Written out: a partial index is used only if the statement contains its condition.
    .where(sql<boolean>`refunded_cents > 0 or dispute_state is not null or credit_notes is not null`)
    .execute();
  return rows.map(fromRow);
}

/**
 * Records refund and dispute at an order that still has those that were read before Stripe was asked.
 * @returns false: a parallel call was faster
 */
export async function writeMoneyBack(
  trx: Transaction<Schema>,
  { order, back }: { order: Order; back: MoneyBack & { paymentIntentId: string } },
  nowMs: number,
): Promise<boolean> {
  const { refundedCents, disputeState, paymentIntentId } = back;
  const disputedAt = disputeState === null ? null : (order.disputedAt ?? nowMs);
  const { numUpdatedRows } = await trx
    .updateTable('orders')
    .set({ refundedCents, disputeState, disputedAt, paymentIntentId })
    .where('id', '=', order.id)
    .where('refundedCents', '=', order.refundedCents)
    .where('disputeState', order.disputeState === null ? 'is' : '=', order.disputeState)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function writeCreditNotes(
  db: Db,
  invoiceId: StripeInvoiceId,
  creditNotes: readonly CreditNote[],
): Promise<void> {
  await db
    .updateTable('orders')
    .set({ creditNotes: written(creditNotes) })
    .where('invoiceId', '=', invoiceId)
    .execute();
}

/** Accounting keeps the payments, without the user. */
export async function anonymiseOrders(trx: Transaction<Schema>, userId: UserId): Promise<void> {
  await trx.updateTable('orders').set({ userId: null, card: null }).where('userId', '=', userId).execute();
}

/** A bank has taken the payment back, or decides about it. */
export const takesMoney = (state: Order['disputeState']): boolean => state === 'open' || state === 'lost';

/** A payment that went back, also in part, or that a bank may take back: Stripe credits the time of all of it. */
export const isReturned = ({
  disputeState,
  refundedCents,
  creditNotes,
}: Pick<Order, 'disputeState' | 'refundedCents' | 'creditNotes'>): boolean =>
  takesMoney(disputeState) || refundedCents > 0 || creditNotes.length > 0;
