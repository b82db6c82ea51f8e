import type Stripe from 'stripe';
import type { StripeSubscriptionId } from '../../shared/index.ts';
import { type Plan, planAfterYear, toQuantity } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import type { AnnouncedPrice } from '../jobs/task-store.ts';
import { nextPlanKey } from '../stripe/read-stripe-snapshot.ts';
import { callStripe, callTaxed, isScheduleTaxed, taxOfSales } from '../stripe/stripe-client.ts';
import { findSchedule, laterPhases, plannedChange, runningPhase, toId } from '../stripe/stripe-objects.ts';
import { getItem } from './changeable-subscription.ts';
import { putNextPrice, putPriceBack } from './converted-change.ts';
import { exceedsAmount, isInLastDays, type Membership } from './membership.ts';
import { syncMember } from './sync-from-stripe.ts';

/**
 * A change at the end of the paid period is a subscription schedule at Stripe: it needs no job, and the subscription
 * stays active, so that an upgrade meanwhile still credits the unused time. An action of several calls is a stored task
 * or a stored purchase, and between its calls the subscription renews as before the action, or ends: a schedule with an
 * end is never released without that end, or the more expensive plan would renew.
 */
type Phase = Stripe.SubscriptionScheduleUpdateParams.Phase;

/** The subscription, with its schedule. @throws {StripeUnavailableError} */
export async function readScheduled(
  { stripe }: Pick<BillingDeps, 'stripe'>,
  subscriptionId: StripeSubscriptionId | null,
): Promise<Stripe.Subscription> {
  if (subscriptionId === null) throw new Error('there is no subscription to change');
  return callStripe(stripe, (client) => client.subscriptions.retrieve(subscriptionId, { expand: ['schedule'] }));
}

/** Without any, the customer's applies, as it does without a schedule. */
const toPhaseDiscounts = ({ discounts }: Stripe.Subscription): Pick<Phase, 'discounts'> =>
  discounts.length === 0 ? {} : { discounts: discounts.map((discount) => ({ discount: toId(discount) })) };

/** The rest of the paid period, as the subscription is: with its own price, which may be archived. */
export function untilPeriodEnd(subscription: Stripe.Subscription, schedule: Stripe.SubscriptionSchedule): Phase {
  const { price, quantity = 1, current_period_end } = getItem(subscription);
  const running = runningPhase(schedule);
  if (!running) throw new Error(`the schedule ${schedule.id} does not run`);
  return {
    items: [{ price: price.id, quantity }],
    start_date: running.start_date,
    end_date: current_period_end,
    ...toPhaseDiscounts(subscription),
    ...(subscription.automatic_tax.enabled && { automatic_tax: { enabled: true } }),
  };
}

/**
 * The first period of the next plan; the schedule ends with it. A fixed discount that exceeds the amount is refused when
 * it is applied, so it does not make a cheaper plan free either.
 */
async function nextPeriod(
  deps: BillingDeps,
  subscription: Stripe.Subscription,
  { membership, plan }: { membership: Membership; plan: Plan },
): Promise<Phase> {
  const { discount } = membership;
  const { id, recurring } = await deps.prices.priceFor(plan);
  const tooMuch = discount !== null && exceedsAmount(plan.amountCents, discount) !== undefined;
  return {
    items: [
      { price: id, quantity: toQuantity(deps.catalogue, plan, membership) ?? getItem(subscription).quantity ?? 1 },
    ],
    duration: recurring,
    proration_behavior: 'none',
    ...(tooMuch ? {} : toPhaseDiscounts(subscription)),
    ...taxOfSales(deps.catalogue),
  };
}

/** A change that was scheduled by an earlier release is in the metadata; it must not count any more. */
async function forgetOldChange({ stripe }: BillingDeps, { id, metadata }: Stripe.Subscription): Promise<void> {
  if (!metadata[nextPlanKey]) return;
  await callStripe(stripe, (client) => client.subscriptions.update(id, { metadata: { [nextPlanKey]: '' } }));
}

/** The whole paid period comes before the next plan, also of a subscription that was to end within it. */
async function readWholePeriod(deps: BillingDeps, membership: Membership): Promise<Stripe.Subscription> {
  const subscription = await readScheduled(deps, membership.subscriptionId);
  const { schedule, cancel_at: endsAt, cancel_at_period_end: endsWithPeriod } = subscription;
  if (schedule !== null || endsAt === null || endsWithPeriod) return subscription;
  await keepPlan(deps, subscription);
  return readScheduled(deps, membership.subscriptionId);
}

