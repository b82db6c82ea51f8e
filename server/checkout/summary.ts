import type { Request, Response } from 'express';
import { field, HttpError, setRetryAfter } from '../http/index.ts';
import { hasBegun, type PromotionResult } from '../membership/index.ts';
import type { CheckoutDeps } from './deps.ts';
import type { Here, PlaceHandler } from './here.ts';
import { announcedOf } from './quote.ts';
import { type Again, respond, unlessAway, unpaidFirst } from './respond.ts';
import { sendSummary } from './summary-page.ts';
import { promotionRefused } from './texts.ts';

/** The member has a customer and a subscription at Stripe, on which plans are bought. */
async function begun(deps: CheckoutDeps, req: Request, res: Response, here: Here): Promise<boolean> {
  // A partner's deal asks Stripe for nothing.
  if (here.deal) return true;
  // A page reads: it makes the very first customer and trial, and nothing after that.
  const known = req.method === 'POST' ? undefined : await deps.membership.standing(here.user.id);
  if (known && hasBegun(known)) return true;
  const again = (shown: Again) => sendSummary(deps, req, res, here, shown);
  const ensure = () => deps.membership.ensure(here.user, here.place.trialDays);
  return (await unlessAway(deps, req, res, { act: 'customer', again }, ensure)) !== undefined;
}

/** The same before a page that charges or saves a card: who has nothing to pay is at the wrong one. */
export function readyToPay(deps: CheckoutDeps, handler: PlaceHandler): PlaceHandler {
  return async (req, res, here) => {
    const { place, user, plan, deal } = here;
    if (user.planId === plan.id) return res.redirect(303, afterwards(req, here));
    if (deal || plan.kind !== 'paid') return res.redirect(303, place.summary);
    const before = await unpaidFirst(deps, here);
    if (before !== undefined) return res.redirect(303, before);
    if (!(await begun(deps, req, res, here))) return;
    const ready = req.method === 'POST' ? await withPurchase(deps, req, res, here) : here;
    return ready && handler(req, res, ready);
  };
}

/** Where members go who have this plan by now: often theirs is the second of two presses. */
const afterwards = (req: Request, { place, user, plan }: Here): string =>
  req.method === 'POST' ? place.done(plan, user) : place.summary;

/** Before anything is done with a purchase there is one, of the plan that this page is about. */
async function withPurchase(deps: CheckoutDeps, req: Request, res: Response, here: Here): Promise<Here | undefined> {
  const { place, user, plan, purchase } = here;
  if (purchase !== undefined && (!place.fixed || purchase.plan.id === plan.id)) return here;
  const again = (shown: Again) => sendSummary(deps, req, res, here, shown);
  const answered = await unlessAway(deps, req, res, { act: 'confirm', again }, () =>
    deps.membership.choose(user, plan),
  );
  return answered && { ...here, purchase: answered.value, promotion: answered.value.promotion };
}

export function showSummary(deps: CheckoutDeps): PlaceHandler {
  return async (req, res, here) => {
    const before = await unpaidFirst(deps, here);
    if (before !== undefined) return res.redirect(303, before);
    if (await begun(deps, req, res, here)) await sendSummary(deps, req, res, here, {});
  };
}

/** A plan was chosen in another tab: what was pressed was meant for what this page showed. */
function sendChanged(deps: CheckoutDeps, req: Request, res: Response, here: Here, typed = ''): Promise<void> {
  const text = req.t('checkout.changed');
  const notice = { kind: 'info', text, duration: 'never' } as const;
  return sendSummary(deps, req, res, here, { status: 409, notice, promo: { typed } });
}

async function applyPromotion(deps: CheckoutDeps, req: Request, res: Response, here: Here): Promise<unknown> {
  const ctx = deps.pages.context(req, res);
  const typed = field(req, 'promo');
  const again = (shown: Again) => sendSummary(deps, req, res, here, { ...shown, promo: { typed } });
  if (announcedOf(req).planId !== here.plan.id) return sendChanged(deps, req, res, here, typed);
  const apply = (): Promise<PromotionResult> => deps.membership.applyPromotion(here.user, typed, { ip: req.ip ?? '' });
  const answered = await unlessAway(deps, req, res, { act: 'update', again }, apply);
  if (!answered) return;
  const result = answered.value;
  if (result.kind === 'applied') return res.redirect(303, here.place.summary);
  const { refusal } = result;
  if (refusal.kind === 'too-many') setRetryAfter(res, refusal.retryAfterMs);
  const { status, error, notice } = promotionRefused(ctx, refusal, deps.membership.catalogue.currency);
  return sendSummary(deps, req, res, here, { status, ...(notice && { notice }), promo: { typed, error } });
}

async function confirm(deps: CheckoutDeps, req: Request, res: Response, here: Here): Promise<unknown> {
  const { membership } = deps;
  const { user, place, plan, deal } = here;
  if (deal) {
    const taken = await membership.takeDeal(user);
    return res.redirect(303, taken ? place.done(taken, user) : place.passed(user));
  }
  const again = (shown: Again) => sendSummary(deps, req, res, here, shown);
  const announced = announcedOf(req);
  if (plan.kind === 'free' && announced.planId !== plan.id) return sendChanged(deps, req, res, here);
  const work = () =>
    plan.kind === 'free' ? membership.takeFree(user, plan) : membership.confirm(user, announced, { ip: req.ip ?? '' });
  const answered = await unlessAway(deps, req, res, { act: 'confirm', again }, work);
  return answered && respond(deps, req, res, here, answered.value, again);
}

/** POST: Next, Confirm or Complete; a promotion code, or none after all; what has become of a payment. */
export function submitSummary(deps: CheckoutDeps): PlaceHandler {
  return async (req, res, found) => {
    const act = field(req, 'act');
    if (!['', 'free', 'promo', 'promo-remove'].includes(act)) {
      throw new HttpError('badRequest', { detail: 'act is none of this page' });
    }
    if (found.user.planId === found.plan.id) return res.redirect(303, afterwards(req, found));
    if (!(await begun(deps, req, res, found))) return;
    const here = found.deal ? found : await withPurchase(deps, req, res, found);
    if (!here) return;
    if (act === 'promo' && !here.deal) return applyPromotion(deps, req, res, here);
    if (act === 'promo-remove') {
      await deps.membership.removePromotion(here.user);
      return res.redirect(303, here.place.summary);
    }
    return confirm(deps, req, res, here);
  };
}
