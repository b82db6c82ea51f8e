import { HttpError } from '../../http/index.ts';
import { parseSeats, withSeats } from '../catalogue/catalogue.ts';
import type { PromotionResult } from '../results.ts';
import { hasBegun } from '../subscription/changeable-subscription.ts';
import { isOnHold } from '../subscription/membership-state.ts';
import {
  type Checkout,
  type CheckoutHandler,
  type CheckoutRequest,
  isOwnPlan,
  type PageRetry,
  readDisplayedQuote,
  readPlanId,
  runPayment,
  runWithStripe,
  unpaidAddress,
} from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { findGiftReturn } from './checkout-flow.ts';
import { promotionErrorText } from './checkout-texts.ts';
import { findWaitingDeal } from './partner-deal.ts';
import { answerPurchase } from './payment-handlers.ts';
import { readAnnouncedEndsAt } from './refund-view.ts';
import { unpaidNotice } from './started-payment.ts';
import { renderSummary } from './summary-page-state.ts';

/**
 * Nothing is sold while a renewal is unpaid, a bank has a debit or the subscription is paused: the announced amount would
 * never be charged.
 */
async function unpaidInvoiceUrl(
  { membership }: Pick<CheckoutDeps, 'membership'>,
  checkout: Checkout,
): Promise<string | undefined> {
  const { user, plan, deal } = checkout;
  if (deal || plan.kind !== 'paid' || isOwnPlan(checkout)) return undefined;
  const currentMembership = await membership.getMembership(user.id);
  if (!currentMembership) return undefined;
  const { unpaid, pending } = currentMembership;
  return unpaid || pending?.debit || isOnHold(currentMembership) ? unpaidAddress : undefined;
}

/**
 * Ensures that the user has a customer and a subscription at Stripe, which purchases need.
 * @returns false if the page was rendered
 */
async function ensureCustomer(r: CheckoutRequest, deps: CheckoutDeps): Promise<boolean> {
  const { flow, user, deal } = r.checkout;
  // A partner's deal does not need Stripe.
  if (deal) return true;
  // A GET only reads: it creates the very first customer and trial, and nothing after that.
  const known = r.req.method === 'POST' ? undefined : await deps.membership.getMembership(user.id);
  if (known && hasBegun(known)) return true;
  const rerender = (view: PageRetry) => renderSummary(r, deps, view);
  const ensure = () => deps.membership.ensure(user, flow.trialDays);
  return (await runWithStripe(r, { act: 'customer', rerender }, ensure)) !== undefined;
}

/** The same before a page that charges or saves a card: a user with nothing to pay is redirected. */
export function requirePayablePlan(handler: CheckoutHandler): CheckoutHandler {
  return async (r, deps) => {
    const { flow, plan, deal, isChosen } = r.checkout;
    if (isOwnPlan(r.checkout)) return r.redirect(nextUrl(r));
    if (deal || plan.kind !== 'paid') return r.redirect(flow.summary);
    // A proposal alone is not paid for.
    if (!isChosen && r.req.method === 'GET') return r.redirect(flow.summary);
    const before = await unpaidInvoiceUrl(deps, r.checkout);
    if (before !== undefined) return r.redirect(before);
    if (!(await ensureCustomer(r, deps))) return;
    if (r.req.method === 'POST' && !(await ensurePurchase(r, deps))) return;
    return handler(r, deps);
  };
}

/** A user whose billing details are needed and missing is asked for them before the page. */
export function requireDetails(handler: CheckoutHandler): CheckoutHandler {
  return async (r, deps) => {
    const { flow, user } = r.checkout;
    const { catalogue, findDetails } = deps.membership;
    const isMissing = catalogue.needsBillingDetails && (await findDetails(user.id)).isMissing;
    return isMissing ? r.redirect(flow.billingDetails) : handler(r, deps);
  };
}

/** The next page of a user who has this plan by now, often after a second click. */
const nextUrl = ({ req, checkout: { flow, user, plan } }: CheckoutRequest): string =>
  req.method === 'POST' ? flow.doneUrl(plan, user) : flow.summary;

/** Ensures a purchase of this page's plan before any action on it. @returns false if the page was rendered */
async function ensurePurchase(r: CheckoutRequest, deps: CheckoutDeps): Promise<boolean> {
  const { user, plan, purchase } = r.checkout;
  if (purchase?.plan.id === plan.id && purchase.plan.chosenSeats === plan.chosenSeats) return true;
  const rerender = (view: PageRetry) => renderSummary(r, deps, view);
  const answered = await runWithStripe(r, { act: 'confirm', rerender }, () => deps.membership.choose(user, plan));
  if (!answered) return false;
  r.checkout = { ...r.checkout, isChosen: true, purchase: answered.value, promotion: answered.value.promotion };
  return true;
}

/** The notice of a visit: the code was right, or the partner's handle in the address has no deal. */
async function firstNotice(r: CheckoutRequest, deps: CheckoutDeps): Promise<PageRetry['notice']> {
  const { flow, user, deal } = r.checkout;
  if (flow.named?.kind === 'partner' && !deal && !(await findWaitingDeal(deps, user))) {
    return { kind: 'info', text: r.t('checkout.partnerDeal.none'), duration: 'never' };
  }
  const unpaid = unpaidNotice(r);
  if (unpaid) return unpaid;
  if (!r.takesNotice('email-confirmed')) return undefined;
  return { kind: 'success', text: r.t('signUp.confirmed.text'), duration: 'short' };
}

