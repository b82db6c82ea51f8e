import { isDeepStrictEqual } from 'node:util';
import type { StripeInvoiceId } from '../../shared/index.ts';
import type { BillingDeps } from '../deps.ts';
import { readAllCreditNotes, recordCreditNotes } from '../orders/credit-notes.ts';
import { type MoneyBack, nothingBack, readAllMoneyBack } from '../orders/money-back.ts';
import type { CreditNote, Order } from '../orders/order.ts';
import { listOrdersByInvoices, listOrdersByPayments, listOrdersWithMoneyBack } from '../orders/order-store.ts';
import { recordRefunds } from '../orders/refunds.ts';
import type { Difference } from './stripe-differences.ts';

/** A difference of an order, and the way to read that part of it again. */
interface OrderDifference extends Difference {
  repair(): Promise<unknown>;
}

export const toDifference = ({ repair: _, ...difference }: OrderDifference): Difference => difference;

const batch = 200;

async function inBatches<Key, T>(keys: readonly Key[], read: (some: Key[]) => Promise<T[]>): Promise<T[]> {
  const found: T[] = [];
  for (let at = 0; at < keys.length; at += batch) found.push(...(await read(keys.slice(at, at + batch))));
  return found;
}

const about = ({ userId, customerId, invoiceId }: Order, kind: Difference['kind'], detail: string): Difference => ({
  kind,
  userId,
  customerId,
  detail: `${invoiceId}: ${detail}`,
});

function compareMoneyBack(order: Order, back: MoneyBack): Difference[] {
  const { refundedCents, disputeState } = order;
  const amounts = `${refundedCents} here, ${back.refundedCents} at Stripe`;
  const states = `${disputeState ?? 'none'} here, ${back.disputeState ?? 'none'} at Stripe`;
  return [
    ...(refundedCents === back.refundedCents
      ? []
      : [about(order, refundedCents === 0 ? 'refund missing' : 'refund amount', amounts)]),
    ...(disputeState === back.disputeState ? [] : [about(order, 'dispute', states)]),
  ];
}

function compareCreditNotes(order: Order, notes: readonly CreditNote[]): Difference[] {
  if (isDeepStrictEqual(order.creditNotes, notes)) return [];
  const names = (list: readonly CreditNote[]) => list.map(({ number }) => number).join(' ') || 'none';
  return [about(order, 'credit note', `${names(order.creditNotes)} here, ${names(notes)} at Stripe`)];
}

const once = (orders: readonly Order[]): Order[] => [...new Map(orders.map((order) => [order.id, order])).values()];

/**
 * Compares refunds, disputes and credit notes of the whole account with the orders: each list is read once, and joined
 * by payment and by invoice.
 * @throws {StripeUnavailableError}
 */
export async function findOrderDifferences(deps: BillingDeps): Promise<OrderDifference[]> {
  const { db } = deps.database;
  const back = await readAllMoneyBack(deps.stripe);
  const notes = await readAllCreditNotes(deps.stripe);
  const stored = await listOrdersWithMoneyBack(db);
  const paid = once([...stored, ...(await inBatches([...back.keys()], (some) => listOrdersByPayments(db, some)))]);
  const credited = once([...stored, ...(await inBatches([...notes.keys()], (some) => listOrdersByInvoices(db, some)))]);
  return [
    ...paid.flatMap((order) => {
      const id = order.paymentIntentId;
      if (id === null) return [];
      const repair = () => recordRefunds(deps, id);
      return compareMoneyBack(order, back.get(id) ?? nothingBack).map((one) => ({ ...one, repair }));
    }),
    ...credited.flatMap((order) => {
      const id: StripeInvoiceId = order.invoiceId;
      const repair = () => recordCreditNotes(deps, id);
      return compareCreditNotes(order, notes.get(id) ?? []).map((one) => ({ ...one, repair }));
    }),
  ];
}
