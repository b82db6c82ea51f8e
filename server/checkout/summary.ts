import type { Request, Response } from 'express';
import { createElement } from 'react';
import { cardName } from '../../views/checkout/card-name.ts';
import { PlanSummaryPage, type PlanSummaryPageProps } from '../../views/checkout/plan-summary-page.tsx';
import { formatDate } from '../../views/format.ts';
import type { PageContext } from '../../views/page-context.ts';
import { field, HttpError, setRetryAfter, withErrand } from '../http/index.ts';
import {
  type ChosenPromotion,
  type Membership,
  type Plan,
  type PromotionResult,
  type Quote,
  trialUntil,
} from '../membership/index.ts';
import type { CheckoutDeps } from './deps.ts';
import type { Here, PlaceHandler } from './here.ts';
import { planLine, shownPlan } from './plan-texts.ts';
import { announcedOf, announcing, quoteOf, shownQuote } from './quote.ts';
import { type Again, respond, unlessAway } from './respond.ts';
import { promotionRefused } from './texts.ts';

interface Shown extends Partial<Again> {
  /** What was typed as a promotion code, and what is wrong with it. */
  promo?: { typed: string; error?: string | undefined };
}

/** The card that is charged, unless another is used. */
function savedCard(here: Here, standing: Membership | undefined): PlanSummaryPageProps['card'] {
  return standing?.card ? { text: cardName(standing.card), otherHref: here.place.addPayment } : undefined;
}

/** What the form's button does: what is free is confirmed; what is paid asks for a card first, where there is none. */
function buttonOf({ t }: PageContext, { place }: Here, quote: Quote | undefined, card: boolean): string {
  if (quote?.when === 'now' && !card) return t('checkout.next');
  return t(place.kind === 'purchase' ? 'checkout.complete' : 'checkout.confirm');
}

/** What is said of a plan for which nothing is asked of Stripe. */
function freeNote({ lang, t }: PageContext, { deal, user }: Here, standing: Membership | undefined): string {
  if (deal) return t('checkout.dealNote');
  const until = standing?.paidUntil;
  if (user.planId === null || !standing?.paidPlanId || until == null) return t('checkout.freeNote');
  return t('checkout.freeLater', { date: formatDate(lang, until) });
}

/** What somebody is trying meanwhile. */
function leadOf(
  { lang, t }: PageContext,
  { membership, now }: CheckoutDeps,
  { deal }: Here,
  standing: Membership | undefined,
): string {
  if (deal) return t('checkout.dealLead');
  const until = standing ? trialUntil(standing) : null;
  if (until === null || until <= now()) return t('checkout.lead');
  return t('checkout.trialLead', { name: membership.catalogue.trial.name, date: formatDate(lang, until) });
}

/** Answers the summary of a plan: what it is, what is due today and later, the box for a promotion code, the way on. */
export async function sendSummary(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  here: Here,
  { status = 200, notice, quote: known, promo }: Shown,
): Promise<void> {
  const { membership, pages } = deps;
  const { place, user, deal } = here;
  const { currency } = membership.catalogue;
  // What is due now may be due for what was chosen in another tab.
  const plan = known?.plan ?? here.plan;
  const standing = await membership.standing(user.id);
  const owned = user.planId === plan.id;
  // A partner's plan is for life: nobody gives it away for a free one.
  const covered = plan.kind === 'free' && membership.catalogue.byId(standing?.basePlanId)?.kind === 'partner';
  const waits = plan.kind === 'paid' && !owned;
  let quote = known;
  if (waits && !quote && status !== 503) {
    const again = (shown: Again) => sendSummary(deps, req, res, here, { ...shown, ...(promo && { promo }) });
    const asked = await unlessAway(deps, req, res, { act: 'quote', again }, () => quoteOf(deps, here));
    if (!asked) return;
    quote = asked.value;
  }
  const { authorization } = place.errand;
  const waiting = authorization === undefined ? undefined : await deps.pendingRequest(req, authorization);
  const chosen = quote ? quote.promotion : here.promotion;
  const unfinished = waits && here.purchase?.state === 'charging';
  const props = (ctx: PageContext): PlanSummaryPageProps => {
    const card = waits ? savedCard(here, standing) : undefined;
    return {
      ctx: withErrand(ctx, place.errand.search),
      steps: place.kind,
      action: place.summary,
      plan: shownPlan(ctx, plan, currency),
      lead: leadOf(ctx, deps, here, standing),
      cancelHref: place.cancel(user),
      ...(!deal && { changeHref: place.changePlan }),
      ...(waiting && { clientName: waiting.clientName }),
      ...(notice
        ? { notice }
        : unfinished && { notice: { kind: 'info', text: ctx.t('checkout.unfinished'), duration: 'never' } }),
      ...(quote && { quote: shownQuote(ctx, quote, currency) }),
      ...(!waits && !owned && !covered && { quote: { lines: [], note: freeNote(ctx, here, standing) } }),
      // While a payment is under way its code stays as it is.
      ...(waits && !unfinished && { promo: promoBox(plan, chosen, promo) }),
      ...(card && { card }),
      ...(owned || covered
        ? { has: ctx.t(owned ? 'checkout.owned' : 'checkout.covered') }
        : waits && !quote
          ? { retryHref: place.summary }
          : { button: buttonOf(ctx, here, quote, card !== undefined), hidden: hiddenOf(plan, quote, deal) }),
    };
  };
  pages.send(req, res, status, (ctx) => createElement(PlanSummaryPage, props(ctx)), {
    title: (ctx) => planLine(ctx.t, plan),
    address: place.summary,
  });
}

function promoBox(
  { id }: Plan,
  chosen: ChosenPromotion | null,
  promo: Shown['promo'],
): NonNullable<PlanSummaryPageProps['promo']> {
  if (chosen) return { planId: id, applied: chosen.code };
  return { planId: id, typed: promo?.typed ?? '', error: promo?.error };
}

/** What the form carries: what its page announced, and nothing that is believed. */
function hiddenOf(plan: Plan, quote: Quote | undefined, deal: boolean): Record<string, string> {
  if (quote) return announcing(quote);
  return { planId: plan.id, ...(!deal && { act: 'free' }) };
}

/** The member has a customer and a subscription at Stripe, on which plans are bought. */
async function begun(deps: CheckoutDeps, req: Request, res: Response, here: Here): Promise<boolean> {
  // A partner's deal asks Stripe for nothing.
  if (here.deal) return true;
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
    if (await begun(deps, req, res, here)) await sendSummary(deps, req, res, here, {});
  };
}

/** A plan was chosen in another tab: what was pressed was meant for what this page showed. */
function sendChanged(deps: CheckoutDeps, req: Request, res: Response, here: Here, typed = ''): Promise<void> {
  const text = deps.pages.context(req, res).t('checkout.changed');
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
