import type { User } from '../../users/index.ts';
import { type Plan, proposedSeats, withSeats } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import type { PromotionResult, PurchaseView } from '../results.ts';
import { exceedsAmount } from '../subscription/membership.ts';
import { findMembership } from '../subscription/membership-store.ts';
import { validatePromotion } from './promotion-codes.ts';
import { changePurchase, findOpenPurchase, insertPurchase, type StoredPurchase, toPurchase } from './purchase-store.ts';
import { giveUpCharge } from './run-charge.ts';

/** A plan that is sold by the seat, with the chosen number or the proposed one. */
async function withChosenSeats({ database, catalogue }: BillingDeps, user: User, plan: Plan): Promise<Plan> {
  if (plan.seats === null || plan.chosenSeats !== undefined) return plan;
  const own = await findMembership(database.db, user.id);
  return withSeats(plan, proposedSeats(catalogue, plan, own) ?? plan.seats.min);
}

/** A code stays with another number of seats, unless it takes more off than they cost. */
const keepsPromotion = ({ planId, promotion }: StoredPurchase, plan: Plan): boolean =>
  planId === plan.id && promotion !== null && exceedsAmount(plan.amountCents, promotion) === undefined;

/** Chooses a plan with its seats; another plan than before removes the promotion code, and drops a waiting payment. */
export async function choosePlan(deps: BillingDeps, user: User, chosen: Plan): Promise<PurchaseView> {
  const { database, now } = deps;
  const plan = await withChosenSeats(deps, user, chosen);
  const { id: planId, chosenSeats: seats = null } = plan;
  for (;;) {
    let open = await insertPurchase(database.db, { userId: user.id, planId, seats }, now());
    if (open.planId !== planId || open.seats !== seats) {
      if (open.state === 'charging') {
        const left = await giveUpCharge(deps, open);
        if (left === 'paid') continue;
        const waiting = left === 'processing' ? toPurchase(deps, open) : undefined;
        // A bank has its payment: no other plan can be chosen.
        if (waiting) return waiting;
        open = (await findOpenPurchase(database.db, user.id)) ?? open;
      }
      await changePurchase(deps, open, { planId, seats, ...(!keepsPromotion(open, plan) && { promotion: null }) });
    }
    const purchase = toPurchase(deps, await findOpenPurchase(database.db, user.id));
    if (purchase?.plan.id === planId && purchase.plan.chosenSeats === plan.chosenSeats) return purchase;
  }
}

export async function applyPromotion(
  deps: BillingDeps,
  user: User,
  { typed, ip }: { typed: string; ip: string },
): Promise<PromotionResult> {
  const { db } = deps.database;
  const open = await findOpenPurchase(db, user.id);
  const purchase = toPurchase(deps, open);
  if (!open || !purchase) return { kind: 'refused', refusal: { kind: 'nothing-due' } };
  if (purchase.promotion !== null || purchase.state === 'charging')
    return { kind: 'refused', refusal: { kind: 'second' } };
  const checked = await validatePromotion(deps, user, { plan: purchase.plan, typed: typed.trim(), ip });
  if ('refusal' in checked) return { kind: 'refused', refusal: checked.refusal };
  const { promotion } = checked;
  // One of two parallel codes has been applied by now.
  const current = await findOpenPurchase(db, user.id);
  if (!current || current.id !== open.id || current.promotion !== null || current.planId !== open.planId) {
    return { kind: 'refused', refusal: { kind: 'second' } };
  }
  const applied = await changePurchase(deps, current, { promotion });
  if (!applied) return { kind: 'refused', refusal: { kind: 'second' } };
  return { kind: 'applied', purchase: { ...purchase, promotion } };
}
