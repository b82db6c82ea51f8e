import { isDeepStrictEqual } from 'node:util';
import { parseUnknownJson, type StripeCustomerId, toStripeInvoiceId, type UserId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { StoredDetails } from '../details/details-store.ts';
import type { Order } from '../orders/order.ts';
import { isOrdered } from '../orders/order-store.ts';
import { contactDifferences } from '../subscription/contact.ts';
import type { Membership } from '../subscription/membership.ts';
import { effectivePlan, trialUntil } from '../subscription/membership-state.ts';
import type { Snapshot } from '../subscription/membership-store.ts';
import { otherBillingMode } from './billing-mode.ts';
import { maxInvoices, type StripeSnapshot } from './read-stripe-snapshot.ts';
import { isScheduleTaxed, isTaxed } from './stripe-client.ts';
import { allTaxCents } from './stripe-invoices.ts';
import { isEnded, toMs, toSubscriptionStatus } from './stripe-objects.ts';

/** Differences from Stripe, and faults on both sides. */
type DifferenceKind =
  /** The stored subscription, card or discount. */
  | 'membership'
  /** The user's row has another plan than follows from the stored membership. */
  | 'plan'
  | 'order missing'
  | 'order amount'
  | 'order tax'
  /** It has no paid invoice. */
  | 'order without invoice'
  /** The order has none, or another amount; or another state of a dispute; or other credit notes. */
  | 'refund missing'
  | 'refund amount'
  | 'dispute'
  | 'credit note'
  | 'two subscriptions'
  /** The subscription has a price that belongs to no plan of the catalogue. */
  | 'price of no plan'
  /** A customer of a user without a known customer. */
  | 'customer unknown here'
  | 'second customer'
  /** A customer of an unknown or deleted user. */
  | 'customer of nobody'
  /** A subscription that names a user, while its customer does not. */
  | 'subscription unknown here'
  /** A stored decision is not done at Stripe: it is tried again every minute. */
  | 'act unfinished'
  /** Stripe refuses the user's address; their customer has none. */
  | 'address refused'
  /** The customer has another name, address or language than the user. */
  | 'customer details'
  /** Prorations of the subscription are calculated in another way. */
  | 'billing mode'
  /** The tax of the subscription is not computed, as the catalogue asks. */
  | 'automatic tax'
  /** Stripe could not be read. */
  | 'not compared';

export interface Difference {
  kind: DifferenceKind;
  userId: UserId | null;
  customerId: StripeCustomerId | null;
  /** The field, invoice or subscription, and the difference. */
  detail: string;
}

export interface ReconcileInput {
  membership: Membership;
  user: Pick<User, 'id' | 'planId' | 'trialUntil' | 'email' | 'givenName' | 'familyName' | 'locale'> | undefined;
  details: StoredDetails | undefined;
  orders: readonly Order[];
  facts: StripeSnapshot;
  /** The snapshot that a sync would write. */
  snapshot: Snapshot;
  nowMs: number;
}

const compared = [
  ...['customerId', 'subscriptionId', 'status', 'pricedPlanId', 'periodStart', 'periodEnd', 'trialEnd'],
  ...[
    'cancelAtPeriodEnd',
    'nextPlanId',
    'nextSeats',
    'seats',
    'triedPlanId',
    'triedUntil',
    'paidPlanId',
    'paidUntil',
    'card',
    'discount',
    'customerDiscount',
    'unpaid',
    'pending',
  ],
  ...['price', 'nextCharge', 'pause', 'balanceCents'],
] as (keyof Snapshot)[];

const toText = (value: unknown) =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);

/** Details do not contain cards: the difference itself is enough. */
const secret: ReadonlySet<keyof Snapshot> = new Set(['card']);

function compareMembership({ membership, snapshot }: ReconcileInput): string[] {
  return compared.flatMap((field) => {
    const [context, there] = [membership[field as keyof Membership], snapshot[field]];
    // As JSON, in which omitted and undefined are equal.
    const plain = (value: unknown) => parseUnknownJson(JSON.stringify(value ?? null));
    if (isDeepStrictEqual(plain(context), plain(there))) return [];
    return secret.has(field) ? field : `${field}: ${toText(context)} here, ${toText(there)} at Stripe`;
  });
}

