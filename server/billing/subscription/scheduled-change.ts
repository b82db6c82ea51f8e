import type { UserId } from '../../shared/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import { putNextPrice, putPriceBack } from '../catalogue/next-price.ts';
import type { BillingDeps } from '../deps.ts';
import { nextPlanKey } from '../stripe/read-stripe-snapshot.ts';
import { callStripe } from '../stripe/stripe-client.ts';
import { withUserLock } from '../user-lock.ts';
import { listDueChanges } from './due-store.ts';
import { isInLastDays, type Membership } from './membership.ts';
import { syncMember } from './sync-from-stripe.ts';

/**
 * A change at the end of the paid period. Until the last days the subscription is only set to end, with the next plan
 * in its metadata: if Foyer is down then, nothing unannounced is charged, and an upgrade meanwhile still credits the
 * unused time. In the last days the next plan's price is put on the subscription, from the period's end on.
 * Every action here is one call to Stripe: no state between two calls can charge more than the state before or after
 * the action.
 */
const convertMs = 3 * 24 * 60 * 60_000;

function requireSubscriptionId({ subscriptionId }: Membership): string {
  if (subscriptionId === null) throw new Error('there is no subscription to change');
  return subscriptionId;
}

/**
 * Schedules a plan for the period's end; null: cancels what was scheduled.
 * @returns when (milliseconds since the epoch)
 * @throws {StripeUnavailableError}
 */
export async function scheduleChange(deps: BillingDeps, membership: Membership, plan: Plan | null): Promise<number> {
  const { stripe, now } = deps;
  const inLastDays = isInLastDays(membership);
  if (inLastDays && plan?.kind === 'paid') await putNextPrice(deps, membership, plan);
  else if (inLastDays && plan === null) await putPriceBack(deps, membership);
  else {
    await callStripe(stripe, (client) =>
      client.subscriptions.update(requireSubscriptionId(membership), {
        cancel_at_period_end: plan !== null,
        metadata: { [nextPlanKey]: plan?.id ?? '' },
      }),
    );
  }
  const after = await syncMember(deps, membership.userId);
  if (plan !== null) await tryToConvert(deps, membership.userId);
  return after?.periodEnd ?? membership.periodEnd ?? now();
}

/**
 * Ends at the period's end. The price stays, even if it is already the next plan's: an ending subscription charges
 * neither.
 * @throws {StripeUnavailableError}
 */
export async function scheduleEnd(deps: BillingDeps, membership: Membership): Promise<void> {
  await callStripe(deps.stripe, (client) =>
    client.subscriptions.update(requireSubscriptionId(membership), {
      cancel_at_period_end: true,
      metadata: { [nextPlanKey]: '' },
    }),
  );
  await syncMember(deps, membership.userId);
}

/** @returns whether the next plan's price is on the subscription now; the caller holds the user's lock */
async function convert(deps: BillingDeps, userId: UserId): Promise<boolean> {
  // The current state: the user may have cancelled the change.
  const current = await syncMember(deps, userId);
  const plan = deps.catalogue.byId(current?.nextPlanId);
  if (!current?.cancelAtPeriodEnd || plan?.kind !== 'paid') return false;
  if (current.status !== 'active' && !isInLastDays(current)) return false;
  if (current.periodEnd === null || current.periodEnd > deps.now() + convertMs) return false;
  await putNextPrice(deps, current, plan);
  await syncMember(deps, userId);
  return true;
}

/** Failures are tried again every minute. */
async function tryToConvert(
  deps: BillingDeps,
  userId: UserId,
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
 * Sets changes that are due in the next days at Stripe, each under its user's lock, so that a cancellation at the same
 * time wins. Safe to run at any time.
 * @returns the number
 */
export async function applyDueChanges(deps: BillingDeps): Promise<number> {
  const { database, catalogue, now } = deps;
  let converted = 0;
  for (const { userId, nextPlanId } of await listDueChanges(database.db, now() + convertMs, 100)) {
    if (catalogue.byId(nextPlanId)?.kind !== 'paid') continue;
    if (await tryToConvert(deps, userId, (act) => withUserLock(database, userId, act))) converted += 1;
  }
  return converted;
}