/** The schedule that manages the subscription from now on. */
export async function attachSchedule({ stripe }: BillingDeps, subscription: Stripe.Subscription) {
  const { id, default_payment_method: ownCard } = subscription;
  // The card of a subscription would stay that of its schedule after a change of the card: the customer's counts.
  if (ownCard !== null) {
    await callStripe(stripe, (client) => client.subscriptions.update(id, { default_payment_method: '' }));
  }
  const attached = findSchedule(subscription);
  return attached ?? callStripe(stripe, (client) => client.subscriptionSchedules.create({ from_subscription: id }));
}

/** For an act after which the subscription is not paused any more. */
const withoutPause = ({ pause_schedules: pauses }: Stripe.SubscriptionSchedule) =>
  pauses.some(({ pause }) => pause.status.type === 'scheduled') ? { pause_schedules: '' as const } : {};

async function putPlan(deps: BillingDeps, membership: Membership, plan: Plan): Promise<void> {
  const { stripe } = deps;
  const subscription = await readWholePeriod(deps, membership);
  const next = await nextPeriod(deps, subscription, { membership, plan });
  const following = planAfterYear(deps.catalogue, plan);
  const afterNext = following && (await nextPeriod(deps, subscription, { membership, plan: following }));
  const schedule = await attachSchedule(deps, subscription);
  await callTaxed(stripe, (client) =>
    client.subscriptionSchedules.update(schedule.id, {
      end_behavior: 'release',
      proration_behavior: 'none',
      ...withoutPause(schedule),
      phases: [untilPeriodEnd(subscription, schedule), next, ...(afterNext ? [afterNext] : [])],
    }),
  );
  await forgetOldChange(deps, subscription);
}

async function keepPlan({ stripe }: BillingDeps, subscription: Stripe.Subscription): Promise<void> {
  const { id, metadata, cancel_at_period_end: ends } = subscription;
  const schedule = findSchedule(subscription);
  if (schedule) {
    await callStripe(stripe, (client) => client.subscriptionSchedules.release(schedule.id));
    return;
  }
  await callStripe(stripe, (client) =>
    client.subscriptions.update(id, {
      // An end that a schedule has left is a date of its own.
      // Nothing was credited for the time after it, so nothing is charged for that again.
      ...(ends ? { cancel_at_period_end: false } : { cancel_at: '', proration_behavior: 'none' }),
      ...(metadata[nextPlanKey] && { metadata: { [nextPlanKey]: '' } }),
    }),
  );
}

/**
 * The metadata key of the prices of a schedule that has become an end, for a user who stays after all: `price_1`, and
 * with more than one seat `price_1*5`.
 */
const pricesBeforeKey = 'foyer_prices_before';

const listLaterPrices = (schedule: Stripe.SubscriptionSchedule): string[] =>
  laterPhases(schedule).flatMap(({ items }) =>
    items.map(({ price, quantity = 1 }) => (quantity === 1 ? toId(price) : `${toId(price)}*${quantity}`)),
  );

/** The plans that are scheduled, at the prices that were announced. @throws {StripeUnavailableError} */
export async function readScheduledPrices(
  { prices }: Pick<BillingDeps, 'prices'>,
  subscription: Stripe.Subscription,
): Promise<AnnouncedPrice[]> {
  const schedule = findSchedule(subscription);
  const later = schedule ? listLaterPrices(schedule) : [];
  const before = schedule?.metadata?.[pricesBeforeKey]?.split(',') ?? [];
  const named = (later.length > 0 ? later : before).map(async (text): Promise<AnnouncedPrice[]> => {
    const [priceId = '', seats] = text.split('*');
    const planId = await prices.planOfPrice(priceId);
    return planId === null ? [] : [{ planId, priceId, ...(seats && { seats: Number(seats) }) }];
  });
  return (await Promise.all(named)).flat();
}

async function endByItself(
  { stripe }: BillingDeps,
  { subscription, schedule }: { subscription: Stripe.Subscription; schedule: Stripe.SubscriptionSchedule },
  endsAt?: number,
): Promise<void> {
  const phase = untilPeriodEnd(subscription, schedule);
  const later = listLaterPrices(schedule);
  await callStripe(stripe, (client) =>
    client.subscriptionSchedules.update(schedule.id, {
      end_behavior: 'cancel',
      proration_behavior: 'none',
      ...withoutPause(schedule),
      phases: [endsAt === undefined ? phase : { ...phase, end_date: toSeconds(endsAt) }],
      ...(later.length > 0 && { metadata: { [pricesBeforeKey]: later.join(',') } }),
    }),
  );
}

