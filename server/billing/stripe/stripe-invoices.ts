import type Stripe from 'stripe';
import { dayMs, type PlanId, type StripeSubscriptionId, toStripeSubscriptionId } from '../../shared/index.ts';
import type { ChargePeriod } from '../catalogue/catalogue.ts';
import { type AppliedDiscount, appliesAt, type CustomerDiscount } from '../subscription/membership.ts';
import { toId, toMs, toStoredSeats } from './stripe-objects.ts';

// Reads Stripe's invoices: what they sell, what they credit, and what they come to.

type Line = Stripe.InvoiceLineItem;

const getDetails = ({ parent }: Line) => parent?.invoice_item_details ?? parent?.subscription_item_details;

const isProration = (line: Line): boolean => getDetails(line)?.proration === true;

/** A credit for the unused time of a plan before. */
const isUnusedTime = (line: Line): boolean =>
  isProration(line) && (line.amount < 0 || getDetails(line)?.proration_details?.credited_items != null);

/**
 * A sale is decided by what a line is for: a discount may have taken its whole amount, and prorations of subscriptions
 * that do not itemize discounts then have none. The time of a trial, or of a free plan, is a line of 0 that is no
 * proration.
 */
const isSale = (line: Line): boolean =>
  !isUnusedTime(line) && (line.amount > 0 || (line.amount === 0 && isProration(line)));

const sumDiscounts = ({ discount_amounts: discounts }: Line): number =>
  (discounts ?? []).reduce((sum, { amount }) => sum + amount, 0);

/** One line of a sale. */
interface SoldLine {
  productId: string;
  priceId: string;
  /** Before discounts, if the subscription itemizes them. */
  amountCents: number;
  seats: number;
  periodEnd: number;
}

/** The lines of a sale, without credits, the longest first. */
export function soldLines(invoice: Stripe.Invoice): SoldLine[] {
  return invoice.lines.data
    .filter(isSale)
    .flatMap(({ pricing, amount, quantity, period }) => {
      const { product: productId, price } = pricing?.price_details ?? {};
      if (productId === undefined || price === undefined) return [];
      const seats = quantity ?? 1;
      return [{ productId, priceId: toId(price), amountCents: amount, seats, periodEnd: toMs(period.end) }];
    })
    .sort((one, other) => other.periodEnd - one.periodEnd || other.amountCents - one.amountCents);
}

/** The amounts that discounts took off what was sold: those of credits belong to earlier sales. */
export const soldDiscountCents = (invoice: Stripe.Invoice): number =>
  invoice.lines.data.filter(isSale).reduce((sum, line) => sum + sumDiscounts(line), 0);

/** Tests whether discounts apply to what was sold. Where they are not itemized, their amounts are 0. */
export const isDiscounted = (invoice: Stripe.Invoice): boolean =>
  invoice.lines.data.some((line) => isSale(line) && (line.discount_amounts ?? []).length > 0);

/** The credit for unused time, as it was paid: after discounts. */
export const unusedCents = (invoice: Stripe.Invoice): number =>
  invoice.lines.data.filter(isUnusedTime).reduce((sum, line) => sum - (line.amount - sumDiscounts(line)), 0);

/**
 * The seats of the paid plan: those of the subscription, which an operator can change. In a period that is not paid yet
 * they are no more than before: further seats of a renewal are given when it is paid.
 */
function seatsGiven(
  { quantity = 1, current_period_end }: Stripe.SubscriptionItem,
  paid: SoldLine,
  seatsBefore: number | null,
): number {
  const isPaid = paid.periodEnd >= toMs(current_period_end);
  return isPaid ? quantity : Math.min(quantity, Math.max(paid.seats, seatsBefore ?? 1));
}

interface OwnItem {
  pricedPlanId: PlanId | null;
  /** Of the subscription. */
  item: Stripe.SubscriptionItem | undefined;
  /** The stored number; null: one. */
  seatsBefore: number | null;
}

/** The plan of the newest paid invoice, its end and its seats. While another plan is not paid, they are the invoice's. */
export async function lastPaid(
  invoices: readonly Stripe.Invoice[],
  { planOfProduct }: { planOfProduct(productId: string): Promise<PlanId | null> },
  { pricedPlanId, item, seatsBefore }: OwnItem,
): Promise<{ paidPlanId: PlanId | null; paidUntil: number | null; seats: number | null }> {
  for (const invoice of invoices) {
    if (invoice.status !== 'paid') continue;
    const [line] = soldLines(invoice);
    if (!line) continue;
    const paidPlanId = await planOfProduct(line.productId);
    const seats = item && paidPlanId === pricedPlanId ? seatsGiven(item, line, seatsBefore) : line.seats;
    return { paidPlanId, paidUntil: line.periodEnd, seats: toStoredSeats(seats) };
  }
  return { paidPlanId: null, paidUntil: null, seats: null };
}

