import { dayMs } from '../../shared/index.ts';
import { findUser } from '../../users/index.ts';
import { findPlan } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import { listYearlyRenewals, type RenewalWindow, renewalNoticeKey } from '../subscription/due-store.ts';
import type { Membership } from '../subscription/membership.ts';
import { notifyMembership } from '../subscription/membership-changes.ts';
import { findStanding, recordNotification } from '../subscription/membership-store.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';

const batch = 200;

/** The times before a renewal in which each notice is sent: a missed one is not sent beside the next. */
function listWindows(noticeDays: readonly number[], nowMs: number): RenewalWindow[] {
  const sorted = [...new Set(noticeDays)].toSorted((one, other) => one - other);
  return sorted.map((days, index) => ({
    days,
    fromMs: nowMs + (sorted[index - 1] ?? 0) * dayMs,
    untilMs: nowMs + days * dayMs,
  }));
}

/** The amount and the date come from Stripe, as it has them now. @throws {StripeUnavailableError} */
async function notifyRenewal(deps: BillingDeps, membership: Membership, days: number): Promise<void> {
  const { database, catalogue, outbox, now } = deps;
  const { userId, periodEnd } = membership;
  // A cancellation that Stripe has not confirmed counts.
  if (periodEnd === null || (await findStanding(database, userId))?.cancelAtPeriodEnd) return;
  const after = await syncMember(deps, userId);
  if (!after || after.cancelAtPeriodEnd || after.periodEnd !== periodEnd) return;
  const { nextCharge } = after;
  const { nextPlanId, pricedPlanId } = after;
  const plan = findPlan(catalogue, nextPlanId ?? pricedPlanId, nextPlanId === null ? after.seats : after.nextSeats);
  const once = renewalNoticeKey(days, periodEnd);
  await database.transaction(async (trx) => {
    const user = await findUser(trx, userId);
    // Recorded without a mail, so that Stripe is not asked every minute.
    if (!user || !plan || !nextCharge) return void (await recordNotification(trx, { userId, about: once }, now()));
    const { amountCents, currency, at } = nextCharge;
    const onNotice = catalogue.afterYear === 'year-with-refund' && { endsOnNotice: true as const };
    const seats = plan.chosenSeats === undefined ? {} : { seats: plan.chosenSeats };
    const values = { planName: plan.name, ...seats, amountCents, currency, renewsAt: at ?? periodEnd, ...onNotice };
    await notifyMembership(deps, trx, { user, mail: { template: 'renewal-notice', once, values, charge: nextCharge } });
  });
  outbox.wake();
}

/** A renewal that is to be announced now. */
interface DueNotice {
  membership: Membership;
  days: number;
}

/**
 * Tells users of yearly plans before the renewal, once per period and number of days.
 * @param forEach one that fails does not block the others
 */
export async function notifyRenewals(
  deps: BillingDeps,
  forEach: (notices: readonly DueNotice[], act: (notice: DueNotice) => Promise<void>) => Promise<void>,
): Promise<void> {
  const { database, catalogue, now } = deps;
  const yearly = catalogue.plans.filter(({ kind, type }) => kind === 'paid' && type === '2').map(({ id }) => id);
  if (yearly.length === 0) return;
  for (const window of listWindows(catalogue.renewalNoticeDays, now())) {
    const memberships = await listYearlyRenewals(database.db, { yearly, window, max: batch });
    const notices = memberships.map((membership) => ({ membership, days: window.days }));
    await forEach(notices, ({ membership, days }) => notifyRenewal(deps, membership, days));
  }
}
