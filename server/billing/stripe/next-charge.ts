import { createHash } from 'node:crypto';
import type Stripe from 'stripe';
import { addPeriods, isNext, type Plan, toPeriod, toQuantity } from '../catalogue/catalogue.ts';
import { withAnchor } from '../catalogue/prices.ts';
import type { BillingDeps } from '../deps.ts';
import {
  type Discounts,
  discountAt,
  type Membership,
  type NextCharge,
  previewDiscounts,
  toFullPeriodEnd,
  trialPlanKey,
} from '../subscription/membership.ts';
import type { Snapshot } from '../subscription/membership-store.ts';
import type { StripeSnapshot } from './read-stripe-snapshot.ts';
import { callStripe, toStripeRefusal } from './stripe-client.ts';
import { type ChargeDiscounts, toRegularAmounts, usedCreditCents } from './stripe-invoices.ts';
import { findDraft, leftAfter, plannedChange, toChargeable, toId, toMs } from './stripe-objects.ts';

/** How many charges from this one on have its discount. undefined: unknown, or without an end. */
function countDiscounted({ discount, at, period }: ChargeDiscounts): number | undefined {
  if (discount?.duration === 'once') return 1;
  const endsAt = discount?.endsAt ?? null;
  if (endsAt === null || at === null || period === null) return undefined;
  let count = 1;
  while (addPeriods(at, period, count) < endsAt) count += 1;
  return count;
}

/** A charge with the balance, and those after it. @param dueCents with the balance, below 0 credit */
function toAmounts(
  regular: ReturnType<typeof toRegularAmounts>,
  discounts: ChargeDiscounts,
  dueCents: number,
): Pick<NextCharge, 'amountCents' | 'firstRegularCents' | 'firstRegularAt' | 'isDiscountKept' | 'carriedCents'> {
  const { regularCents, discountCents, discountEndsAt, currency } = regular;
  const count = discountEndsAt === null ? undefined : countDiscounted(discounts);
  const { at, period } = discounts;
  const carriedCents = leftAfter(dueCents, currency);
  let firstRegularCents: number | undefined;
  if (count !== undefined && regularCents !== null) {
    let left = carriedCents;
    for (let done = 1; done < count; done += 1) left = leftAfter(left + regularCents - discountCents, currency);
    firstRegularCents = toChargeable(left + regularCents, currency);
  }
  const isOther = firstRegularCents !== undefined && firstRegularCents !== regularCents;
  const firstRegularAt = at === null || period === null ? undefined : addPeriods(at, period, count);
  return {
    amountCents: toChargeable(dueCents, currency),
    ...(isOther && { firstRegularCents, firstRegularAt }),
    ...(count !== undefined && count > 1 && { isDiscountKept: true as const }),
    ...(carriedCents > 0 && { carriedCents }),
  };
}

/** From a preview of the very next invoice, with the user's balance in it. */
export function toNextCharge(
  invoice: Stripe.Invoice,
  discounts: Discounts,
  { at, period }: Pick<ChargeDiscounts, 'at' | 'period'>,
): NextCharge {
  const { customerDiscount } = discounts;
  const charge = { discount: discountAt(discounts, { at }), customerDiscount, at, period };
  const regular = toRegularAmounts(invoice, charge);
  return {
    ...regular,
    ...toAmounts(regular, charge, invoice.total + invoice.starting_balance),
    amountCents: invoice.amount_due,
    creditUsedCents: usedCreditCents(invoice),
    at,
  };
}

/**
 * From a recurring preview, of which Stripe does not say whether it contains the balance.
 * @param balanceCents before that charge: below 0 the user's credit, above 0 owed
 */
export function toLaterCharge(
  invoice: Stripe.Invoice,
  { balanceCents, ...discounts }: ChargeDiscounts & { balanceCents: number },
): NextCharge {
  const { at } = discounts;
  const regular = toRegularAmounts(invoice, discounts);
  return {
    ...regular,
    ...toAmounts(regular, discounts, invoice.total + balanceCents),
    creditUsedCents: Math.max(0, Math.min(invoice.total, 0 - balanceCents)),
    at,
  };
}

/** From a preview with a balance in it that an invoice before it is going to take up. */
const toChargeAfter = (
  invoice: Stripe.Invoice,
  discounts: Discounts,
  charge: Pick<ChargeDiscounts, 'at' | 'period'> & { balanceCents: number },
): NextCharge =>
  toLaterCharge(invoice, {
    discount: discountAt(discounts, charge),
    customerDiscount: discounts.customerDiscount,
    ...charge,
  });

/** The amount of each charge, with a discount that does not end and without credit; null: unknown. */
export const toEachCharge = ({ regularCents, discountCents, eachCents }: NextCharge): number | null =>
  regularCents === null ? (eachCents ?? null) : regularCents - discountCents;