/**
 * Schedules a plan for the period's end, in several calls that the caller has stored before; null: cancels what was
 * scheduled, in one call; a yearly plan that goes on by the month gets that change again.
 * @returns when (milliseconds since the epoch)
 * @throws {StripeUnavailableError}
 */
export async function scheduleChange(deps: BillingDeps, membership: Membership, plan: Plan | null): Promise<number> {
  const { catalogue } = deps;
  const next = plan ?? planAfterYear(catalogue, catalogue.byId(membership.pricedPlanId));
  if (isInLastDays(membership)) {
    await (plan === null ? putPriceBack(deps, membership) : putNextPrice(deps, membership, plan));
  } else if (next) await putPlan(deps, membership, next);
  else await keepPlan(deps, await readScheduled(deps, membership.subscriptionId));
  const after = await syncMember(deps, membership.userId);
  return after?.periodEnd ?? membership.periodEnd ?? deps.now();
}

/**
 * A schedule from before the catalogue asked for tax: its next plans are sold with it. Otherwise it stays as it is.
 * @param subscription with its schedule expanded
 * @throws Stripe's error if it does not know the place
 * @throws {StripeUnavailableError}
 */
export async function taxSchedule(
  { stripe, catalogue }: Pick<BillingDeps, 'stripe' | 'catalogue'>,
  subscription: Stripe.Subscription,
): Promise<void> {
  const schedule = findSchedule(subscription);
  if (!schedule || isScheduleTaxed({ catalogue }, subscription)) return;
  const later = laterPhases(schedule).map(
    ({ items, start_date, end_date, discounts }): Phase => ({
      items: items.map(({ price, quantity = 1 }) => ({ price: toId(price), quantity })),
      start_date,
      end_date,
      proration_behavior: 'none',
      ...(discounts.length > 0 && {
        discounts: discounts.flatMap(({ discount }) => (discount ? [{ discount: toId(discount) }] : [])),
      }),
      ...taxOfSales(catalogue),
    }),
  );
  await callStripe(stripe, (client) =>
    client.subscriptionSchedules.update(schedule.id, { phases: [untilPeriodEnd(subscription, schedule), ...later] }),
  );
}

const toSeconds = (ms: number) => Math.floor(ms / 1_000);

/**
 * Ends at the period's end; the stored task of the caller covers the metadata of an earlier release.
 * @param endsAt an end before that (milliseconds since the epoch), for which Stripe credits nothing
 * @throws {StripeUnavailableError}
 */
export async function scheduleEnd(deps: BillingDeps, membership: Membership, endsAt?: number): Promise<void> {
  const subscription = await readScheduled(deps, membership.subscriptionId);
  const { id, metadata } = subscription;
  const schedule = findSchedule(subscription);
  if (schedule) {
    await endByItself(deps, { subscription, schedule }, endsAt);
    await forgetOldChange(deps, subscription);
  } else {
    await callStripe(deps.stripe, (client) =>
      client.subscriptions.update(id, {
        ...(endsAt === undefined
          ? { cancel_at_period_end: true }
          : { cancel_at: toSeconds(endsAt), proration_behavior: 'none' }),
        ...(metadata[nextPlanKey] && { metadata: { [nextPlanKey]: '' } }),
      }),
    );
  }
  await syncMember(deps, membership.userId);
}

/**
 * Before an upgrade: Stripe refuses it while a schedule manages the subscription. A change that was scheduled becomes an
 * end, which the release keeps, so that the plan before the upgrade never renews by an interruption. The stored purchase
 * has the plan that was scheduled.
 * @param subscription with its schedule expanded
 * @throws {StripeUnavailableError}
 */
export async function releaseForUpgrade(deps: BillingDeps, subscription: Stripe.Subscription): Promise<void> {
  const schedule = findSchedule(subscription);
  await forgetOldChange(deps, subscription);
  if (!schedule) return;
  const { ends, nextPriceId } = plannedChange(subscription, getItem(subscription).current_period_end);
  if (nextPriceId !== undefined) await endByItself(deps, { subscription, schedule });
  await callStripe(deps.stripe, (client) =>
    client.subscriptionSchedules.release(schedule.id, {
      preserve_cancel_date: ends || nextPriceId !== undefined,
    }),
  );
}

/** The upgrade was given up: the change that it replaced is scheduled anew. @throws {StripeUnavailableError} */
export async function scheduleAgain(
  deps: BillingDeps,
  membership: Membership | undefined,
  plan: Plan | undefined,
): Promise<void> {
  if (!plan || membership?.status !== 'active' || !membership.cancelAtPeriodEnd || membership.nextPlanId !== null)
    return;
  await scheduleChange(deps, membership, plan);
}
