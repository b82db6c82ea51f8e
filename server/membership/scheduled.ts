import type Stripe from 'stripe';
import type { Plan } from './catalogue.ts';
import { runningPlan } from './change-kind.ts';
import type { MembershipDeps } from './deps.ts';
import { exceeds } from './discount-rules.ts';
import { changingBefore } from './due-store.ts';
import { onlyItem, readSubscription } from './live-subscription.ts';
import { oneAtATime } from './member-lock.ts';
import { putDiscountsBack } from './put-back.ts';
import { nextPlanKey } from './read-stripe.ts';
import type { Membership } from './standing.ts';
import { asking } from './stripe.ts';
import { syncMember } from './sync.ts';

/**
 * What happens at the end of what is paid: another plan, or the end. Until shortly before, the subscription is only told to
 * end (nothing can be charged that was not announced, should this house be down then), with the next plan written on it. In the
 * last days its price is changed, from the period's end on. So an upgrade meanwhile still gives back what is left.
 */
const convertMs = 3 * 24 * 60 * 60_000;

function subscriptionOf({ subscriptionId }: Membership): string {
  if (subscriptionId === null) throw new Error('there is no subscription to change');
  return subscriptionId;
}

/**
 * Changes to a plan at the period's end; null: takes back what was to happen then.
 * @returns when (milliseconds since the epoch)
 * @throws {BillingUnavailable}
 */
export async function schedule(deps: MembershipDeps, membership: Membership, plan: Plan | null): Promise<number> {
  const { stripe, now } = deps;
  if (isConverted(membership)) await putPriceBack(deps, membership);
  await asking(stripe, (client) =>
    client.subscriptions.update(subscriptionOf(membership), {
      cancel_at_period_end: plan !== null,
      metadata: { [nextPlanKey]: plan?.id ?? '' },
    }),
  );
  const after = await syncMember(deps, membership.userId);
  if (plan !== null) await tryToConvert(deps, membership.userId);
  return after?.periodEnd ?? membership.periodEnd ?? now();
}

/** Ends at the period's end. @throws {BillingUnavailable} */
export async function endLater(deps: MembershipDeps, membership: Membership): Promise<void> {
  if (isConverted(membership)) await putPriceBack(deps, membership);
  await asking(deps.stripe, (client) =>
    client.subscriptions.update(subscriptionOf(membership), {
      cancel_at_period_end: true,
      metadata: { [nextPlanKey]: '' },
    }),
  );
  await syncMember(deps, membership.userId);
}

/** Whether the next plan's price is on the subscription already, waiting for the period's end. */
export const isConverted = ({ status, nextPlanId, pricedPlanId }: Membership): boolean =>
  status === 'trialing' && nextPlanId !== null && nextPlanId === pricedPlanId;

/** In the subscription's metadata: the discount that was too much for the next plan, as `<promotion code or ''>:<coupon>`. */
const leftBehindKey = 'foyer_discount_left_behind';

/** The price of the plan that is paid goes on at the period's end, which does not move; and what stayed behind with it. */
async function putPriceBack(deps: MembershipDeps, membership: Membership): Promise<void> {
  const current = runningPlan(deps.catalogue, membership);
  if (!current) return;
  const { id, metadata } = await changePrice(deps, membership, current);
  const [code, coupon] = metadata[leftBehindKey]?.split(':') ?? [];
  if (coupon === undefined) return;
  await putDiscountsBack(deps, id, [code ? { promotion_code: code } : { coupon }], coupon);
  await asking(deps.stripe, (client) => client.subscriptions.update(id, { metadata: { [leftBehindKey]: '' } }));
}

/** A fixed discount on less than it takes off is refused when it is applied; it does not make a cheaper plan free either. */
function leavingBehind({ discount }: Membership, plan: Plan): Stripe.SubscriptionUpdateParams {
  if (discount === null || exceeds(plan.amountCents, discount) === undefined) return {};
  const { promotionCodeId, couponId } = discount;
  return { discounts: '', metadata: { [leftBehindKey]: `${promotionCodeId ?? ''}:${couponId}` } };
}

async function changePrice(
  deps: MembershipDeps,
  membership: Membership,
  plan: Plan,
  ends?: false,
): Promise<Stripe.Subscription> {
  const { stripe, prices } = deps;
  const subscription = await readSubscription(deps, subscriptionOf(membership));
  const item = onlyItem(subscription);
  const price = await prices.idOf(plan);
  return asking(stripe, (client) =>
    client.subscriptions.update(subscription.id, {
      items: [{ id: item.id, price }],
      // Charged at that moment, not before.
      trial_end: item.current_period_end,
      proration_behavior: 'none',
      // A renewal like any other: with no card it is unpaid, not paused.
      trial_settings: { end_behavior: { missing_payment_method: 'create_invoice' } },
      ...(ends === false && { cancel_at_period_end: false, ...leavingBehind(membership, plan) }),
    }),
  );
}

/** @returns whether the next plan's price is on the subscription now; the caller has the member's turn */
async function convert(deps: MembershipDeps, userId: string): Promise<boolean> {
  // As it is now: the member may have taken it back.
  const current = await syncMember(deps, userId);
  const plan = deps.catalogue.byId(current?.nextPlanId);
  if (!current?.cancelAtPeriodEnd || plan?.kind !== 'paid' || current.status !== 'active') return false;
  if (current.periodEnd === null || current.periodEnd > deps.now() + convertMs) return false;
  await changePrice(deps, current, plan, false);
  await syncMember(deps, userId);
  return true;
}

/** What does not work now is tried again every minute. */
async function tryToConvert(
  deps: MembershipDeps,
  userId: string,
  inTurn: <T>(act: () => Promise<T>) => Promise<T> = (act) => act(),
): Promise<boolean> {
  try {
    return await inTurn(() => convert(deps, userId));
  } catch (error) {
    deps.log.warn({ err: error, member: userId }, 'could not prepare a change of plan');
    return false;
  }
}

/**
 * Brings changes that fall due in the next days to Stripe, each in its member's turn: who cancels at that moment has the last
 * word. Safe to run at any time.
 * @returns how many
 */
export async function convertDue(deps: MembershipDeps): Promise<number> {
  const { database, catalogue, now } = deps;
  let converted = 0;
  for (const { userId, nextPlanId } of await changingBefore(database.db, now() + convertMs, 100)) {
    if (catalogue.byId(nextPlanId)?.kind !== 'paid') continue;
    if (await tryToConvert(deps, userId, (act) => oneAtATime(database, userId, act))) converted += 1;
  }
  return converted;
}