/** Tests whether a charge has a debt from before in it, which is charged once. */
export function hasDebt(next: NextCharge): boolean {
  const each = toEachCharge(next);
  return each !== null && next.amountCents + next.creditUsedCents > each;
}

/** The subscription on which a later plan begins. */
type LaterSubscription = Discounts &
  Pick<Snapshot, 'cancelAtPeriodEnd' | 'periodEnd' | 'paidUntil' | 'balanceCents' | 'pricedPlanId' | 'price'> &
  Parameters<typeof isNext>[0];

/** Stripe's next invoice of a subscription with its schedule; null: there is none. @throws {StripeUnavailableError} */
async function previewNextInvoice(
  { stripe }: Pick<BillingDeps, 'stripe'>,
  { id, schedule, customer }: Stripe.Subscription,
): Promise<Stripe.Invoice | null> {
  return callStripe(stripe, (client) =>
    client.invoices.createPreview({
      customer: toId(customer),
      ...(schedule === null ? { subscription: id } : { schedule: toId(schedule) }),
    }),
  ).catch((error: unknown) => {
    if (toStripeRefusal(error)?.code === 'invoice_upcoming_none') return null;
    throw error;
  });
}

/**
 * The user's balance after a change that waits for its payment is given up: until then its invoice holds their credit.
 * @throws {StripeUnavailableError}
 */
export async function balanceWithoutPending(
  { stripe }: Pick<BillingDeps, 'stripe'>,
  { balanceCents, pending }: Pick<Membership, 'balanceCents' | 'pending'>,
): Promise<number> {
  if (!pending || pending.debit) return balanceCents;
  const invoice = await callStripe(stripe, (client) => client.invoices.retrieve(pending.invoiceId));
  const { status, starting_balance: before, ending_balance: after } = invoice;
  return status === 'open' ? balanceCents + before - (after ?? 0) : balanceCents;
}

interface LaterPreview {
  membership: LaterSubscription;
  subscription: Stripe.Subscription;
  /** How a sale is previewed; by default the subscription's own settings apply. */
  ask?: (params: Stripe.InvoiceCreatePreviewParams) => Promise<Stripe.Invoice>;
}

/**
 * The first charge of a plan that begins, or goes on, at the end of the paid period.
 * @param subscription with its schedule
 * @throws {StripeUnavailableError}
 */
export async function previewLaterPlan(
  { stripe, prices, catalogue }: Pick<BillingDeps, 'stripe' | 'prices' | 'catalogue'>,
  { membership, subscription, ask }: LaterPreview,
  plan: Plan,
): Promise<NextCharge> {
  const { balanceCents, customerDiscount } = membership;
  const at = toFullPeriodEnd(membership);
  const period = withAnchor(plan.period, membership.price, subscription);
  // A scheduled plan stays at its price.
  const { nextPriceId } = plannedChange(subscription, subscription.items.data[0]?.current_period_end ?? 0);
  if (nextPriceId !== undefined && isNext(membership, plan)) {
    const scheduled = await previewNextInvoice({ stripe }, subscription);
    if (scheduled) return toChargeAfter(scheduled, membership, { at, balanceCents, period });
  }
  // A plan that goes on keeps its price, also an archived one.
  const price = membership.pricedPlanId === plan.id ? undefined : await prices.priceIdFor(plan);
  const quantity = toQuantity(catalogue, plan, membership);
  const item = { ...(price !== undefined && { price }), ...(quantity !== undefined && { quantity }) };
  const discount = discountAt(membership, { at, amountCents: plan.amountCents });
  const params: Stripe.InvoiceCreatePreviewParams = {
    customer: toId(subscription.customer),
    subscription: subscription.id,
    preview_mode: 'recurring',
    subscription_details: {
      items: subscription.items.data.map(({ id }) => ({ id, ...item })),
      proration_behavior: 'none',
    },
    ...previewDiscounts(membership, discount),
  };
  const invoice = await (ask ? ask(params) : callStripe(stripe, (client) => client.invoices.createPreview(params)));
  return toLaterCharge(invoice, { discount, customerDiscount, balanceCents, at, period });
}

/**
 * The next charge of a subscription that ends, changes or pauses, if that is cancelled: at its own price, which may be
 * archived. undefined: unknown.
 * @param resumesAt the end of a pause, from which Stripe counts its periods anew
 * @throws {StripeUnavailableError}
 */
