import type { Transaction } from 'kysely';
import type { StripeInvoiceId, UserId } from '../../shared/index.ts';
import { type Db, type Row, type Schema, uuidv7 } from '../../store/index.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import type { Order } from './order.ts';

const toOrder = ({ createdAt: _, ...row }: Row<'orders'>): Order => ({
  ...row,
  card: parseColumn(storedValues.orderCard, row.card),
});

/** Writes the order of an invoice, unless it exists. @returns the order if this call has written it */
export async function insertOrder(
  trx: Transaction<Schema>,
  order: Omit<Order, 'id'>,
  nowMs: number,
): Promise<Order | undefined> {
  const row = await trx
    .insertInto('orders')
    .values({ ...order, id: uuidv7(nowMs), card: order.card && JSON.stringify(order.card), createdAt: nowMs })
    .onConflict((conflict) => conflict.column('invoiceId').doNothing())
    .returningAll()
    .executeTakeFirst();
  return row && toOrder(row);
}

export async function findOrderByInvoice(db: Db, invoiceId: StripeInvoiceId): Promise<Order | undefined> {
  const row = await db.selectFrom('orders').selectAll().where('invoiceId', '=', invoiceId).executeTakeFirst();
  return row && toOrder(row);
}

/** The newest first. */
export async function listOrders(db: Db, userId: UserId): Promise<Order[]> {
  const rows = await db
    .selectFrom('orders')
    .selectAll()
    .where('userId', '=', userId)
    .orderBy('orderedAt', 'desc')
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
      .set({ refundedCents: refunded, disputedAt: disputed })
      .where('invoiceId', '=', invoiceId)
      // A parallel call may have recorded it since it was read.
      .where('refundedCents', '=', known.refundedCents)
      .where('disputedAt', known.disputedAt === null ? 'is' : '=', known.disputedAt)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) {
      return { refundedCents: refunded - known.refundedCents, disputed: disputed !== known.disputedAt };
    }
  }
}

/** Accounting keeps the payments, without the user. */
export async function anonymiseOrders(trx: Transaction<Schema>, userId: UserId): Promise<void> {
  await trx.updateTable('orders').set({ userId: null, card: null }).where('userId', '=', userId).execute();
}
