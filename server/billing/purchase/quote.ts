import { hourMs, type UserId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import { changeKind } from '../catalogue/effective-plan.ts';
import type { BillingDeps } from '../deps.ts';
import { type ChosenPromotion, type Quote, StripeUnavailableError } from '../results.ts';
import { billingMode } from '../stripe/billing-mode.ts';
import { callStripe, toStripeRefusal } from '../stripe/stripe-client.ts';
import { soldDiscountCents, soldLines, unusedCents, usedCreditCents } from '../stripe/stripe-objects.ts';
import { getItem, readSubscription, type Viewed, viewedSubscription } from '../subscription/changeable-subscription.ts';
import { type AppliedDiscount, trialPlanKey } from '../subscription/membership.ts';
import { toDiscountParam } from './charge.ts';
import { discountOn, exceedsAmount } from './discount-rules.ts';
import { changePurchase, findOpenPurchase } from './purchase-store.ts';

/** The parameters for a change of plan now, equal for the preview and the charge. */
export interface ChangeParams {
  /** Without an id: a new subscription. */
  items: { id?: string; price: string }[];
  endTrial: boolean;
  /** Seconds; null: no proration. */
  prorationDate: number | null;
}

async function changeParams(
  deps: BillingDeps,
  { membership, subscriptionId, subscription: read }: Viewed,
  plan: Plan,
): Promise<ChangeParams> {
  if (subscriptionId === null) {
    return { items: [{ price: await deps.prices.priceIdFor(plan) }], endTrial: false, prorationDate: null };
  }
  const [subscription, price] = await Promise.all([
    read ?? readSubscription(deps, subscriptionId),
    deps.prices.priceIdFor(plan),
  ]);
  const upgrade = changeKind(deps.catalogue, membership, plan) === 'upgrade';
  const item = getItem(subscription);
  // Whole hours: an announced amount stays equal when the button is pressed some minutes later.
  const hourBegan = Math.floor(deps.now() / hourMs) * (hourMs / 1000);
  return {
    items: [{ id: item.id, price }],
    endTrial: subscription.status === 'trialing',
    prorationDate: upgrade ? Math.max(hourBegan, item.current_period_start) : null,
  };
}

/** The same in Stripe's terms; for the call and, under `subscription_details`, for the preview. */
export const toStripeParams = ({ items, endTrial, prorationDate }: ChangeParams) => ({
  items,
  ...(endTrial && { trial_end: 'now' as const }),
  ...(prorationDate === null
    ? { proration_behavior: 'none' as const }
    : { proration_behavior: 'always_invoice' as const, proration_date: prorationDate }),
});

/** The amount of each renewal, with discounts that last longer than today. */
function laterCents(plan: Plan, discount: AppliedDiscount | null): number {
  const recurs = discount !== null && discount.duration !== 'once';
  return plan.amountCents - (recurs ? discountOn(plan.amountCents, discount) : 0);
}

/** A plan with its promotion code. */
interface ChosenPlan {
  plan: Plan;
  promotion: ChosenPromotion | null;
}

/** @throws {StripeUnavailableError} */
async function preview(
  deps: BillingDeps,
  viewed: Viewed,
  { plan, promotion, params }: ChosenPlan & { params: ChangeParams },
): Promise<Quote> {
  const { customerId, subscriptionId, membership } = viewed;
  const first = params.prorationDate === null;
  const isMade = subscriptionId !== null;
  const invoice = await callStripe(deps.stripe, (stripe) =>
    stripe.invoices.createPreview({
      customer: customerId,
      ...(isMade && { subscription: subscriptionId }),
      subscription_details: isMade ? toStripeParams(params) : { items: params.items, billing_mode: billingMode },
      // Before the first purchase, leftovers of an earlier attempt are removed; after it, the discount belongs to the
      // user.
      ...(promotion
        ? { discounts: [toDiscountParam(promotion)] }
        : isMade && first && membership.discount && { discounts: '' as const }),
    }),
  );
  const state = promotion ?? (first ? null : membership.discount);
  const [line] = soldLines(invoice);
  const nowMs = deps.now();
  return {
    plan,
    when: 'now',
    amountCents: plan.amountCents,
    discountCents: soldDiscountCents(invoice),
    unusedCents: unusedCents(invoice),
    usedCreditCents: usedCreditCents(invoice),
    dueCents: invoice.amount_due,
    laterCents: laterCents(plan, state),
    renewsAt: line?.periodEnd ?? null,
    startsAt: nowMs,
    promotion,
    discountCode: state?.code,
  };
}

/**
 * The amount due now, and the parameters for Stripe. A promotion code that has become invalid is removed from the
 * purchase; an amount that an operator has changed is read again.
 * @throws {StripeUnavailableError}
 */
export async function quoteNow(
  deps: BillingDeps,
  live: Viewed,
  { plan, promotion }: ChosenPlan,
): Promise<{ due: Quote; params: ChangeParams }> {
  const ask = async (input: ChosenPromotion | null) => {
    const params = await changeParams(deps, live, plan);
    return { due: await preview(deps, live, { plan, promotion: input, params }), params };
  };
  try {
    return await ask(promotion);
  } catch (error) {
    if (toStripeRefusal(error)?.type !== 'StripeInvalidRequestError') throw error;
    deps.prices.forget();
  }
  if (promotion !== null) await dropPromotion(deps, live.membership.userId);
  try {
    return await ask(null);
  } catch (error) {
    const refusal = toStripeRefusal(error);
    throw refusal ? new StripeUnavailableError(refusal.message, { cause: error }) : error;
  }
}

async function dropPromotion(deps: BillingDeps, userId: UserId): Promise<void> {
  const open = await findOpenPurchase(deps.database.db, userId);
  if (open?.state === 'open') await changePurchase(deps, open, { promotion: null });
}

/** A change at the end of the paid period costs nothing today. */
function quoteLater({ membership }: Viewed, plan: Plan, nowMs: number): Quote {
  const startsAt = membership.periodEnd ?? nowMs;
  const { discount } = membership;
  // A discount that exceeds the plan's price is not applied (scheduled-change.ts).
  const state =
    discount?.duration === 'once' || (discount && exceedsAmount(plan.amountCents, discount)) ? null : discount;
  return {
    plan,
    when: 'later',
    amountCents: plan.amountCents,
    discountCents: 0,
    unusedCents: 0,
    usedCreditCents: 0,
    dueCents: 0,
    laterCents: laterCents(plan, state),
    renewsAt: startsAt,
    startsAt,
    promotion: null,
  };
}

/**
 * The price of a plan for this user; the amount today is Stripe's own preview of the call that the purchase would make.
 * @throws {StripeUnavailableError}
 */
export async function quotePlan(deps: BillingDeps, user: User, { plan, promotion }: ChosenPlan): Promise<Quote> {
  const nowMs = deps.now();
  if (plan.kind !== 'paid') {
    return {
      plan,
      when: 'now',
      amountCents: 0,
      discountCents: 0,
      unusedCents: 0,
      usedCreditCents: 0,
      dueCents: 0,
      laterCents: 0,
      renewsAt: nowMs,
      startsAt: nowMs,
      promotion: null,
    };
  }
  const live = await viewedSubscription(deps, user);
  const { pricedPlanId, pending } = live.membership;
  const kind = changeKind(deps.catalogue, live.membership, plan);
  if (kind === 'later' || (kind === 'none' && pricedPlanId !== trialPlanKey)) return quoteLater(live, plan, nowMs);
  const { due } = await quoteNow(deps, live, { plan, promotion });
  // A plan that waits for its payment costs the amount of its invoice.
  return pending?.planId === plan.id ? { ...due, dueCents: pending.amountCents } : due;
}