function ofOrders({ orders, facts }: ReconcileInput): Pick<Difference, 'kind' | 'detail'>[] {
  // If the customer is gone, Stripe may not return the invoices any more.
  if (!facts.customer) return [];
  const paid = new Map(facts.invoices.filter(isOrdered).map((invoice) => [toStripeInvoiceId(invoice.id), invoice]));
  const known = new Map(orders.map((order) => [order.invoiceId, order]));
  // Invoices before the oldest that was read cannot be found in it.
  const oldest = facts.invoices.length < maxInvoices ? 0 : toMs(facts.invoices.at(-1)?.created ?? 0);
  const missing = [...paid.keys()].filter((id) => !known.has(id));
  const own = orders.filter(({ customerId, orderedAt }) => customerId === facts.customer?.id && orderedAt > oldest);
  return [
    ...missing.map((detail) => ({ kind: 'order missing' as const, detail })),
    ...own.flatMap((order): Pick<Difference, 'kind' | 'detail'>[] => {
      const invoice = paid.get(order.invoiceId);
      if (!invoice) return [{ kind: 'order without invoice', detail: order.invoiceId }];
      const compare = (kind: 'order amount' | 'order tax', stored: number, actual: number) =>
        stored === actual ? [] : [{ kind, detail: `${order.invoiceId}: ${stored} here, ${actual} at Stripe` }];
      const tax = allTaxCents(invoice);
      return [
        ...compare('order amount', order.paidCents, invoice.amount_paid),
        ...compare('order tax', order.taxCents ?? tax, tax),
      ];
    }),
  ];
}

function ofPlan({ membership, user, nowMs }: ReconcileInput, catalogue: Catalogue): string[] {
  if (!user) return [];
  const planId = effectivePlan(membership, catalogue, nowMs);
  const until = trialUntil(membership);
  return [
    ...(user.planId === planId ? [] : [`plan: ${user.planId}, not ${planId}`]),
    ...(user.trialUntil === until ? [] : [`trial until: ${user.trialUntil}, not ${until}`]),
  ];
}

/** Details do not contain the data: the names of the fields are enough. */
function ofContact({ membership, user, details, facts }: ReconcileInput): Pick<Difference, 'kind' | 'detail'>[] {
  if (!user || !facts.customer || membership.contact !== null) return [];
  const fields = contactDifferences({ user, details }, facts.customer);
  return fields.length === 0 ? [] : [{ kind: 'customer details', detail: fields.join(' ') }];
}

function ofBillingMode({ facts, snapshot }: ReconcileInput): Pick<Difference, 'kind' | 'detail'>[] {
  const subscription = facts.subscriptions.find(({ id }) => id === snapshot.subscriptionId);
  const detail = subscription && otherBillingMode(subscription);
  return detail === undefined ? [] : [{ kind: 'billing mode', detail }];
}

/** Only of subscriptions that are charged again. A schedule has settings of its own. */
function ofTax({ facts, snapshot }: ReconcileInput, catalogue: Catalogue): Pick<Difference, 'kind' | 'detail'>[] {
  const { subscriptionId, pricedPlanId, nextCharge } = snapshot;
  const subscription = facts.subscriptions.find(({ id }) => id === subscriptionId);
  if (!subscription || pricedPlanId === null || nextCharge === null) return [];
  if (subscription.schedule !== null) {
    const detail = 'off in the schedule';
    return isScheduleTaxed({ catalogue }, subscription) ? [] : [{ kind: 'automatic tax', detail }];
  }
  if (isTaxed(catalogue, subscription)) return [];
  return [{ kind: 'automatic tax', detail: subscription.automatic_tax.disabled_reason ?? 'off' }];
}

/** The differences between a membership and Stripe; none if they agree. */
export function findDifferences(all: ReconcileInput, catalogue: Catalogue): Difference[] {
  const { membership, facts, snapshot } = all;
  const { userId, customerId } = membership;
  const live = facts.subscriptions.filter((one) => !isEnded(toSubscriptionStatus(one))).map(({ id }) => id);
  const found: Pick<Difference, 'kind' | 'detail'>[] = [
    ...compareMembership(all).map((detail) => ({ kind: 'membership' as const, detail })),
    ...ofOrders(all),
    ...ofPlan(all, catalogue).map((detail) => ({ kind: 'plan' as const, detail })),
    ...ofBillingMode(all),
    ...ofTax(all, catalogue),
    ...ofContact(all),
    ...(live.length > 1 ? [{ kind: 'two subscriptions' as const, detail: live.join(' ') }] : []),
    ...(snapshot.subscriptionId !== null && snapshot.pricedPlanId === null
      ? [{ kind: 'price of no plan' as const, detail: snapshot.subscriptionId }]
      : []),
    ...(membership.contact?.state === 'refused'
      ? [{ kind: 'address refused' as const, detail: membership.contact.code }]
      : []),
  ];
  return found.map((one) => ({ ...one, userId, customerId }));
}
