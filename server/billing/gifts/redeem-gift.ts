import { consumeLimits, rateLimits } from '../../http/index.ts';
import { addMonths } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import { setUserPlan } from '../../users/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import { findOpenPurchase } from '../purchase/purchase-store.ts';
import type { Membership } from '../subscription/membership.ts';
import { notifyMembership } from '../subscription/membership-changes.ts';
import { effectivePlan, effectiveSeats, toMembershipState, trialUntil } from '../subscription/membership-state.ts';
import { findMembership, findStanding, insertMembership } from '../subscription/membership-store.ts';
import { toGiftCodeHash } from './gift-code.ts';
import { findObstacle, type GiftObstacle, type GiftResult, type GiftService, type GiftTurns } from './gift-rules.ts';
import { claimGift, findGift, type Gift, giftState, setGiftPlan } from './gift-store.ts';

/** Another user has redeemed it meanwhile, or the operator has revoked it. */
class GiftGoneError extends Error {}

/** A payment under way would replace the gift. */
const isPaying = async ({ database }: BillingDeps, user: User): Promise<boolean> =>
  (await findOpenPurchase(database.db, user.id))?.state === 'charging';

async function readObstacle(
  deps: BillingDeps,
  user: User,
  plan: Plan,
): Promise<{ membership: Membership | undefined; obstacle: GiftObstacle | undefined }> {
  const { database, catalogue, now } = deps;
  const membership = await findStanding(database, user.id);
  const state = membership && toMembershipState(membership, catalogue, now());
  const base = catalogue.byId(membership?.basePlanId ?? user.planId);
  const paying = membership?.pending?.debit !== undefined || (await isPaying(deps, user));
  return { membership, obstacle: findObstacle({ state, base, paying }, plan) };
}

/** Gives the plan in one transaction with the use of the code. @throws {GiftGoneError} */
async function give(deps: BillingDeps, user: User, { gift, plan, until }: { gift: Gift; plan: Plan; until: number }) {
  const { database, catalogue, outbox, now } = deps;
  const nowMs = now();
  await insertMembership(database.db, user.id, nowMs);
  await database.transaction(async (trx) => {
    if (!(await claimGift(trx, { id: gift.id, userId: user.id, endsAt: until }, nowMs))) throw new GiftGoneError();
    await setGiftPlan(trx, { userId: user.id, plan: { id: plan.id, until } }, nowMs);
    const membership = await findMembership(trx, user.id);
    if (!membership) throw new Error('a membership that was just written is not there');
    const planId = effectivePlan(membership, catalogue, nowMs);
    const seats = effectiveSeats(membership, catalogue, nowMs);
    await setUserPlan(trx, { userId: user.id, planId, seats, trialUntil: trialUntil(membership) }, nowMs);
    const details = { gift: gift.id, plan: plan.id, months: gift.months };
    await outbox.record(trx, { type: 'gift.redeemed', details, subject: user.id, atMs: nowMs });
    await notifyMembership(deps, trx, {
      user,
      mail: { template: 'gift-redeemed', values: { planName: plan.name, endsAt: until } },
    });
  });
  outbox.wake();
}

/**
 * Redeems a code for the user, whose lock the caller holds. A refused code is not used up.
 * @param typed in any case, with or without dashes
 */
async function redeem(deps: BillingDeps, user: User, typed: string): Promise<GiftResult> {
  const { database, catalogue, now } = deps;
  const codeHash = toGiftCodeHash(typed);
  const gift = codeHash && (await findGift(database.db, codeHash));
  if (!gift) return { kind: 'unknown' };
  const plan = catalogue.byId(gift.planId);
  // A second click, or a lost answer.
  if (gift.userId === user.id && gift.endsAt !== null && plan) return { kind: 'redeemed', plan, until: gift.endsAt };
  const state = giftState(gift, now());
  if (state !== 'open') return { kind: state === 'redeemed' ? 'used' : state };
  if (!plan) return { kind: 'unknown' };
  const { membership, obstacle } = await readObstacle(deps, user, plan);
  if (obstacle) return { kind: 'refused', obstacle, validUntil: gift.expiresAt };
  // Further months of the same plan begin when the present ones end.
  const from = Math.max(now(), membership?.giftPlanId === plan.id ? (membership.giftUntil ?? 0) : 0);
  const until = addMonths(from, gift.months);
  try {
    await give(deps, user, { gift, plan, until });
  } catch (error) {
    if (!(error instanceof GiftGoneError)) throw error;
    return { kind: 'used' };
  }
  return { kind: 'redeemed', plan, until };
}

/** Counts each try before it is checked, so that parallel guesses cannot exceed the limit. */
async function redeemWithinLimit(
  deps: BillingDeps,
  user: User,
  { typed, ip }: { typed: string; ip: string },
): Promise<GiftResult> {
  const decision = await consumeLimits(deps.kv, rateLimits.giftCode, { account: user.id, address: ip });
  if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
  const result = await redeem(deps, user, typed);
  if (result.kind === 'redeemed') await decision.release();
  return result;
}

export const createGifts = (deps: BillingDeps, { alone }: GiftTurns): GiftService => ({
  redeemGift: (user, typed, { ip }) => alone(user, () => redeemWithinLimit(deps, user, { typed, ip })),
});
