import { hourMs, minuteMs, type UserId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import { changeKind } from '../catalogue/effective-plan.ts';
import type { BillingDeps } from '../deps.ts';
import type { PendingRenewal } from '../results.ts';
import { callStripe } from '../stripe/stripe-client.ts';
import { toMs } from '../stripe/stripe-objects.ts';
import type { Membership } from './membership.ts';
import { findMembership } from './membership-store.ts';

/** After a draft is finalized Stripe needs some minutes for the payment and its event. */
const paymentMs = 10 * minuteMs;

/** Tests whether the stored period is paid and still running: then no renewal is under way. */
const isSettled = ({ paidUntil, periodEnd }: Membership, nowMs: number): boolean =>
  periodEnd === null || (paidUntil !== null && paidUntil >= periodEnd && periodEnd > nowMs);

/**
 * The renewal that Stripe has begun and not charged yet: its invoice is a draft for about an hour. Meanwhile the unused
 * time of the new period is not paid, so an upgrade cannot credit it.
 * @throws {StripeUnavailableError}
 */
export async function findPendingRenewal(
  { stripe, now }: Pick<BillingDeps, 'stripe' | 'now'>,
  membership: Membership,
): Promise<PendingRenewal | undefined> {
  const { subscriptionId, paidPlanId } = membership;
  if (subscriptionId === null || paidPlanId === null || isSettled(membership, now())) return undefined;
  const { data } = await callStripe(stripe, (client) =>
    client.invoices.list({ subscription: subscriptionId, limit: 10 }),
  );
  const renewal = data.find(
    ({ billing_reason: why, status, attempted }) =>
      // Stripe may call the first invoice of a scheduled plan an update; an update by a member is never a draft.
      (status === 'draft' && why !== 'manual') || (why === 'subscription_cycle' && status === 'open' && !attempted),
  );
  if (!renewal) return undefined;
  const { automatically_finalizes_at: finalizesAt, auto_advance: advances, created, lines } = renewal;
  const chargedAt = finalizesAt === null ? toMs(created) + hourMs : toMs(finalizesAt);
  return {
    amountCents: renewal.amount_due,
    currency: renewal.currency,
    periodEnd: toMs(Math.max(...lines.data.map(({ period }) => period.end), renewal.period_end)),
    // The operator keeps the draft (pause_collection): its end is unknown.
    changeableAt: advances ? Math.max(chargedAt, now()) + paymentMs : null,
  };
}

/** The same, of a user. @throws {StripeUnavailableError} */
export async function loadPendingRenewal(deps: BillingDeps, userId: UserId): Promise<PendingRenewal | undefined> {
  const membership = await findMembership(deps.database.db, userId);
  return membership && findPendingRenewal(deps, membership);
}

/** The same, if a change to this plan has to wait for it. @throws {StripeUnavailableError} */
export async function findRenewalBefore(
  deps: BillingDeps,
  { id }: User,
  plan: Plan,
): Promise<PendingRenewal | undefined> {
  const membership = await findMembership(deps.database.db, id);
  if (!membership || changeKind(deps.catalogue, membership, plan) !== 'upgrade') return undefined;
  return findPendingRenewal(deps, membership);
}
