import type Stripe from 'stripe';
import {
  propertyIn,
  type StripeCustomerId,
  type StripeInvoiceId,
  toStripeCustomerId,
  toStripeInvoiceId,
} from '../../shared/index.ts';

/** Each of these events triggers a read of the user; its type does not matter, so they may arrive in any order. */
const ofMembers = [
  // The default card, and the credit.
  'customer.updated',
  'customer.deleted',
  'customer.discount.created',
  'customer.discount.updated',
  'customer.discount.deleted',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'customer.subscription.trial_will_end',
  'customer.subscription.pending_update_applied',
  'customer.subscription.pending_update_expired',
  'subscription_schedule.created',
  'subscription_schedule.updated',
  'subscription_schedule.released',
  'subscription_schedule.completed',
  'subscription_schedule.canceled',
  'subscription_schedule.aborted',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice.payment_action_required',
  'payment_method.attached',
  'payment_method.detached',
  'payment_method.automatically_updated',
  'setup_intent.succeeded',
  'setup_intent.setup_failed',
] as const;
/** These trigger a read of a payment. */
const ofPayments = [
  'charge.refunded',
  'refund.failed',
  'refund.updated',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_reinstated',
] as const;
/** These trigger a read of the credit notes of an invoice. */
const ofCreditNotes = ['credit_note.created', 'credit_note.voided'] as const;

/** These trigger a read of the VAT id of a customer. */
const ofTaxIds = ['customer.tax_id.updated'] as const;

/** Every event that is read. */
export const eventTypes = [...ofMembers, ...ofPayments, ...ofCreditNotes, ...ofTaxIds];

export type Subject =
  | { kind: 'member' | 'tax-id'; customerId: StripeCustomerId }
  | { kind: 'payment'; intentId: string }
  | { kind: 'credit-notes'; invoiceId: StripeInvoiceId };
type SubjectKind = Subject['kind'];

const kinds = new Map<string, SubjectKind>([
  ...ofMembers.map((type) => [type, 'member'] as const),
  ...ofPayments.map((type) => [type, 'payment'] as const),
  ...ofCreditNotes.map((type) => [type, 'credit-notes'] as const),
  ...ofTaxIds.map((type) => [type, 'tax-id'] as const),
]);

/** Known types for labels and logs, so that callers cannot create new ones. */
export const knownType = (type: string): string => (kinds.has(type) ? type : 'other');

/** undefined: events of this type are left alone. */
export const findSubjectKind = (type: string): SubjectKind | undefined => kinds.get(type);

/** The id of an object of Stripe, whether or not it is expanded. */
export function idIn(item: unknown): string | null {
  const id = typeof item === 'string' ? item : propertyIn(item, 'id');
  return typeof id === 'string' ? id : null;
}

/** The customer of an event: the only data that are used. */
function customerIdIn(value: unknown): StripeCustomerId | null {
  const id = idIn(value);
  return id === null ? null : toStripeCustomerId(id);
}

export function customerIn({ data: { object, ...data } }: Stripe.Event): StripeCustomerId | null {
  if (propertyIn(object, 'object') === 'customer') return customerIdIn(object);
  // A removed card has no customer any more; its previous attributes do.
  const before = propertyIn(data, 'previous_attributes');
  return customerIdIn(propertyIn(object, 'customer')) ?? customerIdIn(propertyIn(before, 'customer'));
}

/** The object that is read because of an event; undefined: the event names none. */
export function findSubject(event: Stripe.Event): Subject | undefined {
  const { object } = event.data;
  const kind = findSubjectKind(event.type);
  if (kind === 'payment') {
    const intentId = idIn(propertyIn(object, 'payment_intent'));
    return intentId === null ? undefined : { kind, intentId };
  }
  if (kind === 'credit-notes') {
    const invoiceId = idIn(propertyIn(object, 'invoice'));
    return invoiceId === null ? undefined : { kind, invoiceId: toStripeInvoiceId(invoiceId) };
  }
  const customerId = kind && customerIn(event);
  return customerId ? { kind, customerId } : undefined;
}
