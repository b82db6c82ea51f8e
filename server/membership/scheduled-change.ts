import type { UserId } from '../shared/index.ts';
import type { Plan } from './catalogue.ts';
import type { BillingDeps } from './deps.ts';
import { listDueChanges } from './due-store.ts';
import { isInLastDays, type Membership } from './membership.ts';
import { putNextPrice, putPriceBack } from './next-price.ts';
import { nextPlanKey } from './read-stripe-snapshot.ts';
import { callStripe } from './stripe-client.ts';
import { syncMember } from './sync-from-stripe.ts';
import { withUserLock } from './user-lock.ts';

/**
 * A change at the end of the paid period. Until the last days the subscription is only set to end, with the next plan in its
 * metadata: nothing can be charged that was not announced, should Foyer be down then, and an upgrade meanwhile still credits
 * the unused time. In the last days the next plan's price is put on the subscription, from the period's end on.
 *
 * Every act here is one call to Stripe: no state between two calls can charge more than the state before or after the act.
 */
const convertMs = 3 * 24 * 60 * 60_000;

function requireSubscriptionId({ subscriptionId }: Membership): string {
  if (subscriptionId === null) throw new Error('there is no subscription to change');
  return subscriptionId;
}

/**
 * Changes to a plan at the period's end; null: takes back what was to happen then.
 * @returns when (milliseconds since the epoch)
 * @throws {BillingUnavailable}
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
 * Ends at the period's end. The price stays as it is, also where it is the next plan's already: a subscription that ends
 * charges neither.
 * @throws {BillingUnavailable}
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

/** @returns whether the next plan's price is on the subscription now; the caller has the member's turn */
async function convert(deps: BillingDeps, userId: UserId): Promise<boolean> {
  // As it is now: the member may have taken it back.
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
 * Brings changes that fall due in the next days to Stripe, each in its member's turn: who cancels at that moment has the last
 * word. Safe to run at any time.
 * @returns how many
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
