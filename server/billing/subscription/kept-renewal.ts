import type { UserId } from '../../shared/index.ts';
import { findUser } from '../../users/index.ts';
import { planAfterYear } from '../catalogue/catalogue.ts';
import { withPresentPrices } from '../catalogue/prices.ts';
import type { BillingDeps } from '../deps.ts';
import { balanceWithoutPending, previewKeptPrice, previewLaterPlan } from '../stripe/next-charge.ts';
import { isInLastDays, type NextCharge, toLaterAmounts } from './membership.ts';
import { notifyMembership } from './membership-changes.ts';
import { findMembership } from './membership-store.ts';
import { readScheduled } from './scheduled-change.ts';

/** The next charge if the scheduled end or change is cancelled. @throws {StripeUnavailableError} */
export async function findKeptRenewal(deps: BillingDeps, userId: UserId): Promise<NextCharge | undefined> {
  const stored = await findMembership(deps.database.db, userId);
  // In its last days a change of an earlier release has the next plan's price on the subscription.
  if (!stored || isInLastDays(stored)) return undefined;
  const membership = { ...stored, balanceCents: await balanceWithoutPending(deps, stored) };
  const following = planAfterYear(deps.catalogue, deps.catalogue.byId(membership.pricedPlanId));
  if (!following) return previewKeptPrice(deps, membership);
  const subscription = await readScheduled(deps, membership.subscriptionId);
  return withPresentPrices(deps, () => previewLaterPlan(deps, { membership, subscription }, following));
}

/** Tests whether a later charge is above the announced one. @param announced by `toLaterAmounts` */
function isAboveAnnounced(next: NextCharge, announced: string): boolean {
  const read = (text: string) => {
    const [amount = 0, regular = amount, first = regular] = text.split('/').map(Number);
    return [amount, regular, first] as const;
  };
  const allowed = read(announced);
  // A text that names no number allows nothing.
  return !read(toLaterAmounts(next)).every((cents, index) => cents <= (allowed[index] ?? Number.NaN));
}

/**
 * Tests whether the next charge of a resumption that has waited is above the announced one: then the plan ends as it was
 * to, and the user is told.
 */
export async function isRefusedResumption(
  deps: BillingDeps,
  userId: UserId,
  announced: string | undefined,
): Promise<boolean> {
  const next = announced === undefined ? undefined : await findKeptRenewal(deps, userId);
  if (next === undefined || announced === undefined || !isAboveAnnounced(next, announced)) return false;
  const { database, catalogue, now } = deps;
  await database.transaction(async (trx) => {
    const [user, membership] = [await findUser(trx, userId), await findMembership(trx, userId)];
    const plan = catalogue.byId(membership?.paidPlanId);
    if (!user || !membership || !plan) return;
    const { amountCents, currency } = next;
    const values = { planName: plan.name, amountCents, currency, endsAt: membership.periodEnd ?? now() };
    await notifyMembership(deps, trx, { user, mail: { template: 'plan-not-resumed', values, charge: next } });
  });
  return true;
}
