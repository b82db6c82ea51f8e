import type { Request, Response } from 'express';
import { HttpError, readFormField, setRetryAfter } from '../../http/index.ts';
import type { PromotionResult } from '../results.ts';
import { hasBegun } from '../subscription/changeable-subscription.ts';
import { answerPurchase, type PageRetry, runWithStripe, unpaidInvoiceUrl } from './answer-purchase.ts';
import type { CheckoutContext, CheckoutHandler } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { promotionErrorText } from './checkout-texts.ts';
import { readDisplayedQuote } from './quote-view.ts';
import { renderSummary } from './summary-page-state.ts';

/** Ensures that the user has a customer and a subscription at Stripe, which purchases need. */
async function hasCustomer(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  context: CheckoutContext,
): Promise<boolean> {
  // A partner's deal does not need Stripe.
  if (context.deal) return true;
  // A GET only reads: it creates the very first customer and trial, and nothing after that.
  const known = req.method === 'POST' ? undefined : await deps.membership.getMembership(context.user.id);
  if (known && hasBegun(known)) return true;
  const rerender = (view: PageRetry) => renderSummary(deps, req, res, context, view);
  const ensure = () => deps.membership.ensure(context.user, context.flow.trialDays);
  return (await runWithStripe(deps, req, res, { act: 'customer', rerender }, ensure)) !== undefined;
}

/** The same before a page that charges or saves a card: a user with nothing to pay is redirected. */
export function requirePayablePlan(deps: CheckoutDeps, handler: CheckoutHandler): CheckoutHandler {
  return async (req, res, context) => {
    const { flow, user, plan, deal } = context;
    if (user.planId === plan.id) return res.redirect(303, nextUrl(req, context));
    if (deal || plan.kind !== 'paid') return res.redirect(303, flow.summary);
    const before = await unpaidInvoiceUrl(deps, context);
    if (before !== undefined) return res.redirect(303, before);
    if (!(await hasCustomer(deps, req, res, context))) return;
    const ready = req.method === 'POST' ? await ensurePurchase(deps, req, res, context) : context;
    return ready && handler(req, res, ready);
  };
}

/** The next page of a user who has this plan by now, often after a second click. */
const nextUrl = (req: Request, { flow, user, plan }: CheckoutContext): string =>
  req.method === 'POST' ? flow.doneUrl(plan, user) : flow.summary;

/** Ensures a purchase of this page's plan before any action on it. */
async function ensurePurchase(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  context: CheckoutContext,
): Promise<CheckoutContext | undefined> {
  const { flow, user, plan, purchase } = context;
  if (purchase !== undefined && (!flow.fixed || purchase.plan.id === plan.id)) return context;
  const rerender = (view: PageRetry) => renderSummary(deps, req, res, context, view);
  const answered = await runWithStripe(deps, req, res, { act: 'confirm', rerender }, () =>
    deps.membership.choose(user, plan),
  );
  return answered && { ...context, purchase: answered.value, promotion: answered.value.promotion };
}

export function showSummary(deps: CheckoutDeps): CheckoutHandler {
  return async (req, res, context) => {
    const before = await unpaidInvoiceUrl(deps, context);
    if (before !== undefined) return res.redirect(303, before);
    if (await hasCustomer(deps, req, res, context)) await renderSummary(deps, req, res, context, {});
  };
}

/** Another tab chose another plan: the button referred to what this page showed. */
function renderChanged(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  context: CheckoutContext,
  typed = '',
): Promise<void> {
  const text = req.t('checkout.changed');
  const notice = { kind: 'info', text, duration: 'never' } as const;
  return renderSummary(deps, req, res, context, { status: 409, notice, promo: { typed } });
}

async function applyPromotion(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  context: CheckoutContext,
): Promise<unknown> {
  const ctx = deps.pages.context(req, res);
  const typed = readFormField(req, 'promo');
  const rerender = (view: PageRetry) => renderSummary(deps, req, res, context, { ...view, promo: { typed } });
  if (readDisplayedQuote(req).planId !== context.plan.id) return renderChanged(deps, req, res, context, typed);
  const apply = (): Promise<PromotionResult> =>
    deps.membership.applyPromotion(context.user, typed, { ip: req.ip ?? '' });
  const answered = await runWithStripe(deps, req, res, { act: 'update', rerender }, apply);
  if (!answered) return;
  const result = answered.value;
  if (result.kind === 'applied') return res.redirect(303, context.flow.summary);
  const { refusal } = result;
  if (refusal.kind === 'too-many') setRetryAfter(res, refusal.retryAfterMs);
  const { status, error, notice } = promotionErrorText(ctx, refusal, deps.membership.catalogue.currency);
  return renderSummary(deps, req, res, context, { status, ...(notice && { notice }), promo: { typed, error } });
}

async function confirm(deps: CheckoutDeps, req: Request, res: Response, context: CheckoutContext): Promise<unknown> {
  const { membership } = deps;
  const { user, flow, plan, deal } = context;
  if (deal) {
    const taken = await membership.takeDeal(user);
    return res.redirect(303, taken ? flow.doneUrl(taken, user) : flow.skipUrl(user));
  }
  const rerender = (view: PageRetry) => renderSummary(deps, req, res, context, view);
  const announced = readDisplayedQuote(req);
  if (plan.kind === 'free' && announced.planId !== plan.id) return renderChanged(deps, req, res, context);
  const work = () =>
    plan.kind === 'free' ? membership.takeFree(user, plan) : membership.confirm(user, announced, { ip: req.ip ?? '' });
  const answered = await runWithStripe(deps, req, res, { act: 'confirm', rerender }, work);
  return answered && answerPurchase(deps, req, res, context, answered.value, rerender);
}

/** POST: Next, Confirm or Complete; a promotion code, or its removal; the result of a payment. */
export function submitSummary(deps: CheckoutDeps): CheckoutHandler {
  return async (req, res, found) => {
    const act = readFormField(req, 'act');
    if (!['', 'free', 'promo', 'promo-remove'].includes(act)) {
      throw new HttpError('badRequest', { detail: 'unknown form action' });
    }
    if (found.user.planId === found.plan.id) return res.redirect(303, nextUrl(req, found));
    if (!(await hasCustomer(deps, req, res, found))) return;
    const context = found.deal ? found : await ensurePurchase(deps, req, res, found);
    if (!context) return;
    if (act === 'promo' && !context.deal) return applyPromotion(deps, req, res, context);
    if (act === 'promo-remove') {
      await deps.membership.removePromotion(context.user);
      return res.redirect(303, context.flow.summary);
    }
    return confirm(deps, req, res, context);
  };
}
