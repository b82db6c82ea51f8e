import type Stripe from 'stripe';
import { type ChargePeriod, type Plan, planAfterYear, toQuantity } from '../catalogue/catalogue.ts';
import { withAnchor, withPresentPrices } from '../catalogue/prices.ts';
import type { BillingDeps } from '../deps.ts';
import { type ChosenPromotion, type Quote, StripeUnavailableError } from '../results.ts';
import { billingMode } from '../stripe/billing-mode.ts';
import { toLaterCharge } from '../stripe/next-charge.ts';
import { previewTaxed, readTaxRate } from '../stripe/stripe-client.ts';
import {
  type AmountLine,
  balanceLeft,
  listTaxes,
  soldDiscountCents,
  soldLines,
  toAmountLines,
  unusedCents,
  usedCreditCents,
} from '../stripe/stripe-invoices.ts';
import { toMs } from '../stripe/stripe-objects.ts';
import { getItem, readChangeKind, readSubscription, type Viewed } from '../subscription/changeable-subscription.ts';
import {
  type AppliedDiscount,
  discountAfter,
  discountEnd,
  type NextCharge,
  previewDiscounts,
} from '../subscription/membership.ts';
import { dropPromotion, getQuotedDate } from './purchase-store.ts';

/** The parameters for a change of plan now, equal for the preview and the charge. */
interface ChangeParams {
  /** Without an id: a new subscription. */
  items: { id?: string; price?: string; quantity?: number | undefined }[];
  endTrial: boolean;
  /** The end of the free days with which the plan begins. Seconds. */
  trialEnd?: number | undefined;
  /** Seconds; null: no proration. */
  prorationDate: number | null;
  /** Of a subscription that goes on: the period of its charges. */
  period?: ChargePeriod | null;
}

/** A plan with its promotion code. */
export interface ChosenPlan {
  plan: Plan;
  promotion: ChosenPromotion | null;
}

export async function changeParams(
  deps: BillingDeps,
  live: Viewed,
  { plan, promotion }: ChosenPlan,
): Promise<ChangeParams> {
  const { membership, subscriptionId, subscription: read } = live;
  const quantity = toQuantity(deps.catalogue, plan, membership);
  const seats = quantity === undefined ? {} : { quantity };
  if (subscriptionId === null)
    return { items: [{ price: await deps.prices.priceIdFor(plan), ...seats }], endTrial: false, prorationDate: null };
  const [subscription, price] = await Promise.all([
    read ?? readSubscription(deps, subscriptionId),
    // Another number of seats has the price that the user has, which may be archived.
    membership.pricedPlanId === plan.id && plan.chosenSeats !== undefined ? undefined : deps.prices.priceIdFor(plan),
  ]);
  const item = getItem(subscription);
  const isUpgrade = (await readChangeKind(deps, membership, plan)) === 'upgrade';
  const { id: planId, chosenSeats: ownSeats = null } = plan;
  const upgrade = { planId, seats: ownSeats, promotion, periodStart: item.current_period_start };
  return {
    items: [{ id: item.id, ...(price !== undefined && { price }), ...seats }],
    endTrial: subscription.status === 'trialing',
    ...(isUpgrade && { period: withAnchor(plan.period, membership.price, subscription) }),
    prorationDate: isUpgrade ? await getQuotedDate(deps, { ...live, subscriptionId }, upgrade) : null,
  };
}

/** The same in Stripe's terms; for the call and, under `subscription_details`, for the preview. */
export const toStripeParams = ({ items, endTrial, trialEnd, prorationDate }: ChangeParams) => ({
  items,
  ...(trialEnd !== undefined && { trial_end: trialEnd }),
  ...(endTrial && { trial_end: 'now' as const }),
  ...(prorationDate === null
    ? { proration_behavior: 'none' as const }
    : { proration_behavior: 'always_invoice' as const, proration_date: prorationDate }),
});

/** The amount due now, and what it costs later: that is another request. */
export interface Priced {
  due: Quote;
  params: ChangeParams;
  /** @throws {StripeUnavailableError} */
  previewNext(): Promise<NextCharge>;
}

/** A code that is redeemed with this invoice: by Stripe's clock, which its periods follow too. */
function toRedeemed(promotion: ChosenPromotion, { created }: Stripe.Invoice): AppliedDiscount {
  return { ...promotion, endsAt: discountEnd(promotion, toMs(created)) };
}

const onceOnly: readonly AmountLine['kind'][] = ['rest', 'other', 'unused'];

/** Tests whether the lines of an invoice are those of every period. */
const isWhole = ({ lines }: Pick<Quote, 'lines'>): boolean => lines.every(({ kind }) => !onceOnly.includes(kind));

/** The monthly plan that follows a yearly one, instead of the bought one. */
async function followingDetails(
  { prices }: BillingDeps,
  { params, isMade }: { params: ChangeParams; isMade: boolean },
  following: Plan,
): Promise<Pick<Stripe.InvoiceCreatePreviewParams, 'subscription_details'>> {
  const price = await prices.priceIdFor(following);
  const items = params.items.map((item) => ({ ...item, price }));
  return {
    subscription_details: isMade
      ? toStripeParams({ ...params, items, prorationDate: null })
      : { items, billing_mode: billingMode },
  };
}

/** The period of the charges after this one. */
const toChargePeriod = (plan: Plan, { period }: ChangeParams, { created }: Stripe.Invoice): ChargePeriod | null =>
  plan.period && { anchorMs: toMs(created), ...(period ?? plan.period) };

