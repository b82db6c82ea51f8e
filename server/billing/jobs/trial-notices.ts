import { dayMs } from '../../shared/index.ts';
import { findUser } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import { listTriedEnding, listTriedOver, triedNoticeKey } from '../subscription/due-store.ts';
import type { Membership } from '../subscription/membership.ts';
import { notifyMembership } from '../subscription/membership-changes.ts';
import { findStanding, recordNotification } from '../subscription/membership-store.ts';
import { toTrialMail } from '../subscription/plan-trial-mails.ts';
import { firstChargeMs, trialNoticeDays } from '../subscription/plan-trial-rules.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';

const batch = 200;
const longTrialDays = 14;

/**
 * The plans whose users are told so many days before. The days of the catalogue count: at Stripe the period of a first
 * trial before goes on.
 */
function listWindows({ plans }: Pick<BillingDeps['catalogue'], 'plans'>) {
  const paid = plans.filter(({ kind }) => kind === 'paid');
  // Of a plan that is sold without free days now, users may still have them.
  const toNoticeDays = (trialDays: number | null) => trialNoticeDays((trialDays ?? longTrialDays) * dayMs);
  return ([7, 3] as const)
    .map((days) => ({
      days,
      plans: paid.flatMap(({ id, trialDays }) => (toNoticeDays(trialDays) === days ? [id] : [])),
    }))
    .filter(({ plans: own }) => own.length > 0);
}

/** The amount comes from Stripe, as it has it now. @throws {StripeUnavailableError} */
async function notifyTrial(deps: BillingDeps, known: Membership): Promise<void> {
  const { database, catalogue, outbox, now } = deps;
  const { userId } = known;
  // A cancellation that Stripe has not confirmed counts.
  if ((await findStanding(database, userId))?.cancelAtPeriodEnd) return;
  const after = await syncMember(deps, userId);
  if (!after || after.triedUntil !== known.triedUntil || after.cancelAtPeriodEnd) return;
  const mail = toTrialMail('plan-trial-ends', after, catalogue);
  await database.transaction(async (trx) => {
    const user = await findUser(trx, userId);
    if (user && mail) return notifyMembership(deps, trx, { user, mail });
    // Recorded without a mail, so that Stripe is not asked every minute.
    await recordNotification(trx, { userId, about: triedNoticeKey(after.triedUntil ?? 0) }, now());
  });
  outbox.wake();
}

/** A plan whose first charge is not known after some hours is not given any longer, also if an event was lost. */
const readAgain = async (deps: BillingDeps, { userId }: Membership): Promise<void> =>
  void (await syncMember(deps, userId));

/**
 * Tells users of plans that they try, some days before the first charge, once per trial; and reads those whose first
 * charge is not known.
 * @param forEach one that fails does not block the others
 */
export async function notifyTrials(
  deps: BillingDeps,
  forEach: (members: readonly Membership[], act: (member: Membership) => Promise<void>) => Promise<void>,
): Promise<void> {
  const { database, catalogue, now } = deps;
  for (const { days, plans } of listWindows(catalogue)) {
    const due = { plans, fromMs: now(), untilMs: now() + days * dayMs, max: batch };
    await forEach(await listTriedEnding(database.db, due), (member) => notifyTrial(deps, member));
  }
  const over = { beforeMs: now() - firstChargeMs, keptMs: firstChargeMs, max: batch };
  await forEach(await listTriedOver(database.db, over), (member) => readAgain(deps, member));
}
