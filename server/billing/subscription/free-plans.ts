import type { UserId } from '../../shared/index.ts';
import type { Db } from '../../store/index.ts';
import { claimPartnerDeal, findPartnerDeal, setSource, setUserPlan, type User } from '../../users/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import type { BillingTask } from '../jobs/task-store.ts';
import { carryOutAtOnce } from '../jobs/tasks.ts';
import { changePurchase, findOpenPurchase } from '../purchase/purchase-store.ts';
import type { PurchaseResult } from '../results.ts';
import { readOrStored } from './acts.ts';
import { isPaused, type Membership } from './membership.ts';
import { currentPaidPlan, effectivePlan, effectiveSeats, findTriedPlan, trialUntil } from './membership-state.ts';
import { findMembership, findStanding, insertMembership, setBasePlan } from './membership-store.ts';
import { addPlanEnd } from './plan-end.ts';

// Plans without a card: free ones and partners'. Stripe is needed only if the user pays for another plan.

/** Sets the user's plan without a subscription. */
export async function assignBasePlan(
  deps: Pick<BillingDeps, 'database' | 'catalogue' | 'now'>,
  { userId, plan }: { userId: UserId; plan: Plan },
  and: (trx: Parameters<typeof setBasePlan>[0]) => Promise<void> = async () => {},
): Promise<void> {
  const { database, catalogue, now } = deps;
  await insertMembership(database.db, userId, now());
  await database.transaction(async (trx) => {
    await and(trx);
    await setBasePlan(trx, { userId, planId: plan.id }, now());
    const membership = await findMembership(trx, userId);
    if (!membership) throw new Error('a membership that was just written is not there');
    const planId = effectivePlan(membership, catalogue, now());
    const seats = effectiveSeats(membership, catalogue, now());
    await setUserPlan(trx, { userId, planId, seats, trialUntil: trialUntil(membership) }, now());
  });
}

/** Tests for a plan that is charged, now or later: it must end before another plan replaces it. */
async function isChargedFor(
  trx: Parameters<typeof findOpenPurchase>[0],
  { catalogue }: Pick<BillingDeps, 'catalogue'>,
  membership: Membership,
): Promise<boolean> {
  const isTried = findTriedPlan(catalogue, membership) !== undefined;
  if (isTried || currentPaidPlan(catalogue, membership) || isPaused(membership)) return true;
  // A payment in progress would also continue by itself.
  return (await findOpenPurchase(trx, membership.userId))?.state === 'charging';
}

/**
 * A free plan: at once, or after the paid plan. Stored before the call to Stripe, so it is also accepted while Stripe is
 * unavailable.
 * @param chosen.announcedEndsAt the end of the paid plan on a month's notice that the page has named
 */
export async function chooseFreePlan(
  deps: BillingDeps,
  user: User,
  { plan, announcedEndsAt }: { plan: Plan; announcedEndsAt?: number | undefined },
): Promise<PurchaseResult> {
  const { database, catalogue, now } = deps;
  const known = plan.kind === 'free' ? await findMembership(database.db, user.id) : undefined;
  const read = known?.customerId ? await readOrStored(deps, user.id) : { membership: known, isAway: false };
  const { membership, isAway } = read;
  // A partner's plan is for life; a click on a free one must not replace it.
  if (plan.kind !== 'free' || catalogue.byId(membership?.basePlanId)?.kind === 'partner') {
    return { kind: 'no-change', plan };
  }
  let task: BillingTask | undefined;
  await assignBasePlan(deps, { userId: user.id, plan }, async (trx) => {
    task = undefined;
    if (!membership || !(await isChargedFor(trx, deps, membership))) return;
    const end = { kind: 'cancel-later', membership, announcedEndsAt } as const;
    task = await addPlanEnd(trx, { catalogue, nowMs: now() }, end);
  });
  const isNoted = task !== undefined && (isAway || !(await carryOutAtOnce(deps, { ...task, userId: user.id })));
  const left = await findOpenPurchase(database.db, user.id);
  if (left?.state === 'open') await changePurchase(deps, left, { state: 'abandoned' });
  const after = await findStanding({ db: database.db }, user.id);
  const paid = after && !after.unpaid && (currentPaidPlan(catalogue, after) ?? findTriedPlan(catalogue, after));
  return paid
    ? { kind: 'scheduled', plan, at: after.periodEnd ?? now(), isNoted }
    : { kind: 'paid', plan, order: undefined };
}

/** The plan of the user's deal with a partner, claimed or waiting. */
export async function findPartnerDealPlan(
  deps: Pick<BillingDeps, 'catalogue'> & { database: { db: Db } },
  user: Pick<User, 'id' | 'email' | 'emailVerified'>,
): Promise<Plan | undefined> {
  // An unconfirmed address proves nothing.
  if (!user.emailVerified) return undefined;
  const deal = await findPartnerDeal(deps.database.db, user.email);
  if (!deal || (deal.userId !== null && deal.userId !== user.id)) return undefined;
  return deps.catalogue.ofTier(deal.tier);
}

/**
 * Gives the partner's deal to the user, without a card and for good; a paid plan ends as a cancelled one does.
 * @param announcedEndsAt the end of the paid plan on a month's notice that the page has named
 * @returns its plan; undefined: no deal waits for this address
 */
export async function claimDeal(
  deps: BillingDeps,
  user: User,
  announcedEndsAt?: number | undefined,
): Promise<Plan | undefined> {
  const plan = await findPartnerDealPlan(deps, user);
  if (!plan) return undefined;
  const { catalogue, now } = deps;
  let taken = false;
  const ends: BillingTask[] = [];
  await assignBasePlan(deps, { userId: user.id, plan }, async (trx) => {
    ends.length = 0;
    const deal = await findPartnerDeal(trx, user.email);
    taken =
      deal?.userId === user.id ||
      (await claimPartnerDeal(trx, user.email, { userId: user.id, nowMs: now() })) !== undefined;
    if (!taken) throw new DealAlreadyClaimedError();
    await setSource(trx, user.id, { source: 'appsumo', offeredPlanId: null, nowMs: now() });
    const membership = await findMembership(trx, user.id);
    if (membership && (await isChargedFor(trx, deps, membership))) {
      const end = { kind: 'cancel-later', membership, announcedEndsAt } as const;
      ends.push(await addPlanEnd(trx, { catalogue, nowMs: now() }, end));
    }
  }).catch((error: unknown) => {
    if (!(error instanceof DealAlreadyClaimedError)) throw error;
  });
  // A pause to come would stand in the way of another plan until then.
  for (const task of taken ? ends : []) await carryOutAtOnce(deps, { ...task, userId: user.id });
  return taken ? plan : undefined;
}

/** Another user has claimed it meanwhile. */
class DealAlreadyClaimedError extends Error {}
