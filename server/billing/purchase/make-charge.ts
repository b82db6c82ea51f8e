import type Stripe from 'stripe';
import type { User } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import type { DisplayedQuote, PurchaseView } from '../results.ts';
import { isTaxed } from '../stripe/stripe-client.ts';
import { toId } from '../stripe/stripe-objects.ts';
import { type ChangeableSubscription, getItem } from '../subscription/changeable-subscription.ts';
import { isDebit, toDiscountParam, toLaterAmounts } from '../subscription/membership.ts';
import { readScheduledPrices } from '../subscription/scheduled-change.ts';
import type { Charge } from './charge.ts';
import { type Priced, quoteNow } from './quote.ts';
import { endOfTrial, findAnnouncedEnd, findTrialOffer } from './trial-offer.ts';
import { quoteTrial } from './trial-quote.ts';

/**
 * The amount of a purchase now, with the free days that its page has named, or without any.
 * @returns undefined: the plan begins with other free days than the page has named
 * @throws {StripeUnavailableError}
 */
export async function priceAsAnnounced(
  deps: BillingDeps,
  { user, announced: { trialEnd } }: { user: User; announced: Pick<DisplayedQuote, 'trialEnd'> },
  { live, purchase }: { live: ChangeableSubscription; purchase: PurchaseView },
): Promise<Priced | undefined> {
  const { plan, promotion } = purchase;
  if (trialEnd === undefined) return quoteNow(deps, live, purchase);
  const days = (await findTrialOffer(deps, user, { membership: live.membership, plan }))?.days;
  const announced = days === undefined ? undefined : findAnnouncedEnd(days, trialEnd, deps.now());
  const endsAt = announced ?? (days === undefined ? undefined : endOfTrial(days, deps.now()));
  const trial = endsAt === undefined ? undefined : await quoteTrial(deps, live, { plan, promotion, endsAt });
  if (trial) return announced === undefined ? undefined : trial;
  return trialEnd === null ? quoteNow(deps, live, purchase) : undefined;
}

type AnnouncedLater = Pick<Charge, 'laterCents' | 'followingPriceId' | 'scheduledPrices' | 'requestToBegin'>;

/** The later amounts, if the page has named them, and the prices that the charge keeps. */
export async function readLater(
  deps: BillingDeps,
  { due: { following }, previewNext }: Priced,
  { announced, subscription }: { announced: DisplayedQuote; subscription: Stripe.Subscription },
): Promise<AnnouncedLater> {
  const laterCents = announced.laterCents === undefined ? undefined : toLaterAmounts(await previewNext());
  return {
    laterCents,
    ...(following && { followingPriceId: await deps.prices.priceIdFor(following) }),
    ...(subscription.schedule !== null && { scheduledPrices: await readScheduledPrices(deps, subscription) }),
  };
}

/** The record that is written before the call to Stripe. */
export function toCharge(
  { now, catalogue }: Pick<BillingDeps, 'now' | 'catalogue'>,
  { subscription, subscriptionId, membership }: ChangeableSubscription,
  { due, params, ...later }: Pick<Priced, 'due' | 'params'> & AnnouncedLater,
): Charge {
  const { promotion, dueCents } = due;
  const item = getItem(subscription);
  // Without its own, the subscription has the discount of its customer.
  const withoutCode = params.prorationDate === null && membership.discount ? [] : null;
  return {
    subscriptionId,
    itemId: item.id,
    priceId: params.items[0]?.price ?? toId(item.price),
    quantity: params.items[0]?.quantity,
    prorationDate: params.prorationDate,
    endTrial: params.endTrial,
    planTrialEnd: params.trialEnd,
    discounts: promotion === null ? withoutCode : [toDiscountParam(promotion)],
    scheduledPlanId: membership.nextPlanId ?? undefined,
    announcedCents: dueCents,
    ...later,
    // A trial costs nothing, so its tax is none.
    ...(!params.endTrial && !isTaxed(catalogue, subscription) && { switchesTaxOn: true }),
    ...(isDebit(membership.card) && {
      byDebit: true,
      ...(params.endTrial && { trialEnd: subscription.trial_end ?? undefined }),
    }),
    beganAt: now(),
  };
}
