import { claimPartnerDeal, findPartnerDeal, setSource, type User } from '../account/index.ts';
import type { Plan } from './catalogue.ts';
import { runningPlan } from './change-kind.ts';
import { endPayment } from './charge.ts';
import type { MembershipDeps } from './deps.ts';
import { effectivePlan, trialUntil } from './effective-plan.ts';
import { findMembership, insertMembership, setBasePlan, setMemberPlan } from './membership-store.ts';
import { changePurchase, findOpenPurchase } from './purchase-store.ts';
import type { Confirmed } from './results.ts';
import { syncMember } from './sync.ts';
import { addBillingTask } from './task-store.ts';
import { endPaid } from './tasks.ts';

// Plans for which no card is asked: free ones and partners'. Stripe is asked only where something is paid there.

/** What the member has without a subscription is another plan from now on. */
export async function giveBasePlan(
  deps: Pick<MembershipDeps, 'database' | 'catalogue' | 'now'>,
  userId: string,
  plan: Plan,
  and: (trx: Parameters<typeof setBasePlan>[0]) => Promise<void> = async () => {},
): Promise<void> {
  const { database, catalogue, now } = deps;
  await insertMembership(database.db, userId, now());
  await database.transaction(async (trx) => {
    await and(trx);
    await setBasePlan(trx, userId, plan.id, now());
    const membership = await findMembership(trx, userId);
    if (!membership) throw new Error('a membership that was just written is not there');
    const planId = effectivePlan(membership, catalogue, now());
    await setMemberPlan(trx, userId, { planId, trialUntil: trialUntil(membership) }, now());
  });
}

/** What was being bought is not wanted any more. @returns whether it was too late for that */
async function giveUpPurchase(deps: MembershipDeps, userId: string): Promise<boolean> {
  const { database, now } = deps;
  if ((await endPayment(deps, userId)) === 'paid') return true;
  const left = await findOpenPurchase(database.db, userId);
  if (left) await changePurchase(database.db, left, { state: 'given-up' }, now());
  return false;
}

/** @throws {BillingUnavailable} where something is paid that must end first */
export async function takeFree(deps: MembershipDeps, user: User, plan: Plan): Promise<Confirmed> {
  if (plan.kind !== 'free') return { kind: 'nothing', plan };
  await giveUpPurchase(deps, user.id);
  const known = await findMembership(deps.database.db, user.id);
  const membership = known?.customerId ? await syncMember(deps, user.id) : known;
  // A partner's plan is for life; nobody gives it away by a click on a free one.
  if (deps.catalogue.byId(membership?.basePlanId)?.kind === 'partner') return { kind: 'nothing', plan };
  const running = membership && runningPlan(deps.catalogue, membership);
  if (membership && running) await endPaid(deps, membership);
  await giveBasePlan(deps, user.id, plan);
  if (running && !membership?.unpaid) return { kind: 'scheduled', plan, at: membership?.periodEnd ?? deps.now() };
  return { kind: 'paid', plan, order: undefined };
}

/** The plan of the deal that the member has with a partner, taken or waiting. */
export async function dealOf(deps: MembershipDeps, user: User): Promise<Plan | undefined> {
  // Whoever has typed an address has not shown yet that it is theirs.
  if (!user.emailVerified) return undefined;
  const deal = await findPartnerDeal(deps.database.db, user.email);
  if (!deal || (deal.userId !== null && deal.userId !== user.id)) return undefined;
  return deps.catalogue.ofTier(deal.tier);
}

/**
 * The partner's deal becomes the member's, without a card, for good; what they pay for meanwhile ends with its period.
 * @returns its plan; undefined: no deal waits for this address
 */
export async function takeDeal(deps: MembershipDeps, user: User): Promise<Plan | undefined> {
  const plan = await dealOf(deps, user);
  if (!plan) return undefined;
  const { catalogue, now } = deps;
  let taken = false;
  await giveBasePlan(deps, user.id, plan, async (trx) => {
    const deal = await findPartnerDeal(trx, user.email);
    taken = deal?.userId === user.id || (await claimPartnerDeal(trx, user.email, user.id, now())) !== undefined;
    if (!taken) throw new DealGone();
    await setSource(trx, user.id, { source: 'appsumo', offeredPlanId: null }, now());
    const membership = await findMembership(trx, user.id);
    // What is being paid at this moment would go on by itself, too.
    const charging = (await findOpenPurchase(trx, user.id))?.state === 'charging';
    if (membership && (charging || runningPlan(catalogue, membership))) {
      await addBillingTask(trx, { kind: 'cancel-later', userId: user.id, customerId: membership.customerId }, now());
    }
  }).catch((error: unknown) => {
    if (!(error instanceof DealGone)) throw error;
  });
  return taken ? plan : undefined;
}

/** Somebody else has taken it up meanwhile. */
class DealGone extends Error {}