export const toSubscriptionId = (invoice: Stripe.Invoice): StripeSubscriptionId | null => {
  const subscription = invoice.parent?.subscription_details?.subscription;
  return subscription ? toStripeSubscriptionId(toId(subscription)) : null;
};

/** Tests for a sale: trials and free plans have lines of zero. */
export const hasSoldLines = (invoice: Stripe.Invoice): boolean => soldLines(invoice).length > 0;

/**
 * The customer's balance after an invoice, which Stripe only tells of finalized ones. Below 0: the customer's credit;
 * above 0: owed.
 */
export const balanceLeft = ({
  starting_balance: before,
  total,
  amount_due: due,
}: Pick<Stripe.Invoice, 'starting_balance' | 'total' | 'amount_due'>): number => before + total - due;

/** The used part of the user's credit. */
export const usedCreditCents = (invoice: Stripe.Invoice): number =>
  Math.max(0, Math.min(0, balanceLeft(invoice)) - Math.min(0, invoice.starting_balance));

/** The debt that the invoice leaves; below 0: one from before that it has charged. */
export const addedDebtCents = (invoice: Stripe.Invoice): number =>
  Math.max(0, balanceLeft(invoice)) - Math.max(0, invoice.starting_balance);

/** The rate of a tax. */
export interface TaxRate {
  /** Stripe's name for it; null for VAT, which has a name in each language. */
  name: string | null;
  percent: number;
}

/**
 * A line of what an invoice comes to; below 0 for what is taken off. `plan`: a whole period of the bought plan; `rest`:
 * the rest of one; `other`: anything else that is on the invoice; `promo`: a discount; `unused`: the time of the plan
 * before; `credit`: the used part of the user's credit; `kept`: what becomes their credit; `owed`: a debt from before;
 * `small`: too little to be charged, so it is owed from then on.
 */
export interface AmountLine {
  kind: 'plan' | 'rest' | 'other' | 'promo' | 'unused' | 'tax' | 'credit' | 'kept' | 'owed' | 'small';
  cents: number;
  /** Stripe's words for `other`. */
  text?: string;
  /** Of a tax. */
  tax?: { rateId: string | null; isReverseCharge: boolean; rate?: TaxRate | undefined };
}

const unlessZero = (kind: AmountLine['kind'], cents: number): AmountLine[] => (cents === 0 ? [] : [{ kind, cents }]);

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);

/**
 * The taxes of an invoice, one for each rate. Exclusive ones are added to its lines, inclusive ones are in them. One of 0
 * is named if the customer owes it themselves.
 */
export function listTaxes({ total_taxes: taxes }: Stripe.Invoice, behaviour: 'exclusive' | 'inclusive'): AmountLine[] {
  const byRate = new Map<string, AmountLine>();
  for (const { amount, tax_behavior, tax_rate_details: details, taxability_reason: reason } of taxes ?? []) {
    if (tax_behavior !== behaviour) continue;
    const isReverseCharge = reason === 'reverse_charge';
    const key = `${details?.tax_rate} ${isReverseCharge}`;
    const cents = amount + (byRate.get(key)?.cents ?? 0);
    byRate.set(key, { kind: 'tax', cents, tax: { rateId: details?.tax_rate ?? null, isReverseCharge } });
  }
  return [...byRate.values()].filter(({ cents, tax }) => cents !== 0 || tax?.isReverseCharge);
}

/** Taxes that are added to the prices; others are in them. */
const addedTaxCents = (invoice: Stripe.Invoice): number =>
  sum(listTaxes(invoice, 'exclusive').map(({ cents }) => cents));

/** All taxes of an invoice. */
export const allTaxCents = ({ total_taxes: taxes }: Stripe.Invoice): number =>
  sum((taxes ?? []).map(({ amount }) => amount));

function listItems(invoice: Stripe.Invoice, productId: string): AmountLine[] {
  return invoice.lines.data.flatMap((line): AmountLine[] => {
    const { amount: cents, pricing, description } = line;
    if (isSale(line) && pricing?.price_details?.product === productId) {
      return [{ kind: isProration(line) ? 'rest' : 'plan', cents }];
    }
    return isUnusedTime(line) || cents === 0 ? [] : [{ kind: 'other', cents, text: description ?? '' }];
  });
}

/** Everything between the invoice's total and its amount due. */
function listBalance(invoice: Stripe.Invoice): AmountLine[] {
  const [before, left] = [invoice.starting_balance, balanceLeft(invoice)];
  const [creditBefore, creditLeft] = [Math.min(0, before), Math.min(0, left)];
  return [
    ...unlessZero('credit', Math.min(0, creditBefore - creditLeft)),
    ...unlessZero('kept', Math.max(0, creditBefore - creditLeft)),
    ...unlessZero('owed', Math.max(0, before)),
    ...unlessZero('small', Math.min(0, 0 - left)),
  ];
}

