import { isDeepStrictEqual } from 'node:util';
import type { UserId } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import type { Catalogue } from './catalogue.ts';
import { effectivePlan, trialUntil } from './effective-plan.ts';
import type { Membership } from './membership.ts';
import type { Snapshot } from './membership-store.ts';
import type { Order } from './order-store.ts';
import { isOrdered } from './orders.ts';
import { maxInvoices, type StripeSnapshot } from './read-stripe-snapshot.ts';
import { isEnded, toMs, toSubscriptionStatus } from './stripe-objects.ts';

/** What is not here as it is at Stripe, or is wrong at both. */
export type DifferenceKind =
  /** What is stored of the subscription, card or discount. */
  | 'membership'
  /** The member's row names another plan than follows from what is stored. */
  | 'plan'
  | 'order missing'
  | 'order amount'
  /** No paid invoice stands behind it. */
  | 'order without invoice'
  | 'two subscriptions'
  /** What the subscription costs is the price of no plan of the catalogue. */
  | 'price of no plan'
  /** A customer of a member of whom no customer is known here. */
  | 'customer unknown here'
  | 'second customer'
  /** Of somebody who is no member, or no more. */
  | 'customer of nobody'
  /** A subscription that names a member, with a customer that does not. */
  | 'subscription unknown here'
  /** A decision made here is not done at Stripe: it is tried again every minute. */
  | 'act unfinished'
  /** Stripe does not take the member's address; their customer is without one. */
  | 'address refused'
  /** Stripe could not say. */
  | 'not compared';

export interface Difference {
  kind: DifferenceKind;
  userId: UserId | null;
  customerId: string | null;
  /** Which field, invoice or subscription, and how it differs. */
  detail: string;
}

export interface ReconcileInput {
  membership: Membership;
  user: Pick<User, 'planId' | 'trialUntil'> | undefined;
  orders: readonly Order[];
  facts: StripeSnapshot;
  /** What a sync would write. */
  snapshot: Snapshot;
  nowMs: number;
}

const compared = [
  ...['customerId', 'subscriptionId', 'status', 'pricedPlanId', 'periodStart', 'periodEnd', 'trialEnd'],
  ...['cancelAtPeriodEnd', 'nextPlanId', 'paidPlanId', 'paidUntil', 'card', 'discount', 'unpaid', 'pending'],
] as (keyof Snapshot)[];

const toText = (value: unknown) =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);

/** Details name no card: what is not the same is enough to know. */
const secret: ReadonlySet<keyof Snapshot> = new Set(['card']);

function compareMembership({ membership, snapshot }: ReconcileInput): string[] {
  return compared.flatMap((field) => {
    const [context, there] = [membership[field as keyof Membership], snapshot[field]];
    // As JSON, in which what is left out and what is undefined are the same.
    const plain = (value: unknown) => JSON.parse(JSON.stringify(value ?? null)) as unknown;
    if (isDeepStrictEqual(plain(context), plain(there))) return [];
    return secret.has(field) ? field : `${field}: ${toText(context)} here, ${toText(there)} at Stripe`;
  });
}

function ofOrders({ orders, facts }: ReconcileInput): Pick<Difference, 'kind' | 'detail'>[] {
  // With a customer that is gone, Stripe may not tell of the invoices any more.
  if (!facts.customer) return [];
  const paid = new Map(facts.invoices.filter(isOrdered).map((invoice) => [invoice.id, invoice]));
  const known = new Map(orders.map((order) => [order.invoiceId, order]));
  // Those before the oldest that was read cannot be looked up in it.
  const oldest = facts.invoices.length < maxInvoices ? 0 : toMs(facts.invoices.at(-1)?.created ?? 0);
  const missing = [...paid.keys()].filter((id) => !known.has(id));
  const own = orders.filter(({ customerId, orderedAt }) => customerId === facts.customer?.id && orderedAt > oldest);
  return [
    ...missing.map((detail) => ({ kind: 'order missing' as const, detail })),
    ...own.flatMap((order): Pick<Difference, 'kind' | 'detail'>[] => {
      const invoice = paid.get(order.invoiceId);
      if (!invoice) return [{ kind: 'order without invoice', detail: order.invoiceId }];
      if (invoice.amount_paid === order.paidCents) return [];
      const detail = `${order.invoiceId}: ${order.paidCents} here, ${invoice.amount_paid} at Stripe`;
      return [{ kind: 'order amount', detail }];
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

/** How a member's membership differs from what Stripe has of it; nothing, where it does not. */
export function findDifferences(all: ReconcileInput, catalogue: Catalogue): Difference[] {
  const { membership, facts, snapshot } = all;
  const { userId, customerId } = membership;
  const live = facts.subscriptions.filter((one) => !isEnded(toSubscriptionStatus(one))).map(({ id }) => id);
  const found: Pick<Difference, 'kind' | 'detail'>[] = [
    ...compareMembership(all).map((detail) => ({ kind: 'membership' as const, detail })),
    ...ofOrders(all),
    ...ofPlan(all, catalogue).map((detail) => ({ kind: 'plan' as const, detail })),
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
