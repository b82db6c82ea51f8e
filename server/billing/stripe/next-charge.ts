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
import { toBasis } from './stored-values.ts';
import { callStripe, previewNextInvoice, toWholePreview } from './stripe-client.ts';
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
  regular: Regular,
  discounts: ChargeDiscounts,
  dueCents: number,
): Pick<NextCharge, 'amountCents' | 'firstRegularCents' | 'firstRegularAt' | 'isDiscountKept' | 'carriedCents'> {
  const { regularCents, discountEndsAt, currency } = regular;
  const count = discountEndsAt === null ? undefined : countDiscounted(discounts);
  const { at, period } = discounts;
  const carriedCents = leftAfter(dueCents, currency);
  let firstRegularCents: number | undefined;
  const eachCents = toEachCharge(regular);
  if (count !== undefined && regularCents !== null && eachCents !== null) {
    let left = carriedCents;
    for (let done = 1; done < count; done += 1) left = leftAfter(left + eachCents, currency);
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

/** How the same charge is previewed without its discount; undefined: it cannot be. */
interface Asking {
  askWhole?: (() => Promise<Stripe.Invoice>) | undefined;
}

type Regular = ReturnType<typeof toRegularAmounts>;

/** @throws {StripeUnavailableError} */
async function readRegular(invoice: Stripe.Invoice, { askWhole, ...discounts }: ChargeDiscounts & Asking) {
  const known: Regular = toRegularAmounts(invoice, discounts);
  const isUnknown = known.regularCents === null && known.eachCents !== undefined && known.discountEndsAt !== null;
  return isUnknown && askWhole ? toRegularAmounts(invoice, { ...discounts, whole: await askWhole() }) : known;
}

/** From a preview of the very next invoice, with the user's balance in it. @throws {StripeUnavailableError} */
export async function toNextCharge(
  invoice: Stripe.Invoice,
  discounts: Discounts,
  { at, period, askWhole }: Pick<ChargeDiscounts, 'at' | 'period'> & Asking,
): Promise<NextCharge> {
  const { customerDiscount } = discounts;
  const charge = { discount: discountAt(discounts, { at }), customerDiscount, at, period };
  const regular = await readRegular(invoice, { ...charge, askWhole });
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
 * @throws {StripeUnavailableError}
 */
export async function toLaterCharge(
  invoice: Stripe.Invoice,
  { balanceCents, ...discounts }: ChargeDiscounts & Asking & { balanceCents: number },
): Promise<NextCharge> {
  const { at } = discounts;
  const regular = await readRegular(invoice, discounts);
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
  charge: Pick<ChargeDiscounts, 'at' | 'period'> & Asking & { balanceCents: number },
): Promise<NextCharge> =>
  toLaterCharge(invoice, {
    discount: discountAt(discounts, charge),
    customerDiscount: discounts.customerDiscount,
    ...charge,
  });

/** The amount of each charge, with a discount that does not end and without credit; null: unknown. */
export const toEachCharge = ({
  regularCents,
  discountCents,
  eachCents,
}: Pick<NextCharge, 'regularCents' | 'discountCents' | 'eachCents'>): number | null =>
  eachCents ?? (regularCents === null ? null : regularCents - discountCents);

/** Tests whether a charge has a debt from before in it, which is charged once. */
export function hasDebt(next: NextCharge): boolean {
  const each = toEachCharge(next);
  return each !== null && next.amountCents + next.creditUsedCents > each;
}

/** A debt beside a credit that is given: Stripe takes it from there, and the rest stays. */
export function splitDebt(balanceCents: number, creditCents: number): { taken: number; left: number } {
  const debtCents = Math.max(0, balanceCents);
  const taken = Math.min(debtCents, creditCents);
  return { taken, left: debtCents - taken };
}

/** The subscription on which a later plan begins. */
type LaterSubscription = Discounts &
  Pick<Snapshot, 'cancelAtPeriodEnd' | 'periodEnd' | 'paidUntil' | 'balanceCents' | 'pricedPlanId' | 'price'> &
  Parameters<typeof isNext>[0];

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
    const askWhole = toWholePreview(stripe, subscription);
    if (scheduled) return toChargeAfter(scheduled, membership, { at, balanceCents, period, askWhole });
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
  };
  const request = (applied: typeof discount) => {
    const all = { ...params, ...previewDiscounts(membership, applied) };
    return ask ? ask(all) : callStripe(stripe, (client) => client.invoices.createPreview(all));
  };
  const charge = { discount, customerDiscount, balanceCents, at, period, askWhole: () => request(null) };
  return toLaterCharge(await request(discount), charge);
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
  const ask = (applied: typeof discount) =>
    callStripe(stripe, ({ invoices }) =>
      invoices.createPreview({
        customer: customerId,
        subscription: subscriptionId,
        preview_mode: 'recurring',
        ...previewDiscounts(membership, applied),
      }),
    );
  const [invoice, subscription] = await Promise.all([
    ask(discount),
    resumesAt === undefined
      ? callStripe(stripe, ({ subscriptions }) => subscriptions.retrieve(subscriptionId))
      : undefined,
  ]);
  const period = subscription ? withAnchor(toPeriod(price), price, subscription) : toPeriod(price);
  return toLaterCharge(invoice, { discount, customerDiscount, balanceCents, at, period, askWhole: () => ask(null) });
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
  const charge = {
    at: soldStart(invoice) ?? snapshot.periodEnd,
    period,
    askWhole: toWholePreview(deps.stripe, subscription),
  };
  if (!findDraft(subscription)) return toNextCharge(invoice, snapshot, charge);
  return toChargeAfter(invoice, snapshot, { ...charge, balanceCents: snapshot.balanceCents });
}

/** The start of the period that is paid by it. */
function soldStart(invoice: Stripe.Invoice): number | null {
  const starts = invoice.lines.data.filter(({ amount }) => amount > 0).map(({ period }) => period.start);
  return starts.length === 0 ? null : toMs(Math.max(...starts));
}