/** @throws {StripeUnavailableError} */
async function preview(
  deps: BillingDeps,
  { customerId, subscriptionId, membership }: Viewed,
  { plan, promotion, params }: ChosenPlan & { params: ChangeParams },
): Promise<Priced> {
  const first = params.prorationDate === null;
  const isMade = subscriptionId !== null;
  const call: Stripe.InvoiceCreatePreviewParams = {
    customer: customerId,
    ...(isMade && { subscription: subscriptionId }),
    subscription_details: isMade ? toStripeParams(params) : { items: params.items, billing_mode: billingMode },
  };
  const { customerDiscount } = membership;
  const known = { discount: isMade ? membership.discount : null, customerDiscount };
  // Before the first purchase, leftovers of an earlier attempt are removed; after it, the discount belongs to the user.
  const own = first ? null : membership.discount;
  const ask = (discount: AppliedDiscount | null, more: Stripe.InvoiceCreatePreviewParams = {}) =>
    previewTaxed(deps, { ...call, ...previewDiscounts(known, discount), ...more });
  const invoice = await ask(promotion ?? own ?? customerDiscount);
  const amounts = await toAmounts(deps, plan, invoice);
  const discount = promotion ? toRedeemed(promotion, invoice) : (own ?? customerDiscount);
  const following = planAfterYear(deps.catalogue, plan);
  const due: Quote = {
    plan,
    when: 'now',
    isNewContract: first,
    amountCents: plan.amountCents,
    ...amounts,
    next: null,
    following,
    startsAt: deps.now(),
    promotion,
    discountCode: discount?.code,
  };
  return {
    due,
    params,
    async previewNext() {
      const { renewsAt: at } = amounts;
      const charge = { customerDiscount, balanceCents: balanceLeft(invoice), at };
      if (following) {
        const next = discountAfter(discount, customerDiscount, { at, amountCents: following.amountCents });
        const details = await followingDetails(deps, { params, isMade }, following);
        const ofMonth = await ask(next, { ...details, preview_mode: 'recurring' });
        const askWhole = () => ask(null, { ...details, preview_mode: 'recurring' });
        return toLaterCharge(ofMonth, { ...charge, discount: next, period: following.period, askWhole });
      }
      const next = discountAfter(discount, customerDiscount, { at });
      // The balance is apart.
      const isSame = next === discount || (next === null && amounts.discountCents === 0);
      const later = isSame && isWhole(amounts) ? invoice : await ask(next, { preview_mode: 'recurring' });
      const period = toChargePeriod(plan, params, invoice);
      const askWhole = () => ask(null, { preview_mode: 'recurring' });
      return toLaterCharge(later, { ...charge, discount: next, period, askWhole });
    },
  };
}

/**
 * The changes of the member's balance that the amount of today does not tell: what is too small to be charged, and the
 * credit that pays all of it.
 */
export function toBalanceChange({ when, lines, dueCents, usedCreditCents }: Quote) {
  if (when === 'later') return { owedCents: 0, unsaidCreditCents: 0 };
  const owedCents = Math.abs(lines.find(({ kind }) => kind === 'small')?.cents ?? 0);
  return { owedCents, unsaidCreditCents: dueCents === 0 ? usedCreditCents : 0 };
}

/** Adds the rates of the taxes among the lines. */
const withTaxRates = (deps: BillingDeps, lines: readonly AmountLine[]): Promise<AmountLine[]> =>
  Promise.all(
    lines.map(async (line): Promise<AmountLine> => {
      const { tax } = line;
      return tax?.rateId ? { ...line, tax: { ...tax, rate: await readTaxRate(deps, tax.rateId) } } : line;
    }),
  );

/**
 * The amounts of an invoice or its preview.
 * @throws {StripeUnavailableError} if they do not add up: a charge that cannot be explained is not announced
 */
export async function toAmounts(
  deps: BillingDeps,
  plan: Plan,
  invoice: Stripe.Invoice,
): Promise<
  Pick<Quote, 'discountCents' | 'unusedCents' | 'usedCreditCents' | 'dueCents' | 'lines' | 'includedTaxes' | 'renewsAt'>
> {
  const { prices, log } = deps;
  const lines = toAmountLines(invoice, await prices.productIdFor(plan));
  if (!lines) {
    const { id, total, subtotal, amount_due, starting_balance, total_discount_amounts, total_taxes } = invoice;
    const amounts = { total, subtotal, amount_due, starting_balance, total_discount_amounts, total_taxes };
    const items = invoice.lines.data.map(({ amount, discount_amounts }) => ({ amount, discount_amounts }));
    log.error({ act: 'quote', invoice: id, ...amounts, items }, 'lines of an invoice do not add up to its total');
    throw new StripeUnavailableError(`the lines of ${id} do not add up to its total`);
  }
  return {
    discountCents: soldDiscountCents(invoice),
    unusedCents: unusedCents(invoice),
    usedCreditCents: usedCreditCents(invoice),
    dueCents: invoice.amount_due,
    lines: await withTaxRates(deps, lines),
    includedTaxes: await withTaxRates(deps, listTaxes(invoice, 'inclusive')),
    renewsAt: soldLines(invoice)[0]?.periodEnd ?? null,
  };
}

/**
 * The amount due now, and the parameters for Stripe. A promotion code that has become invalid is removed from the
 * purchase; an amount that an operator has changed is read again.
 * @throws {StripeUnavailableError}
 */
export async function quoteNow(deps: BillingDeps, live: Viewed, { plan, promotion }: ChosenPlan): Promise<Priced> {
  const ask = async (input: ChosenPromotion | null) => {
    const params = await changeParams(deps, live, { plan, promotion: input });
    return preview(deps, live, { plan, promotion: input, params });
  };
  const priced = await withPresentPrices(
    deps,
    () => ask(promotion),
    async () => {
      if (promotion !== null) await dropPromotion(deps, live.membership.userId);
      return ask(null);
    },
  );
  return { ...priced, previewNext: () => withPresentPrices(deps, priced.previewNext) };
}
