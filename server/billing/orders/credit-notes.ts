import type Stripe from 'stripe';
import type { StripeInvoiceId } from '../../shared/index.ts';
import { toStripeCustomerId, toStripeInvoiceId } from '../../shared/index.ts';
import type { BillingDeps } from '../deps.ts';
import { callStripe, orNotFound, type StripeClient } from '../stripe/stripe-client.ts';
import { toId, toMs } from '../stripe/stripe-objects.ts';
import { findMembershipByCustomer } from '../subscription/membership-store.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import type { CreditNote } from './order.ts';
import { findOrderByInvoice, writeCreditNotes } from './order-store.ts';
import type { PaymentOutcome } from './refunds.ts';

const toCreditNote = ({ id, number, total, pdf, created }: Stripe.CreditNote): CreditNote => ({
  id,
  number,
  amountCents: total,
  pdfUrl: pdf,
  createdAt: toMs(created),
});

/** In the order of their dates; voided ones do not count. */
const inOrder = (notes: readonly Stripe.CreditNote[]): CreditNote[] =>
  notes
    .filter(({ status }) => status === 'issued')
    .map(toCreditNote)
    .toSorted((one, other) => one.createdAt - other.createdAt || (one.number < other.number ? -1 : 1));

/** Every credit note of the account, by invoice. @throws {StripeUnavailableError} */
export function readAllCreditNotes(client: StripeClient): Promise<Map<StripeInvoiceId, CreditNote[]>> {
  return callStripe(client, async (stripe) => {
    const all = new Map<StripeInvoiceId, Stripe.CreditNote[]>();
    for await (const note of stripe.creditNotes.list({ limit: 100 })) {
      const invoiceId = toStripeInvoiceId(toId(note.invoice));
      all.set(invoiceId, [...(all.get(invoiceId) ?? []), note]);
    }
    return new Map([...all].map(([invoiceId, notes]) => [invoiceId, inOrder(notes)]));
  });
}

/** Stores the credit notes of an invoice with its order, as Stripe has them now. @throws {StripeUnavailableError} */
export async function recordCreditNotes(deps: BillingDeps, invoiceId: StripeInvoiceId): Promise<PaymentOutcome> {
  const { database, stripe } = deps;
  const found = await callStripe(stripe, (client) => orNotFound(client.invoices.retrieve(invoiceId)));
  const customer = found?.customer;
  if (!customer) return 'unknown-payment';
  const userId = (await findMembershipByCustomer(database.db, toStripeCustomerId(toId(customer))))?.userId;
  // The event of the payment itself may not have arrived yet.
  if (userId) await syncMember(deps, userId);
  if (!(await findOrderByInvoice(database.db, invoiceId))) return userId ? 'done' : 'unknown-customer';
  const { data } = await callStripe(stripe, (client) => client.creditNotes.list({ invoice: invoiceId, limit: 100 }));
  await writeCreditNotes(database.db, invoiceId, inOrder(data));
  return 'done';
}
