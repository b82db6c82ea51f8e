import { dayMs, type UserId } from '../../shared/index.ts';
import { findUser, setUserPlan } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import { giftNoticeKey, listGiftsEnding } from '../subscription/due-store.ts';
import type { Membership } from '../subscription/membership.ts';
import { notifyMembership } from '../subscription/membership-changes.ts';
import { effectivePlan, effectiveSeats, toMembershipState, trialUntil } from '../subscription/membership-state.ts';
import { findMembership } from '../subscription/membership-store.ts';
import { setGiftPlan, sweepGifts } from './gift-store.ts';

const batch = 200;
/** When a member is told of the end, before it. */
const noticeMs = 7 * dayMs;

/** Tells of the end, if the gift is the plan that the user has. */
async function announceEnd(deps: BillingDeps, membership: Membership): Promise<void> {
  const { database, catalogue, outbox, now } = deps;
  const { userId } = membership;
  const state = toMembershipState(membership, catalogue, now());
  if (state.kind !== 'gift') return;
  await database.transaction(async (trx) => {
    const user = await findUser(trx, userId);
    if (!user) return;
    const values = { planName: state.plan.name, endsAt: state.until };
    await notifyMembership(deps, trx, {
      user,
      mail: { template: 'gift-ends', once: giftNoticeKey(state.until), values },
    });
  });
  outbox.wake();
}

/** Ends a gift that is over: the user has what they have without it. Nothing of Stripe is needed. */
async function endGift(deps: BillingDeps, userId: UserId): Promise<void> {
  const { database, catalogue, outbox, now } = deps;
  await database.transaction(async (trx) => {
    const nowMs = now();
    const membership = await findMembership(trx, userId);
    if (!membership || membership.giftUntil === null || membership.giftUntil > nowMs) return;
    const user = await findUser(trx, userId);
    const planId = effectivePlan(membership, catalogue, nowMs);
    const had = catalogue.byId(membership.giftPlanId);
    await setGiftPlan(trx, { userId, plan: null }, nowMs);
    const seats = effectiveSeats(membership, catalogue, nowMs);
    await setUserPlan(trx, { userId, planId, seats, trialUntil: trialUntil(membership) }, nowMs);
    if (!user || user.planId === planId) return;
    const details = { plan: planId ?? 'none', status: membership.status };
    await outbox.record(trx, { type: 'membership.changed', details, subject: userId, atMs: nowMs });
    const has = catalogue.byId(planId);
    const values = { endedAt: membership.giftUntil, why: 'gift' as const, ...(has && { planNow: has.name }) };
    if (had)
      await notifyMembership(deps, trx, {
        user,
        mail: { template: 'plan-ended', values: { planName: had.name, ...values } },
      });
  });
  outbox.wake();
}

/**
 * Tells of gifts that end soon, ends those that are over, and deletes old codes.
 * @param forEach one that fails does not block the others
 */
export async function workOnGifts(
  deps: BillingDeps,
  forEach: (gifts: readonly Membership[], act: (gift: Membership) => Promise<void>) => Promise<void>,
): Promise<void> {
  const { database, now } = deps;
  const nowMs = now();
  await forEach(await listGiftsEnding(database.db, { untilMs: nowMs, max: batch }), ({ userId }) =>
    endGift(deps, userId),
  );
  const ending = { fromMs: nowMs, untilMs: nowMs + noticeMs, max: batch };
  await forEach(await listGiftsEnding(database.db, ending), (membership) => announceEnd(deps, membership));
  await sweepGifts(database.db, nowMs);
}
