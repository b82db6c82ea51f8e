import type Stripe from 'stripe';
import type { StripeInvoiceId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import { type Plan, planAfterYear } from '../catalogue/catalogue.ts';
import { withPresentPrices } from '../catalogue/prices.ts';
import type { BillingDeps } from '../deps.ts';
import type { Quote } from '../results.ts';
import { balanceWithoutPending, previewLaterPlan } from '../stripe/next-charge.ts';
import { readInvoice } from '../stripe/read-stripe-snapshot.ts';
import { previewTaxed } from '../stripe/stripe-client.ts';
import {
  readChangeKind,
  readSubscription,
  type Viewed,
  viewedSubscription,
} from '../subscription/changeable-subscription.ts';
import { toFullPeriodEnd, trialPlanKey } from '../subscription/membership.ts';
import { type ChosenPlan, quoteNow, toAmounts } from './quote.ts';
import { endOfTrial, findTrialOffer } from './trial-offer.ts';
import { nothingDue, quoteTrial } from './trial-quote.ts';

/** A plan that waits for its payment costs the amount of its invoice. */
async function toPendingQuote(deps: BillingDeps, due: Quote, invoiceId: StripeInvoiceId): Promise<Quote> {
  const { invoice } = await readInvoice(deps.stripe, invoiceId);
  return invoice.status === 'open' ? { ...due, ...(await toAmounts(deps, due.plan, invoice)) } : due;
}

/** A change at the end of the paid period costs nothing today. @throws {StripeUnavailableError} */
async function quoteLater(
  deps: BillingDeps,
  { membership: stored, subscriptionId }: Viewed,
  plan: Plan,
): Promise<Quote> {
  // The choice of another plan gives a waiting payment up.
  const membership = { ...stored, balanceCents: await balanceWithoutPending(deps, stored) };
  const startsAt = toFullPeriodEnd(membership) ?? deps.now();
  const subscription = subscriptionId === null ? null : await readSubscription(deps, subscriptionId);
  // A plan that goes on is not sold anew.
  const sale =
    membership.pricedPlanId === plan.id
      ? {}
      : { ask: (params: Stripe.InvoiceCreatePreviewParams) => previewTaxed(deps, params) };
  const next =
    subscription &&
    (await withPresentPrices(deps, () => previewLaterPlan(deps, { membership, subscription, ...sale }, plan)));
  return {
    ...nothingDue(plan, startsAt),
    when: 'later',
    amountCents: plan.amountCents,
    next,
    following: planAfterYear(deps.catalogue, plan),
  };
}

/**
 * The price of a plan for this user; the amount today is Stripe's own preview of the call that the purchase would make.
 * @param chosen.withTrial whether it may begin with free days
 * @throws {StripeUnavailableError}
 */
export async function quotePlan(
  deps: BillingDeps,
  user: User,
  { plan, promotion, withTrial = false }: ChosenPlan & { withTrial?: boolean },
): Promise<Quote> {
  if (plan.kind !== 'paid') return nothingDue(plan, deps.now());
  const live = await viewedSubscription(deps, user);
  const { pricedPlanId, pending } = live.membership;
  const kind = await readChangeKind(deps, live.membership, plan);
  if (kind === 'later' || (kind === 'none' && pricedPlanId !== trialPlanKey)) return quoteLater(deps, live, plan);
  const offer = withTrial ? await findTrialOffer(deps, user, { membership: live.membership, plan }) : undefined;
  const endsAt = offer?.days === undefined ? undefined : endOfTrial(offer.days, deps.now());
  const trial = endsAt === undefined ? undefined : await quoteTrial(deps, live, { plan, promotion, endsAt });
  if (trial) return { ...trial.due, next: await trial.previewNext() };
  const { due, previewNext } = await quoteNow(deps, live, { plan, promotion });
  const refused = offer?.refused;
  const quote: Quote = { ...due, next: await previewNext(), ...(refused && { trial: { refused } }) };
  const isPending = pending?.planId === plan.id && (pending.seats ?? 1) === (plan.chosenSeats ?? 1);
  return isPending ? toPendingQuote(deps, quote, pending.invoiceId) : quote;
}

/** The same with the free days that the plan may begin with. @throws {StripeUnavailableError} */
export const quoteOnPage = (deps: BillingDeps, user: User, chosen: ChosenPlan): Promise<Quote> =>
  quotePlan(deps, user, { ...chosen, withTrial: true });
