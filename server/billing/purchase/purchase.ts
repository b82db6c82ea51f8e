import { toPlanId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import { consumeCharge } from '../cards/card-entry.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import { changeKind } from '../catalogue/effective-plan.ts';
import type { BillingDeps } from '../deps.ts';
import { settleNoted } from '../jobs/tasks.ts';
import { findOrderByInvoice } from '../orders/order-store.ts';
import {
  type DisplayedQuote,
  type PromotionResult,
  type PurchaseResult,
  type PurchaseView,
  type Quote,
  StripeUnavailableError,
} from '../results.ts';
import { changeLater } from '../subscription/acts.ts';
import {
  type ChangeableSubscription,
  getChangeableSubscription,
  getItem,
  readSubscription,
} from '../subscription/changeable-subscription.ts';
import { endsWithin } from '../subscription/membership.ts';
import { findMembership } from '../subscription/membership-store.ts';
import { findPendingRenewal } from '../subscription/pending-renewal.ts';
import { scheduleChange } from '../subscription/scheduled-change.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import type { Charge } from './charge.ts';
import { validatePromotion } from './promotion-codes.ts';
import {
  changePurchase,
  findLastPaid,
  findOpenPurchase,
  insertPurchase,
  type StoredPurchase,
} from './purchase-store.ts';
import { type ChangeParams, quoteNow, quotePlan, toDiscountParam } from './quote.ts';
import { cancelCharge, type SettleResult, settleCharge } from './stripe-charge.ts';

/** A purchase whose plan has left the catalogue is void. */
export function toPurchase({ catalogue }: BillingDeps, stored: StoredPurchase | undefined): PurchaseView | undefined {
  const plan = catalogue.byId(stored?.planId);
  if (!stored || !plan) return undefined;
  const { id, userId, promotion, state, attempt } = stored;
  return { id, userId, plan, promotion, state, attempt };
}

/** Chooses a plan; another plan than before removes the promotion code, and cancels a waiting payment. */
export async function choosePlan(deps: BillingDeps, user: User, plan: Plan): Promise<PurchaseView> {
  const { database, now } = deps;
  for (;;) {
    let open = await insertPurchase(database.db, user.id, plan.id, now());
    if (open.planId !== plan.id) {
      if (open.state === 'charging') {
        if ((await cancelCharge(deps, open)) === 'paid') continue;
        open = (await findOpenPurchase(database.db, user.id)) ?? open;
      }
      await changePurchase(database.db, open, { planId: plan.id, promotion: null }, now());
    }
    const purchase = toPurchase(deps, await findOpenPurchase(database.db, user.id));
    if (purchase?.plan.id === plan.id) return purchase;
  }
}

export async function applyPromotion(
  deps: BillingDeps,
  user: User,
  typed: string,
  from: { ip: string },
): Promise<PromotionResult> {
  const { database, now } = deps;
  const open = await findOpenPurchase(database.db, user.id);
  const purchase = toPurchase(deps, open);
  if (!open || !purchase) return { kind: 'refused', refusal: { kind: 'nothing-due' } };
  if (purchase.promotion !== null || purchase.state === 'charging')
    return { kind: 'refused', refusal: { kind: 'second' } };
  const checked = await validatePromotion(deps, user, { plan: purchase.plan, typed: typed.trim(), ip: from.ip });
  if ('refusal' in checked) return { kind: 'refused', refusal: checked.refusal };
  const { promotion } = checked;
  // One of two parallel codes has been applied by now.
  const current = await findOpenPurchase(database.db, user.id);
  if (!current || current.id !== open.id || current.promotion !== null || current.planId !== open.planId) {
    return { kind: 'refused', refusal: { kind: 'second' } };
  }
  const applied = await changePurchase(database.db, current, { promotion }, now());
  if (!applied) return { kind: 'refused', refusal: { kind: 'second' } };
  return { kind: 'applied', purchase: { ...purchase, promotion } };
}

export async function removePromotion(deps: BillingDeps, user: User): Promise<void> {
  const { database, now } = deps;
  const open = await findOpenPurchase(database.db, user.id);
  if (open?.state === 'open') await changePurchase(database.db, open, { promotion: null }, now());
}

/**
 * A code is on the subscription while an upgrade waits for its payment, and a renewal meanwhile would use it. So none
 * is started shortly before one, and a waiting one is cancelled (maintenance.ts).
 */
const codeBlockedBeforeRenewalMs = 20 * 60_000;

/** The record that is written before the call to Stripe. */
async function toCharge(
  deps: BillingDeps,
  { subscriptionId, membership }: ChangeableSubscription,
  { promotion }: PurchaseView,
  params: ChangeParams,
  due: Quote,
): Promise<Charge> {
  const item = getItem(await readSubscription(deps, subscriptionId));
  const { discount } = membership;
  const before = discount === null ? [] : [toDiscountParam(discount)];
  const expected =
    promotion !== null ? [toDiscountParam(promotion)] : params.prorationDate === null && discount ? [] : null;
  return {
    subscriptionId,
    itemId: item.id,
    priceId: params.items[0]?.price ?? '',
    prorationDate: params.prorationDate,
    endTrial: params.endTrial,
    discountsBefore: expected === null ? null : before,
    couponBefore: discount?.couponId,
    discounts: expected,
    scheduledPlanId: membership.nextPlanId ?? undefined,
    code: promotion?.judgedCodeId === undefined ? undefined : `${promotion.code}:${promotion.couponId}`,
    announcedCents: due.dueCents,
    beganAt: deps.now(),
  };
}

/** No purchase is open: often a second click after the first has succeeded. */
async function toIdleResult(deps: BillingDeps, user: User, announced: DisplayedQuote): Promise<PurchaseResult> {
  const { database, catalogue } = deps;
  const last = await findLastPaid(database.db, user.id);
  const plan = catalogue.byId(last?.planId);
  if (!last || !plan || last.planId !== announced.planId) return { kind: 'no-change', plan: undefined };
  const membership = await findMembership(database.db, user.id);
  if (membership?.nextPlanId === plan.id) return { kind: 'scheduled', plan, at: membership.periodEnd ?? deps.now() };
  const order = last.invoiceId === null ? undefined : await findOrderByInvoice(database.db, last.invoiceId);
  return { kind: 'paid', plan, order };
}

async function changed(deps: BillingDeps, user: User, { plan, promotion }: PurchaseView): Promise<PurchaseResult> {
  return { kind: 'changed', quote: await quotePlan(deps, user, plan, promotion) };
}

async function toResult(deps: BillingDeps, user: User, settled: SettleResult): Promise<PurchaseResult> {
  if (settled.kind !== 'reopened') return settled;
  const purchase = toPurchase(deps, await findOpenPurchase(deps.database.db, user.id));
  return purchase ? changed(deps, user, purchase) : { kind: 'no-change', plan: undefined };
}

/**
 * Pays for the chosen plan and changes to it, or continues a started payment; charges exactly the announced amount or
 * nothing. It can be repeated safely after any loss (an answer, a tab, this process).
 * @throws {StripeUnavailableError}
 */
export async function confirmPurchase(
  deps: BillingDeps,
  user: User,
  announced: DisplayedQuote,
  { ip }: { ip: string },
): Promise<PurchaseResult> {
  const { database, catalogue, now } = deps;
  const open = await findOpenPurchase(database.db, user.id);
  const purchase = toPurchase(deps, open);
  if (!open || !purchase) return toIdleResult(deps, user, announced);
  const { plan, promotion } = purchase;
  if (announced.planId !== plan.id) return changed(deps, user, purchase);
  if (open.state === 'charging') return retryPurchase(deps, user, open, announced, ip);

  await settleNoted(deps, user.id);
  const live = await getChangeableSubscription(deps, user);
  if (live === 'paused') return { kind: 'paused' };
  const membership = (await syncMember(deps, user.id)) ?? live.membership;
  if (membership.unpaid) return { kind: 'unpaid-first' };
  const kind = changeKind(catalogue, membership, plan);
  if (kind === 'none' && membership.nextPlanId === null && !membership.cancelAtPeriodEnd) {
    await changePurchase(database.db, open, { state: 'abandoned' }, now());
    return { kind: 'no-change', plan };
  }
  if (kind === 'later' || kind === 'none') {
    if (announced.dueCents !== 0) return changed(deps, user, purchase);
    const at =
      kind === 'none' ? await scheduleChange(deps, membership, null) : await changeLater(deps, membership, plan);
    await changePurchase(database.db, open, { state: 'paid' }, now());
    return { kind: 'scheduled', plan, at };
  }
  if (membership.card === null) return { kind: 'no-card' };
  const current: ChangeableSubscription = { ...live, membership };
  if (kind === 'upgrade' && promotion !== null && endsWithin(membership, now(), codeBlockedBeforeRenewalMs)) {
    throw new StripeUnavailableError('the period is about to end: its renewal would take the code');
  }
  const renewal = kind === 'upgrade' ? await findPendingRenewal(deps, membership) : undefined;
  if (renewal) return { kind: 'renewing', renewal };
  const { due, params } = await quoteNow(deps, current, plan, promotion);
  if (due.dueCents !== announced.dueCents) return { kind: 'changed', quote: due };
  const decision = await consumeCharge(deps, user, { ip, paymentMethodId: membership.card.paymentMethodId });
  if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
  const charge = await toCharge(deps, current, { ...purchase, promotion: due.promotion }, params, due);
  const won = await changePurchase(database.db, open, { state: 'charging', nextAttempt: true, charge }, now());
  const charging = await findOpenPurchase(database.db, user.id);
  if (!won || !charging) return toIdleResult(deps, user, announced);
  return toResult(deps, user, await settleCharge(deps, charging, { retry: true }));
}

/** The user retries the payment. */
async function retryPurchase(
  deps: BillingDeps,
  user: User,
  open: StoredPurchase,
  announced: DisplayedQuote,
  ip: string,
): Promise<PurchaseResult> {
  const currentState = await settleCharge(deps, open, { retry: false });
  if (currentState.kind === 'paid' || currentState.kind === 'action') return currentState;
  const still = await findOpenPurchase(deps.database.db, user.id);
  // It was reopened: the amount may have changed by now.
  if (still?.state !== 'charging') return confirmPurchase(deps, user, announced, { ip });
  if (open.charge?.announcedCents !== announced.dueCents) {
    await cancelCharge(deps, still);
    return toResult(deps, user, { kind: 'reopened' });
  }
  const card = (await findMembership(deps.database.db, user.id))?.card;
  const decision = await consumeCharge(deps, user, { ip, paymentMethodId: card?.paymentMethodId });
  if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
  return toResult(deps, user, await settleCharge(deps, still, { retry: true }));
}

/** The state of a payment that waited for the user; charges nothing. @throws {StripeUnavailableError} */
export async function getPurchaseResult(deps: BillingDeps, user: User): Promise<PurchaseResult> {
  const { database } = deps;
  const open = await findOpenPurchase(database.db, user.id);
  if (open?.state === 'charging') return toResult(deps, user, await settleCharge(deps, open, { retry: false }));
  if (open) return toResult(deps, user, { kind: 'reopened' });
  const last = await findLastPaid(database.db, user.id);
  return toIdleResult(deps, user, { planId: last?.planId ?? toPlanId(''), dueCents: 0 });
}