export async function showSummary(r: CheckoutRequest, deps: CheckoutDeps) {
  const { flow, isChosen } = r.checkout;
  const gift = flow.kind === 'purchase' || isChosen ? undefined : findGiftReturn(flow.continuation);
  if (gift !== undefined && deps.membership.catalogue.gifts) return r.redirect(gift);
  const before = await unpaidInvoiceUrl(deps, r.checkout);
  if (before !== undefined) return r.redirect(before);
  if (!(await ensureCustomer(r, deps))) return;
  const notice = await firstNotice(r, deps);
  await renderSummary(r, deps, {
    ...(notice && { notice }),
    ...(r.takesNotice(appliedNotice) && { promo: 'just-applied' }),
  });
}

/** Another tab chose another plan: the button referred to what this page showed. */
function renderChanged(r: CheckoutRequest, deps: CheckoutDeps, typed = ''): Promise<void> {
  const notice = { kind: 'info', text: r.t('checkout.changed'), duration: 'never' } as const;
  return renderSummary(r, deps, { status: 409, notice, promo: { typed } });
}

/** Another number of seats: the page announces their amount. */
async function chooseSeats(r: CheckoutRequest, deps: CheckoutDeps): Promise<unknown> {
  const { user, plan, flow } = r.checkout;
  const typed = r.field('seats');
  const seats = parseSeats(plan, typed);
  if (plan.seats === null || readPlanId(r) !== plan.id) return renderChanged(r, deps);
  if (seats === undefined) {
    const error = r.t('checkout.seats.outside', plan.seats);
    return renderSummary(r, deps, { status: 422, seats: { typed, error } });
  }
  const rerender = (view: PageRetry) => renderSummary(r, deps, { ...view, seats: { typed } });
  const choose = () => deps.membership.choose(user, withSeats(plan, seats));
  const chosen = await runWithStripe(r, { act: 'update', rerender }, choose);
  return chosen && r.redirect(flow.summary);
}

/** For the page after a code was applied. */
const appliedNotice = 'promo-applied';

async function applyPromotion(r: CheckoutRequest, deps: CheckoutDeps): Promise<unknown> {
  const { flow, user, plan } = r.checkout;
  const typed = r.field('promo');
  const rerender = (view: PageRetry) => renderSummary(r, deps, { ...view, promo: { typed } });
  if (readDisplayedQuote(r).planId !== plan.id) return renderChanged(r, deps, typed);
  const apply = (): Promise<PromotionResult> => deps.membership.applyPromotion(user, typed, { ip: r.ip });
  const answered = await runWithStripe(r, { act: 'update', rerender }, apply);
  if (!answered) return;
  const result = answered.value;
  if (result.kind === 'applied') {
    r.announce(appliedNotice);
    return r.redirect(flow.summary);
  }
  const { refusal } = result;
  if (refusal.kind === 'too-many') r.setRetryAfter(refusal.retryAfterMs);
  const { status, error, notice } = promotionErrorText(r, refusal, deps.membership.catalogue.currency);
  return renderSummary(r, deps, { status, ...(notice && { notice }), promo: { typed, error } });
}

async function confirm(r: CheckoutRequest, deps: CheckoutDeps): Promise<unknown> {
  const { membership } = deps;
  const { user, flow, plan, deal } = r.checkout;
  if (deal) {
    const taken = await membership.takeDeal(user);
    return r.redirect(taken ? flow.doneUrl(taken, user) : flow.skipUrl(user));
  }
  const rerender = (view: PageRetry) => renderSummary(r, deps, view);
  const announced = readDisplayedQuote(r);
  if (plan.kind === 'free' && announced.planId !== plan.id) return renderChanged(r, deps);
  const answered = await (plan.kind === 'free'
    ? runWithStripe(r, { act: 'confirm', rerender }, () => membership.takeFree(user, plan, readAnnouncedEndsAt(r)))
    : runPayment(r, rerender, () => membership.confirm(user, announced, { ip: r.ip })));
  return answered && answerPurchase(r, deps, { confirmed: answered.value, rerender });
}

/** POST: Next, Confirm or Complete; a promotion code, or its removal; the result of a payment. */
export async function submitSummary(r: CheckoutRequest, deps: CheckoutDeps) {
  const { flow, user, deal } = r.checkout;
  const act = r.field('act');
  if (!['', 'free', 'promo', 'promo-remove', 'seats'].includes(act)) {
    throw new HttpError('badRequest', { detail: 'unknown form action' });
  }
  if (act === 'seats') return chooseSeats(r, deps);
  if (isOwnPlan(r.checkout)) return r.redirect(nextUrl(r));
  if (!(await ensureCustomer(r, deps))) return;
  if (!deal && !(await ensurePurchase(r, deps))) return;
  if (act === 'promo' && !deal) return applyPromotion(r, deps);
  if (act === 'promo-remove') {
    await deps.membership.removePromotion(user);
    return r.redirect(flow.summary);
  }
  return confirm(r, deps);
}
