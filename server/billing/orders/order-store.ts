import type { Transaction } from 'kysely';
import { type StripeInvoiceId, toStripeInvoiceId, type UserId } from '../../shared/index.ts';
import { type Db, type Row, type Schema, uuidv7 } from '../../store/index.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import type { MoneyBack } from './money-back.ts';
import type { CreditNote, Order } from './order.ts';

const toOrder = ({ createdAt: _, ...row }: Row<'orders'>): Order => ({
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
  return row?.id === id ? toOrder(row) : undefined;
}

export async function findOrderByInvoice(db: Db, invoiceId: StripeInvoiceId): Promise<Order | undefined> {
  const row = await db.selectFrom('orders').selectAll().where('invoiceId', '=', invoiceId).executeTakeFirst();
  return row && toOrder(row);
}

/** By the invoice's id at Stripe, or by the number on it. */
export async function findOrderByIdOrNumber(db: Db, invoice: string): Promise<Order | undefined> {
  const row = await db
    .selectFrom('orders')
    .selectAll()
    .where((eb) => eb.or([eb('invoiceId', '=', toStripeInvoiceId(invoice)), eb('invoiceNumber', '=', invoice)]))
    .executeTakeFirst();
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

export async function listOrdersByPayments(db: Db, paymentIntentIds: string[]): Promise<Order[]> {
  const rows = await db.selectFrom('orders').selectAll().where('paymentIntentId', 'in', paymentIntentIds).execute();
  return rows.map(toOrder);
}

export async function listOrdersByInvoices(db: Db, invoiceIds: StripeInvoiceId[]): Promise<Order[]> {
  const rows = await db.selectFrom('orders').selectAll().where('invoiceId', 'in', invoiceIds).execute();
  return rows.map(toOrder);
}

/** Orders with a refund, a dispute or a credit note. */
export async function listOrdersWithMoneyBack(db: Db): Promise<Order[]> {
  const rows = await db
    .selectFrom('orders')
    .selectAll()
    .where((eb) =>
      eb.or([eb('refundedCents', '>', 0), eb('disputeState', 'is not', null), eb('creditNotes', 'is not', null)]),
    )
    .execute();
  return rows.map(toOrder);
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
