import type { Selectable, Transaction } from 'kysely';
import type { StripeInvoiceId, UserId } from '../../shared/index.ts';
import { type Db, type OrderTable, type Schema, uuidv7 } from '../../store/index.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import type { Order } from './order.ts';

function toOrder(row: Selectable<OrderTable>): Order {
  return {
    id: row.id,
    userId: row.user_id,
    invoiceId: row.invoice_id,
    invoiceNumber: row.invoice_number,
    invoiceUrl: row.invoice_url,
    customerId: row.customer_id,
    subscriptionId: row.subscription_id,
    planId: row.plan_id,
    orderPurchase: 'plan',
    orderType: row.order_type === 'renewal' ? 'renewal' : 'upgrade',
    currency: row.currency,
    paidCents: row.paid_cents,
    usedCreditCents: row.used_credit_cents,
    discountCents: row.discount_cents,
    recurringDiscountCents: row.recurring_discount_cents,
    voucher: row.voucher,
    refundedCents: row.refunded_cents,
    disputedAt: row.disputed_at,
    card: parseColumn(storedValues.orderCard, row.card),
    validityDays: row.validity_days,
    renewsAt: row.renews_at,
    orderedAt: row.ordered_at,
  };
}

/** Writes the order of an invoice, unless it exists. @returns the order if this call has written it */
export async function insertOrder(
  trx: Transaction<Schema>,
  order: Omit<Order, 'id'>,
  nowMs: number,
): Promise<Order | undefined> {
  const row: Selectable<OrderTable> = {
    id: uuidv7(nowMs),
    user_id: order.userId,
    invoice_id: order.invoiceId,
    invoice_number: order.invoiceNumber,
    invoice_url: order.invoiceUrl,
    customer_id: order.customerId,
    subscription_id: order.subscriptionId,
    plan_id: order.planId,
    order_purchase: order.orderPurchase,
    order_type: order.orderType,
    currency: order.currency,
    paid_cents: order.paidCents,
    used_credit_cents: order.usedCreditCents,
    discount_cents: order.discountCents,
    recurring_discount_cents: order.recurringDiscountCents,
    voucher: order.voucher,
    refunded_cents: order.refundedCents,
    disputed_at: order.disputedAt,
    card: order.card === null ? null : JSON.stringify(order.card),
    validity_days: order.validityDays,
    renews_at: order.renewsAt,
    ordered_at: order.orderedAt,
    created_at: nowMs,
  };
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('orders')
    .values(row)
    .onConflict((conflict) => conflict.column('invoice_id').doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n ? toOrder(row) : undefined;
}

export async function findOrderByInvoice(db: Db, invoiceId: StripeInvoiceId): Promise<Order | undefined> {
  const row = await db.selectFrom('orders').selectAll().where('invoice_id', '=', invoiceId).executeTakeFirst();
  return row && toOrder(row);
}

/** The newest first. */
export async function listOrders(db: Db, userId: UserId): Promise<Order[]> {
  const rows = await db
    .selectFrom('orders')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('ordered_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map(toOrder);
}

/**
 * Records a refund or dispute of an invoice.
 * @returns the change: each cent is reported to one caller only; undefined if nothing changed, or there is no order
 */
export async function recordRefund(
  trx: Transaction<Schema>,
  invoiceId: StripeInvoiceId,
  { refundedCents, disputedAt }: { refundedCents?: number; disputedAt?: number },
): Promise<{ refundedCents: number; disputed: boolean } | undefined> {
  for (;;) {
    const known = await findOrderByInvoice(trx, invoiceId);
    if (!known) return undefined;
    const refunded = Math.max(known.refundedCents, refundedCents ?? 0);
    const disputed = known.disputedAt ?? disputedAt ?? null;
    if (refunded === known.refundedCents && disputed === known.disputedAt) return undefined;
    const { numUpdatedRows } = await trx
      .updateTable('orders')
      .set({ refunded_cents: refunded, disputed_at: disputed })
      .where('invoice_id', '=', invoiceId)
      // A parallel call may have recorded it since it was read.
      .where('refunded_cents', '=', known.refundedCents)
      .where('disputed_at', known.disputedAt === null ? 'is' : '=', known.disputedAt)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) {
      return { refundedCents: refunded - known.refundedCents, disputed: disputed !== known.disputedAt };
    }
  }
}

/** Accounting keeps the payments, without the user. */
export async function anonymiseOrders(trx: Transaction<Schema>, userId: UserId): Promise<void> {
  await trx.updateTable('orders').set({ user_id: null, card: null }).where('user_id', '=', userId).execute();
}