export async function previewKeptPrice(
  { stripe }: Pick<BillingDeps, 'stripe'>,
  membership: Snapshot,
  resumesAt?: number,
): Promise<NextCharge | undefined> {
  const { customerId, subscriptionId, price, balanceCents, customerDiscount } = membership;
  if (customerId === null || subscriptionId === null || price === null) return undefined;
  const at = resumesAt ?? toFullPeriodEnd(membership);
  const discount = discountAt(membership, { at, amountCents: price.amountCents });
  const [invoice, subscription] = await callStripe(stripe, ({ invoices, subscriptions }) =>
    Promise.all([
      invoices.createPreview({
        customer: customerId,
        subscription: subscriptionId,
        preview_mode: 'recurring',
        ...previewDiscounts(membership, discount),
      }),
      resumesAt === undefined ? subscriptions.retrieve(subscriptionId) : undefined,
    ]),
  );
  const period = subscription ? withAnchor(toPeriod(price), price, subscription) : toPeriod(price);
  return toLaterCharge(invoice, { discount, customerDiscount, balanceCents, at, period });
}

/** A digest of everything at Stripe that the next charge follows from. */
function toBasis(subscription: Stripe.Subscription, customer: Stripe.Customer | undefined): string {
  const { id, status, items, discounts, schedule, cancel_at, cancel_at_period_end, latest_invoice } = subscription;
  const { metadata, trial_end, pause_collection, automatic_tax: tax } = subscription;
  const latest = typeof latest_invoice === 'string' ? latest_invoice : [latest_invoice?.id, latest_invoice?.status];
  const facts = [
    // Of the record itself: one of an earlier release lacks values.
    3,
    ...[id, status, cancel_at, cancel_at_period_end, trial_end, latest, metadata],
    ...[pause_collection?.behavior, customer?.balance, customer?.address?.country, customer?.address?.postal_code],
    typeof schedule === 'object'
      ? [schedule?.id, schedule?.end_behavior, schedule?.phases, schedule?.pause_schedules]
      : schedule,
    items.data.map((item) => [item.price.id, item.quantity, item.current_period_end]),
    discounts.map(toId),
    ...(customer?.discount ? [customer.discount.id] : []),
    // The tax follows the place.
    ...(tax.enabled ? [customer?.address, customer?.tax_exempt] : []),
  ];
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url');
}

/** Tests whether the subscription to a paid plan will be charged without another act. */
const willBeCharged = ({ status, pricedPlanId, cancelAtPeriodEnd, nextPlanId, pause, unpaid }: Snapshot): boolean =>
  (status === 'active' || status === 'trialing' || status === 'past_due' || (pause !== null && unpaid === null)) &&
  pricedPlanId !== null &&
  pricedPlanId !== trialPlanKey &&
  (!cancelAtPeriodEnd || nextPlanId !== null);

/**
 * The next charge of a subscription; null: none. It only reads, and only what has changed since it was stored.
 * @throws {StripeUnavailableError}
 */
export async function readNextCharge(
  deps: Pick<BillingDeps, 'stripe' | 'prices' | 'catalogue'>,
  { nextCharge: known }: Pick<Membership, 'nextCharge'>,
  { facts, snapshot }: { facts: StripeSnapshot; snapshot: Snapshot },
): Promise<NextCharge | null> {
  const subscription = facts.subscriptions.find(({ id }) => id === snapshot.subscriptionId);
  if (!subscription || !willBeCharged(snapshot)) return null;
  const basis = toBasis(subscription, facts.customer);
  if (known?.basis === basis) return known;
  const next = await previewNextCharge(deps, { subscription, snapshot });
  return next && { ...next, basis };
}

async function previewNextCharge(
  deps: Pick<BillingDeps, 'stripe' | 'prices' | 'catalogue'>,
  { subscription, snapshot }: { subscription: Stripe.Subscription; snapshot: Snapshot },
): Promise<NextCharge | null> {
  if (snapshot.pause) return (await previewKeptPrice(deps, snapshot, snapshot.pause.resumesAt)) ?? null;
  const plan = deps.catalogue.byId(snapshot.nextPlanId);
  // A change that waits until the period's end without a schedule: Stripe only knows of the end.
  if (snapshot.cancelAtPeriodEnd && subscription.schedule === null) {
    return plan?.kind === 'paid' ? previewLaterPlan(deps, { membership: snapshot, subscription }, plan) : null;
  }
  const invoice = await previewNextInvoice(deps, subscription);
  if (!invoice) return null;
  const ownPeriod = plan ? plan.period : snapshot.price && toPeriod(snapshot.price);
  const period = withAnchor(ownPeriod, snapshot.price, subscription);
  const charge = { at: soldStart(invoice) ?? snapshot.periodEnd, period };
  if (!findDraft(subscription)) return toNextCharge(invoice, snapshot, charge);
  return toChargeAfter(invoice, snapshot, { ...charge, balanceCents: snapshot.balanceCents });
}

/** The start of the period that is paid by it. */
function soldStart(invoice: Stripe.Invoice): number | null {
  const starts = invoice.lines.data.filter(({ amount }) => amount > 0).map(({ period }) => period.start);
  return starts.length === 0 ? null : toMs(Math.max(...starts));
}
