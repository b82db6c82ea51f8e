import type { User } from '../../users/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import type { PromotionResult, PurchaseView } from '../results.ts';
import { validatePromotion } from './promotion-codes.ts';
import { changePurchase, findOpenPurchase, insertPurchase, toPurchase } from './purchase-store.ts';
import { giveUpCharge } from './run-charge.ts';

/** Chooses a plan; another plan than before removes the promotion code, and drops a waiting payment. */
export async function choosePlan(deps: BillingDeps, user: User, plan: Plan): Promise<PurchaseView> {
  const { database, now } = deps;
  for (;;) {
    let open = await insertPurchase(database.db, { userId: user.id, planId: plan.id }, now());
    if (open.planId !== plan.id) {
      if (open.state === 'charging') {
        const left = await giveUpCharge(deps, open);
        if (left === 'paid') continue;
        const waiting = left === 'processing' ? toPurchase(deps, open) : undefined;
        // A bank has its payment: no other plan can be chosen.
        if (waiting) return waiting;
        open = (await findOpenPurchase(database.db, user.id)) ?? open;
      }
      await changePurchase(deps, open, { planId: plan.id, promotion: null });
    }
    const purchase = toPurchase(deps, await findOpenPurchase(database.db, user.id));
    if (purchase?.plan.id === plan.id) return purchase;
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