/** Of an invoice among these: the credit for unused time, and the part of it that stays the user's credit. */
export function toUnusedTime(invoices: readonly Stripe.Invoice[], invoiceId: string) {
  const invoice = invoices.find(({ id }) => id === invoiceId);
  const credit = invoice && listBalance(invoice).find(({ kind }) => kind === 'kept');
  return { unused: invoice ? unusedCents(invoice) : 0, keptCredit: credit?.cents ?? 0 };
}

/**
 * The lines of an invoice, which add up to its amount due.
 * @param productId of the bought plan
 * @returns undefined if Stripe's amounts do not agree with each other: then nothing can be announced
 */
export function toAmountLines(invoice: Stripe.Invoice, productId: string): AmountLine[] | undefined {
  const paidLines = invoice.lines.data.filter((line) => !isUnusedTime(line));
  const lines = [
    ...listItems(invoice, productId),
    ...unlessZero('promo', 0 - sum(paidLines.map(sumDiscounts))),
    ...unlessZero('unused', 0 - unusedCents(invoice)),
    ...listTaxes(invoice, 'exclusive'),
  ];
  return sum(lines.map(({ cents }) => cents)) === invoice.total ? [...lines, ...listBalance(invoice)] : undefined;
}

/** A renewal with an attempted charge. */
export const wasTried = (invoice: Stripe.Invoice) =>
  invoice.attempted && invoice.billing_reason === 'subscription_cycle' && hasSoldLines(invoice);

/** An attempted charge without success until now. */
export const isUnpaidRenewal = (invoice: Stripe.Invoice) => invoice.status === 'open' && wasTried(invoice);

/**
 * The invoices that made a subscription past due, or that keep one paused: Stripe may call that of a scheduled plan, and
 * that of a resumption, an update.
 */
export const listOverdue = (subscriptions: readonly Stripe.Subscription[]): Set<string> =>
  new Set(
    subscriptions.flatMap(({ status, pending_update: change, latest_invoice: latest }) =>
      (status === 'past_due' || status === 'paused') && !change && latest ? [toId(latest)] : [],
    ),
  );

/**
 * The first day on which a charge is without a discount that is on the invoice: one that is used once ends with the
 * period that it pays. On the last day of another, a renewal at an earlier time of day still has it.
 */
function toDiscountEnd(discount: AppliedDiscount | null, periodEnd: number | null, at: number | null): number | null {
  if (discount === null || discount.duration === 'forever') return null;
  if (discount.duration === 'once') return periodEnd;
  const { endsAt } = discount;
  if (endsAt === null || at === null) return endsAt;
  return endsAt % dayMs > at % dayMs ? endsAt + dayMs : endsAt;
}

/** The discount of a charge, and that of the customer, which comes after it. */
export interface ChargeDiscounts {
  discount: AppliedDiscount | null;
  customerDiscount: CustomerDiscount | null;
  at: number | null;
  /** Of the plan; null: unknown. */
  period: ChargePeriod | null;
  /** The same without the discount: only Stripe knows the tax that is added to another amount. */
  whole?: Stripe.Invoice | undefined;
}

/** Tests whether tax is added to the prices; an invoice of 0 may have no line for it. */
const mayAddTax = ({
  total_taxes: taxes,
  automatic_tax: automatic,
  default_tax_rates: rates,
}: Stripe.Invoice): boolean =>
  taxes?.length
    ? taxes.some(
        ({ amount, tax_behavior: behaviour, taxability_reason: reason }) =>
          behaviour === 'exclusive' && (amount !== 0 || /(?<!zero_)rated$|basis_reduced$/.test(reason)),
      )
    : automatic.enabled || rates.length > 0;

/** The sold plan with the taxes that are added to it. */
const toSoldCents = (invoice: Stripe.Invoice): number =>
  sum(soldLines(invoice).map(({ amountCents }) => amountCents)) + addedTaxCents(invoice);

/** The part of an announced charge that does not depend on the user's balance. */
export function toRegularAmounts(invoice: Stripe.Invoice, { discount, customerDiscount, at, whole }: ChargeDiscounts) {
  const [discountCents, soldCents] = [soldDiscountCents(invoice), toSoldCents(invoice)];
  const [{ periodEnd } = { periodEnd: null }] = soldLines(invoice);
  const endsAt = discountCents === 0 ? null : toDiscountEnd(discount, periodEnd, at);
  const other = customerDiscount === discount ? null : customerDiscount;
  const isFollowed = endsAt !== null && other !== null && appliesAt(other, endsAt);
  // The tax of another amount is another; and another discount may follow.
  const isTaxed = discountCents !== 0 && mayAddTax(invoice);
  const wholeCents = isTaxed ? whole && toSoldCents(whole) : soldCents;
  return {
    discountCents,
    discountEndsAt: endsAt,
    regularCents: isFollowed ? null : (wholeCents ?? null),
    ...(isTaxed && { eachCents: soldCents - discountCents }),
    taxCents: allTaxCents(invoice),
    currency: invoice.currency,
  };
}
