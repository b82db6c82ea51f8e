import type Stripe from 'stripe';
import { addPeriods, type Plan } from '../catalogue/catalogue.ts';
import { withPresentPrices } from '../catalogue/prices.ts';
import type { BillingDeps } from '../deps.ts';
import type { ChosenPromotion, Quote } from '../results.ts';
import { billingMode } from '../stripe/billing-mode.ts';
import { toLaterCharge } from '../stripe/next-charge.ts';
import { previewTaxed } from '../stripe/stripe-client.ts';
import type { Viewed } from '../subscription/changeable-subscription.ts';
import {
  type AppliedDiscount,
  discountAt,
  discountEnd,
  type NextCharge,
  previewDiscounts,
} from '../subscription/membership.ts';
import { dropPromotion } from './purchase-store.ts';
import { type ChosenPlan, changeParams, type Priced, toStripeParams } from './quote.ts';

export const nothingDue = (plan: Plan, startsAt: number): Quote => ({
  plan,
  when: 'now',
  amountCents: 0,
  discountCents: 0,
  unusedCents: 0,
  usedCreditCents: 0,
  dueCents: 0,
  lines: [],
  includedTaxes: [],
  next: null,
  renewsAt: startsAt,
  startsAt,
  promotion: null,
});

/** A plan that begins with free days. */
type TriedPlan = ChosenPlan & { endsAt: number };

/**
 * The amount that Stripe charges with the call itself. It is asked for the invoice of the call: of a subscription that is in a trial
 * already, that is the one at the end of the new one.
 */
function dueWithCall({ lines, amount_due: due }: Stripe.Invoice, trialEnd: number): number {
  const charged = lines.data.filter(({ amount }) => amount !== 0);
  return charged.length > 0 && charged.every(({ period }) => period.start >= trialEnd) ? 0 : due;
}

/** A discount that is used once ends with the first paid period, which the preview counts from now. */
const withDiscountEnd = (
  next: NextCharge,
  discount: AppliedDiscount | null,
  { plan, endsAt }: TriedPlan,
): NextCharge =>
  discount?.duration === 'once' && next.discountEndsAt !== null && plan.period !== null
    ? { ...next, discountEndsAt: addPeriods(endsAt, plan.period) }
    : next;

/** undefined: something would be charged today. @throws {StripeUnavailableError} */
async function preview(deps: BillingDeps, live: Viewed, tried: TriedPlan): Promise<Priced | undefined> {
  const { plan, promotion } = tried;
  const { customerId, subscriptionId, membership } = live;
  const { customerDiscount, balanceCents } = membership;
  // The code is redeemed with the call, in whole seconds as Stripe counts.
  const redeemed = promotion && {
    ...promotion,
    endsAt: discountEnd(promotion, Math.floor(deps.now() / 1_000) * 1_000),
  };
  // If it ended in the very second of the first charge, the seconds until the button is pressed would decide.
  const endsAt = redeemed?.endsAt === tried.endsAt ? tried.endsAt - 1_000 : tried.endsAt;
  const trialEnd = endsAt / 1_000;
  const params = { ...(await changeParams(deps, live, tried)), endTrial: false, trialEnd };
  const { items, ...terms } = toStripeParams(params);
  const isMade = subscriptionId !== null;
  const known = { discount: isMade ? membership.discount : null, customerDiscount };
  const ask = (discount: AppliedDiscount | null, isFirstCharge = false) =>
    previewTaxed(deps, {
      customer: customerId,
      ...(isMade && { subscription: subscriptionId }),
      subscription_details: {
        items,
        ...(!isFirstCharge && { trial_end: trialEnd }),
        ...(isMade ? { proration_behavior: terms.proration_behavior } : { billing_mode: billingMode }),
      },
      ...(isFirstCharge && { preview_mode: 'recurring' }),
      ...previewDiscounts(known, discount),
    });
  const today = await ask(promotion ?? customerDiscount);
  if (dueWithCall(today, trialEnd) !== 0) return undefined;
  const discount = discountAt({ discount: redeemed, customerDiscount }, { at: endsAt });
  return {
    due: {
      ...nothingDue(plan, deps.now()),
      amountCents: plan.amountCents,
      renewsAt: endsAt,
      promotion,
      discountCode: discount?.code,
      trial: { endsAt },
    },
    params,
    async previewNext() {
      const askWhole = () => ask(null, true);
      const charge = { discount, customerDiscount, balanceCents, at: endsAt, period: plan.period, askWhole };
      return withDiscountEnd(await toLaterCharge(await ask(discount, true), charge), discount, { ...tried, endsAt });
    },
  };
}

/**
 * A plan that begins with free days: nothing is due today, and its first charge follows at their end.
 * @returns undefined: something would be charged today, a debt for example, so that the plan is sold without free days
 * @throws {StripeUnavailableError}
 */
export async function quoteTrial(deps: BillingDeps, live: Viewed, tried: TriedPlan): Promise<Priced | undefined> {
  const ask = (promotion: ChosenPromotion | null) => preview(deps, live, { ...tried, promotion });
  const priced = await withPresentPrices(
    deps,
    () => ask(tried.promotion),
    async () => {
      if (tried.promotion !== null) await dropPromotion(deps, live.membership.userId);
      return ask(null);
    },
  );
  return priced && { ...priced, previewNext: () => withPresentPrices(deps, priced.previewNext) };
}
